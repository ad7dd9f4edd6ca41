/* The way of data inside a node, up or down the groups: in each group a tree, whose root, the
 * leader, stands for the group on the level above. */

#ifndef NC_ROUTE_H_INCLUDED
#define NC_ROUTE_H_INCLUDED

#include "nc_shape.h"

#define NC_ROUTE_LEVELS (NC_LEVEL_NODE + 1) /* at most so many levels are active in a node */

/* The levels of a set that data goes by: a relay in each cache costs a copy, so caches are only
 * where the set is one that names them. */
static inline unsigned nc_route_by(unsigned levels)
{
    const unsigned caches = 1u << NC_LEVEL_L2 | 1u << NC_LEVEL_L3;

    return levels & NC_LEVELS_INSIDE & (levels == NC_LEVELS_ALL ? ~caches : ~0u);
}

/* My group of a level: the same ranks and trees whoever is the root. Only my index changes, and
 * with it which part of the lists is mine. */
struct nc_route_level {
    int level;           /* of the groups */
    bool flat;           /* data is the leader's and all's; the tree only tells of it */
    struct nc_tree tree; /* who is next to whom */
    int *child;          /* [size - 1] as tree.child, but ranks: those of index i if I have it */
    int below;           /* how many of `led` are on the levels below */
};

struct nc_route {
    const struct nc_groups *groups;
    int rank;   /* whose way it is */
    int *led;   /* [all] whom I give data where I lead: all others of flat groups, */
    int all;    /* ... my children in others; the lowest level first */
    int levels; /* those where I have somebody in my group, the lowest first */
    struct nc_route_level level[NC_ROUTE_LEVELS];
};

/* Bytes nc_route_make needs for so many ranks and levels, whatever the groups, aligned for int. */
size_t nc_route_bytes(int ranks, int levels);

/* The way of a rank; inside[i] is the tree in groups of level i; notice, if not NULL, the one that
 * tells where that is flat. Lists of ranks are in the same places of the memory whatever the trees,
 * so who has kept one still has ranks after another way was made there. */
void nc_route_make(struct nc_route *route, void *memory, const struct nc_groups *groups,
                   const struct nc_shape_tree *inside, const struct nc_shape_tree *notice,
                   int rank);

/* My place in a call with a root, on the first levels of the route. I lead my groups on all of them
 * but the last, and there if I am the root. */
struct nc_position {
    int parent;   /* rank; -1: I am the root */
    int leader;   /* of my group on the last level */
    int children; /* of all levels */
    int levels;
    struct nc_position_level {
        const int *child; /* ranks */
        int children;
    } level[NC_ROUTE_LEVELS];
};

/* Into memory of the caller's: a copy would cost every call as much as the rest. */
void nc_position_find(struct nc_position *part, const struct nc_route *route, int root);

/* Rank of child i, 0 <= i < children: those of the highest level first, which are further away, and
 * have others behind them. */
static inline int nc_position_child(const struct nc_position *p, int i)
{
    const struct nc_position_level *l = &p->level[p->levels - 1];

    for (; i >= l->children; l--)
        i -= l->children;
    return l->child[i];
}

#endif
