/* A rank's place in a tree of all ranks: whom it hears from, and whom it tells.
 *
 * The root is rank 0, and a parent is always a lower rank than its children. So two trees over the
 * same ranks, one that is gone up and one that is gone down, never use the same pair of ranks in
 * the same direction; the barriers need that.
 * Sources: nc_tree; for the groups Kurnosov, Tokmasheva 2022, hierarchical barrier, where the
 * members of a group report to its leader; a tree inside the group is an addition. */

#ifndef NC_SHAPE_H_INCLUDED
#define NC_SHAPE_H_INCLUDED

#include <stddef.h>

#include "nc_group.h"
#include "nc_tree.h"

struct nc_shape {
    int parent; /* -1 for rank 0 */
    int children;
    int *child; /* [children] ranks */
};

/* In which order a rank deals with its children. */
enum nc_shape_order {
    NC_SHAPE_UP,   /* awaited: small subtrees and low levels first, they come first */
    NC_SHAPE_DOWN, /* told: large subtrees and high levels first, they take longest */
};

/* A tree to be made: of all ranks, or of the members of each group of a level. */
struct nc_shape_tree {
    enum nc_tree_kind kind;
    int k; /* >= 2; 0: none */
};

/* Bytes the functions below need for a number of ranks, aligned for int. */
size_t nc_shape_bytes(int ranks);

/* The place of a rank in one tree over all of p >= 1 ranks. */
void nc_shape_of_tree(struct nc_shape *shape, void *memory, const struct nc_shape_tree *tree, int p,
                      enum nc_shape_order order, int rank);

/* The place of a rank in the tree that joins the groups: level[i] is the tree inside each group of
 * level i, whose root, the leader, stands for the group on level i + 1. */
void nc_shape_of_groups(struct nc_shape *shape, void *memory, const struct nc_shape_tree *level,
                        const struct nc_groups *groups, enum nc_shape_order order, int rank);

#endif
