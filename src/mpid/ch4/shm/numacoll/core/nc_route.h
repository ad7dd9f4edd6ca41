/* Routes: the way of data and of signals inside a node, up or down the groups of nc_group.h.
 *
 * Each group of each level has a tree of its members. The root of the tree is the group's leader,
 * which stands for the group on the level above. So the trees of all groups join all ranks:
 *
 *     down   a rank serves its children on the highest level first, which are further away and have
 *            others behind them; in one tree in the order of nc_tree.h
 *     up     a rank awaits its children in the opposite order
 *
 * A rank makes its route once, and has its part in calls with any root from it.
 *
 * Sources: nc_tree.h, nc_group.h. In the papers the members of a group are all served by its
 * leader; a tree inside the group is an addition. */

#ifndef NC_ROUTE_H_INCLUDED
#define NC_ROUTE_H_INCLUDED

#include "nc_group.h"
#include "nc_tree.h"

#define NC_ROUTE_LEVELS (NC_LEVEL_NODE + 1) /* at most so many levels are active in a node */

_Static_assert(NC_LEVELS_INSIDE == (1u << NC_ROUTE_LEVELS) - 1,
               "a route has room for all levels inside a node; the node is the top there");

/* The levels of a set that data goes by: a relay in each cache costs a copy, so caches are only
 * where the set is one that names them. */
static inline unsigned nc_route_by(unsigned levels)
{
    const unsigned caches = 1u << NC_LEVEL_L2 | 1u << NC_LEVEL_L3;

    return levels & NC_LEVELS_INSIDE & (levels == NC_LEVELS_ALL ? ~caches : ~0u);
}

/* The rank's group on a level. Its members and its tree are the same with every root. The index of
 * the rank is not, and the rank's neighbours in the tree follow from it. */
struct nc_route_level {
    int level;           /* of the groups */
    bool flat;           /* all read the leader's data; the tree only tells them of it */
    struct nc_tree tree; /* of indices */
    /* [size - 1] as tree.child, but ranks: the children of index i where the rank has index i */
    int *child;
    int below; /* how many of `led` are on the levels below */
};

struct nc_route {
    const struct nc_groups *groups;
    int rank;
    /* [all] the ranks that read data of this rank where it leads: all other members of flat groups,
     * the children in the trees of other groups; the lowest level first */
    int *led;
    int all;
    int levels; /* those where the rank's group has other members, the lowest first */
    struct nc_route_level level[NC_ROUTE_LEVELS];
};

/* Bytes nc_route_make needs for so many ranks and levels, whatever the groups, aligned for int. */
size_t nc_route_bytes(int ranks, int levels);

/* The route of a rank. inside[i] is the tree in groups of level i; where that is flat, `notice`, if
 * not NULL, is the tree that tells of the data. The lists `led` and `child` are in the same places
 * of the memory whatever the trees: a pointer to one still points to ranks of the group after
 * another route was made in that memory. */
void nc_route_make(struct nc_route *route, void *memory, const struct nc_groups *groups,
                   const struct nc_tree_spec *inside, const struct nc_tree_spec *notice, int rank);

/* A rank's part in a call with a root, on the first levels of its route. The rank leads its groups
 * on all of them but the last, and on the last if it is the root. */
struct nc_position {
    int parent;   /* rank; -1 for the root */
    int leader;   /* of the group on the last level */
    int children; /* of all levels */
    int levels;
    struct nc_position_level {
        const int *child; /* ranks */
        int children;
    } level[NC_ROUTE_LEVELS];
};

/* The part is the caller's memory: every call finds its part, and to return a copy would double the
 * cost. */
void nc_position_find(struct nc_position *part, const struct nc_route *route, int root);

/* The rank of child i, 0 <= i < children, in the order of the way down. */
static inline int nc_position_child(const struct nc_position *p, int i)
{
    const struct nc_position_level *l = &p->level[p->levels - 1];

    for (; i >= l->children; l--)
        i -= l->children;
    return l->child[i];
}

/* The same part of a call with root 0, with all children in one list: memory[ranks]. */
struct nc_neighbours nc_route_neighbours(const struct nc_route *route, int *memory);

#endif
