/* The way of data inside a node: a tree in each NUMA node, and one of their leaders. */

#ifndef NC_ROUTE_H_INCLUDED
#define NC_ROUTE_H_INCLUDED

#include "nc_group.h"
#include "nc_tree.h"

struct nc_route {
    const struct nc_groups *groups;     /* by NUMA node, and their leaders; one level where there is one node */
    const struct nc_tree *inner, *outer;        /* who is next to whom: in my NUMA node, and among the leaders */
};

/* A rank's place in a call with a root. Children among the leaders come first: they are further away, and have others
 * behind them. */
struct nc_part {
    struct nc_group outer, inner;       /* outer.index is -1 for who is no leader */
    const int *outer_child, *inner_child;       /* relative ranks */
    int outer_children, children;       /* the first, and all */
    int parent;                 /* rank; -1: I am the root */
};

struct nc_part nc_part_of(const struct nc_route *route, int rank, int root);

/* Rank of child i, 0 <= i < children. */
static inline int nc_part_child(const struct nc_part *p, int i)
{
    return i < p->outer_children ? nc_group_member(&p->outer, p->outer_child[i]) :
        nc_group_member(&p->inner, p->inner_child[i - p->outer_children]);
}

#endif
