#include "nc_route.h"

static void add_children(const struct nc_tree *tree, const struct nc_group *group, const int **child, int *count)
{
    *child = tree->child + tree->first[group->index];
    *count = tree->first[group->index + 1] - tree->first[group->index];
}

/* Relative ranks of a tree are the members' indexes: the leader's is 0. */
static int parent_in(const struct nc_tree *tree, const struct nc_group *group)
{
    return nc_group_member(group, tree->parent[group->index]);
}

struct nc_part nc_part_of(const struct nc_route *route, int rank, int root)
{
    struct nc_part p = {.inner = nc_group_at(route->groups, 0, rank, root),.parent = -1 };
    int inner_children;

    add_children(route->inner, &p.inner, &p.inner_child, &inner_children);
    p.outer.index = -1;
    if (route->groups->levels > 1)
        p.outer = nc_group_at(route->groups, 1, rank, root);
    if (p.outer.index >= 0)
        add_children(route->outer, &p.outer, &p.outer_child, &p.outer_children);
    p.children = p.outer_children + inner_children;
    if (p.inner.index > 0)
        p.parent = parent_in(route->inner, &p.inner);
    else if (p.outer.index > 0)
        p.parent = parent_in(route->outer, &p.outer);
    return p;
}
