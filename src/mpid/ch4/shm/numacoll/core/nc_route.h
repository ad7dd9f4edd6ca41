/* Routes: the way of data and of signals inside a node, up or down the groups of nc_group.h.
 *
 * Each group of each level has a tree of its members. The root of the tree is the group's leader,
 * which stands for the group on the level above. So the trees of all groups join all ranks:
 *
 *     down   a rank serves its children on the highest level first, because they are further away
 *            and have other ranks to serve; the children in one tree in the order of nc_tree.h
 *     up     a rank awaits its children in the opposite order
 *
 * A rank makes its routes when its communicator is set up (mpich/choose.c, shm/nc_barrier.c). In a
 * call, nc_route_position derives from the route the rank's parent and children for the root of the
 * call (shm/nc_bcast.c, shm/nc_reduce.c).
 *
 * Sources: nc_tree.h, nc_group.h. In the papers the leader serves all members of its group; a tree
 * inside the group is an addition. */

#ifndef NC_ROUTE_H_INCLUDED
#define NC_ROUTE_H_INCLUDED

#include "nc_group.h"
#include "nc_tree.h"

#define NC_ROUTE_LEVELS (NC_LEVEL_NODE + 1) /* active levels inside a node, at most */

/* The groups of a node's ranks by some levels of the machine. name[i] is the level of the machine
 * that level i of the groups stands for. */
struct nc_levels {
    struct nc_groups groups;
    enum nc_level name[NC_ROUTE_LEVELS];
};

_Static_assert(NC_LEVELS_INSIDE == (1u << NC_ROUTE_LEVELS) - 1,
               "a route has room for all levels inside a node; the node is the top there");

/* The levels, of the set that LEVELS allows, by which data is moved inside a node. Each level costs
 * a copy by a relay. So the cache levels are left out if LEVELS allows all levels, its default;
 * they are used if LEVELS names them. */
static inline unsigned nc_route_by(unsigned levels)
{
    const unsigned caches = 1u << NC_LEVEL_L2 | 1u << NC_LEVEL_L3;

    return levels & NC_LEVELS_INSIDE & (levels == NC_LEVELS_ALL ? ~caches : ~0u);
}

/* The same for barriers. The package costs its leaders one more crossing up and one more down, one
 * after the other, while lines that cross from several NUMA nodes come side by side; so it is left
 * out unless LEVELS names it. Source: Kurnosov, Tokmasheva 2022, of whose variants topo-NUMA is the
 * fastest. */
static inline unsigned nc_route_signals_by(unsigned levels)
{
    const unsigned package = 1u << NC_LEVEL_PACKAGE;

    return levels & NC_LEVELS_INSIDE & (levels == NC_LEVELS_ALL ? ~package : ~0u);
}

/* The rank's group on a level. Its members and its tree do not depend on the root of a call. The
 * index of the rank does, and with it the rank's neighbours in the tree. */
struct nc_route_level {
    int level;           /* number in nc_groups */
    bool flat;           /* all members read the leader's data; the tree only notifies them */
    struct nc_tree tree; /* its relative ranks are indices of members */
    /* [size - 1] like tree.child, but ranks. The children listed for index i are those of this rank
     * in the calls in which it has index i */
    int *child;
    int below; /* how many of the route's `led` are on the levels below this one */
};

/* The place of a rank on its route in a call with a root: its parent and its children. It covers
 * the levels of the route from the lowest to the first on which the rank is not the leader of its
 * group, that one included; the position of the root covers all levels. */
struct nc_position {
    int parent;   /* rank; -1 for the root */
    int leader;   /* of the rank's group on the highest level covered */
    int children; /* on all levels covered */
    int levels;   /* how many levels it covers: route->level[0 .. levels - 1] */
    struct nc_position_level {
        const int *child; /* ranks */
        int children;
    } level[NC_ROUTE_LEVELS];
};

struct nc_route {
    const struct nc_groups *groups;
    int rank;
    /* [all] the ranks that read this rank's data when it leads its groups: all other members of
     * flat groups, the children in the trees of other groups; the lowest level first */
    int *led;
    int all; /* length of `led` */
    /* all groups on the node and their notification trees are flat, on all ranks: who has data
     * announces it once, for all who read it */
    bool at_once;
    int levels; /* levels on which the rank's group has other members */
    struct nc_route_level level[NC_ROUTE_LEVELS]; /* [levels] the lowest first */
    /* the last position for an even root, and the last one for an odd root */
    struct {
        int root; /* -1: there was none */
        struct nc_position position;
    } last[2];
};

/* Bytes nc_route_make needs for so many ranks and levels, whatever the groups are. */
size_t nc_route_bytes(int ranks, int levels);

/* Makes the route of a rank in `memory`, nc_route_bytes bytes aligned for int; groups and memory
 * must outlive the route. inside[i] is the tree in groups of level i. Where inside[i] is flat and
 * `notice` is not NULL, *notice is the tree that notifies the members. A route made again in this
 * memory, for the same groups but other trees, has its lists `led` and `child` in the same places.
 * So a pointer to an old list still points to ranks of the group. */
void nc_route_make(struct nc_route *route, void *memory, const struct nc_groups *groups,
                   const struct nc_tree_spec *inside, const struct nc_tree_spec *notice, int rank);

/* Finds the position of this rank in a call with a root. */
void nc_position_find(struct nc_position *part, const struct nc_route *route, int root);

/* The same; most programs have the same root again and again, or two in turn, so the last positions
 * are kept. */
static inline const struct nc_position *nc_route_position(struct nc_route *route, int root)
{
    struct nc_position *position = &route->last[root & 1].position;

    if (route->last[root & 1].root != root) {
        nc_position_find(position, route, root);
        route->last[root & 1].root = root;
    }
    return position;
}

/* The rank of child i, 0 <= i < children, in the order of the way down: the highest level first. */
static inline int nc_position_child(const struct nc_position *p, int i)
{
    const struct nc_position_level *l = &p->level[p->levels - 1];

    for (; i >= l->children; l--)
        i -= l->children;
    return l->child[i];
}

/* The parent and the children of this rank in a call with root 0, all children in one list. The
 * list is in memory[ranks], which must outlive the result. */
struct nc_neighbours nc_route_neighbours(const struct nc_route *route, int *memory);

#endif
