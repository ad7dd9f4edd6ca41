/* Trees of ranks: by them ranks notify each other that data is there, and barriers go up and down.
 * Routes (nc_route.h), schedules (nc_schedule.h) and barriers (shm/nc_barrier.c) contain trees.
 *
 * A tree has relative ranks, relative = (rank - root) mod p. So one table of O(p) serves every
 * root, and the parent and the children of a rank are found in O(1).
 *
 * There are two k-ary trees. In both, level l has k^l ranks, the levels follow each other in the
 * order of ranks, and only the last level may be incomplete; so a rank is equally deep in both. In
 * the complete tree (kary) the ranks of a level take their children one after the other, k each. In
 * the balanced tree they take them in turn, one each, k times round; so the subtrees of two
 * children of a rank differ by one rank at most. With k = 2 and 9 ranks, complete and balanced:
 *
 *             0                             0
 *         1       2                     1       2
 *       3   4   5   6                 3   5   4   6
 *      7 8                            7       8
 *
 * Sources: Kurnosov, Tokmasheva 2020, section on the notification tree (flat, k-ary, k-nomial,
 * chain); Kurnosov 2019, figure 5, for the two k-ary trees: the balanced one is that of Open MPI.
 */

#ifndef NC_TREE_H_INCLUDED
#define NC_TREE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum nc_tree_kind { NC_TREE_FLAT, NC_TREE_KARY, NC_TREE_BALANCED, NC_TREE_KNOMIAL, NC_TREE_CHAIN };

/* The shape of a tree: of a tree of all ranks, or of the trees in the groups of a level. */
struct nc_tree_spec {
    enum nc_tree_kind kind;
    int k; /* degree of kary, balanced and knomial, >= 2; 0: not given */
};

struct nc_tree {
    int size;    /* ranks */
    int *parent; /* [size] relative rank of the parent; -1 for the root */
    int *first;  /* [size + 1] the children of i are child[first[i]] .. child[first[i + 1] - 1] */
    int *
        child; /* [size - 1] relative ranks; larger subtrees first, of equal ones the higher rank */
};

/* Bytes nc_tree_make needs for p ranks. */
size_t nc_tree_bytes(int p);

/* Makes a tree of p >= 1 ranks in `memory`, which has nc_tree_bytes(p) bytes, is aligned for int,
 * and must outlive the tree. k >= 2 is the degree of kary, balanced and knomial. */
void nc_tree_make(struct nc_tree *tree, void *memory, enum nc_tree_kind kind, int k, int p);

/* A rank's neighbours in a tree of all ranks whose root is rank 0. A parent is always a lower rank
 * than its children. So in two trees of the same ranks, one for the way up and one for the way
 * down, no pair of ranks signals in the same direction twice; barriers rely on that. */
struct nc_neighbours {
    int parent; /* -1 for rank 0 */
    int children;
    /* [children] ranks, in the order of the way down: large subtrees first, because they take
     * longest. The way up has the opposite order. */
    const int *child;
};

/* The neighbours of a rank; the list of children is in the tree's memory. */
static inline struct nc_neighbours nc_tree_neighbours(const struct nc_tree *tree, int rank)
{
    return (struct nc_neighbours){.parent = tree->parent[rank],
                                  .children = tree->first[rank + 1] - tree->first[rank],
                                  .child = tree->child + tree->first[rank]};
}

/* The next two functions compute neighbours without a table, for one rank of a tree that is needed
 * only once. The parent of relative rank i, -1 for the root: */
int nc_tree_parent(enum nc_tree_kind kind, int k, int i);
/* The next higher child of i after `child`, the first one if `child` is i; -1 if there is no other.
 * O(log p). */
int nc_tree_next(enum nc_tree_kind kind, int k, int p, int i, int child);

/* Whether, of two children with subtrees of different sizes, the higher rank has the larger one: so
 * it is in a k-nomial tree, except that the subtree of the last child may be incomplete; in both
 * k-ary trees the lower rank has the larger subtree. */
static inline bool nc_tree_larger_last(enum nc_tree_kind kind)
{
    return kind == NC_TREE_KNOMIAL;
}

#endif
