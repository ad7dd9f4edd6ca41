/* Notification trees: which rank tells which others that data is there.
 *
 * A tree is kept in relative ranks, relative = (rank - root) mod p, so one table of O(p) serves
 * every root and the parent and the children of a rank are found in O(1). Source: Kurnosov,
 * Tokmasheva 2020 (flat, k-ary, k-nomial, chain), section on the notification tree. */

#ifndef NC_TREE_H_INCLUDED
#define NC_TREE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum nc_tree_kind { NC_TREE_FLAT, NC_TREE_KARY, NC_TREE_KNOMIAL, NC_TREE_CHAIN };

/* A tree to be made: of all ranks, or of the members of each group of a level. */
struct nc_tree_spec {
    enum nc_tree_kind kind;
    int k; /* >= 2; 0: none */
};

struct nc_tree {
    int size;    /* ranks */
    int *parent; /* [size] relative rank of the parent; -1 for the root */
    int *first;  /* [size + 1] children of i are child[first[i]] .. child[first[i + 1] - 1] */
    int *
        child; /* [size - 1] relative ranks; larger subtrees first, of equal ones the higher rank */
};

/* Bytes nc_tree_make needs for p ranks. */
size_t nc_tree_bytes(int p);

/* Fills *tree for p >= 1 ranks in memory of nc_tree_bytes(p) bytes, aligned for int; k >= 2 is the
 * degree of kary and knomial. */
void nc_tree_make(struct nc_tree *tree, void *memory, enum nc_tree_kind kind, int k, int p);

/* A rank's neighbours in a tree of all ranks whose root is rank 0. A parent is always a lower rank
 * than its children. So a tree for the way up and a tree for the way down over
 * the same ranks never use a pair of ranks in the same direction; the barriers need that. */
struct nc_neighbours {
    int parent; /* -1 for rank 0 */
    int children;
    /* [children] ranks, in the order of the way down: large subtrees first, which take longest. The
     * way up goes from the last to the first. */
    const int *child;
};

/* The neighbours of a rank; they stay in the tree's memory. */
static inline struct nc_neighbours nc_tree_neighbours(const struct nc_tree *tree, int rank)
{
    return (struct nc_neighbours){.parent = tree->parent[rank],
                                  .children = tree->first[rank + 1] - tree->first[rank],
                                  .child = tree->child + tree->first[rank]};
}

/* The same shapes without a table, for one rank of a tree needed but once: the parent of i, -1 for
 * the root; */
int nc_tree_parent(enum nc_tree_kind kind, int k, int i);
/* the child of i after child, ascending, the first if child is i; -1: no more. O(log p). */
int nc_tree_next(enum nc_tree_kind kind, int k, int p, int i, int child);

/* Of two children, which has the larger subtree if they differ: in a k-nomial tree the higher rank,
 * unless it is the last child, whose subtree may be cut short; in a k-ary tree the lower one. */
static inline bool nc_tree_larger_last(enum nc_tree_kind kind)
{
    return kind == NC_TREE_KNOMIAL;
}

#endif
