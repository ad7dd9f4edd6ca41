/* Makes routes, and finds a rank's position in a call. See nc_route.h. */

#include "nc_route.h"

/* In the groups of one rank, the members other than the leaders stand for different ranks. So the
 * sum of size - 1 over all levels is less than the number of ranks. */
size_t nc_route_bytes(int ranks, int levels)
{
    size_t of_first = nc_tree_bytes(1), of_other = nc_tree_bytes(2) - of_first + 2 * sizeof(int);

    return (size_t) levels * of_first + (size_t) (ranks - 1) * of_other;
}

/* Fills l->child. The rank has a fixed place in its group. In a call in which its index is i, the
 * leader is i places before it, cyclically, and the member with index c is c places after the
 * leader. At the leader's place the table may have another rank (nc_group_member), but the leader
 * is nobody's child. */
static void find_children(struct nc_route_level *l, const int *member, int place)
{
    int size = l->tree.size;

    for (int i = 0; i < size; i++) {
        for (int c = l->tree.first[i]; c < l->tree.first[i + 1]; c++)
            l->child[c] = member[(place - i + l->tree.child[c] + size) % size];
    }
}

/* Appends to `led` the ranks that read this rank's data when it leads the group. */
static void add_led(struct nc_route *route, const struct nc_route_level *l, const int *member,
                    int place)
{
    int size = l->tree.size, n = l->flat ? size - 1 : l->tree.first[1];

    for (int i = 0; i < n; i++)
        route->led[route->all++] = l->flat ? member[(place + 1 + i) % size] : l->child[i];
}

/* Adds a level. Returns the memory after what the level takes. */
static int *add_level(struct nc_route *route, int *memory, int level, int size,
                      const struct nc_tree_spec *inside, const struct nc_tree_spec *notice)
{
    const struct nc_groups *g = route->groups;
    const int *member = g->member + g->first[g->of[level][route->rank]];
    struct nc_route_level *l = &route->level[route->levels++];
    int place = g->place[level][route->rank];

    l->level = level;
    l->flat = inside->kind == NC_TREE_FLAT;
    l->child = memory;
    l->below = route->all;
    if (!l->flat || !notice)
        notice = inside;
    nc_tree_make(&l->tree, memory + size - 1, notice->kind, notice->k, size);
    find_children(l, member, place);
    add_led(route, l, member, place);
    return memory + size - 1 + nc_tree_bytes(size) / sizeof(int);
}

void nc_route_make(struct nc_route *route, void *memory, const struct nc_groups *groups,
                   const struct nc_tree_spec *inside, const struct nc_tree_spec *notice, int rank)
{
    int *next = (int *) memory + groups->ranks - 1;

    *route = (struct nc_route){.groups = groups,
                               .rank = rank,
                               .led = memory,
                               .last = {{.root = -1}, {.root = -1}},
                               .at_once = notice && notice->kind == NC_TREE_FLAT};
    for (int level = 0; level < groups->levels; level++) {
        int size = nc_group_at(groups, level, rank, 0).size;
        route->at_once = route->at_once && inside[level].kind == NC_TREE_FLAT;
        if (size > 1)
            next = add_level(route, next, level, size, &inside[level], notice);
    }
}

void nc_position_find(struct nc_position *part, const struct nc_route *route, int root)
{
    int i;

    part->parent = part->leader = -1;
    part->children = 0;
    for (i = 0; i < route->levels && part->parent < 0; i++) {
        const struct nc_route_level *l = &route->level[i];
        struct nc_group group = nc_group_at(route->groups, l->level, route->rank, root);
        const int *first = l->tree.first + group.index;

        part->level[i].child = l->child + first[0];
        part->level[i].children = first[1] - first[0];
        part->children += part->level[i].children;
        part->leader = group.leader;
        if (group.index > 0)
            part->parent = nc_group_member(&group, l->tree.parent[group.index]);
    }
    part->levels = i;
}

struct nc_neighbours nc_route_neighbours(const struct nc_route *route, int *memory)
{
    struct nc_position part;

    nc_position_find(&part, route, 0);
    for (int i = 0; i < part.children; i++)
        memory[i] = nc_position_child(&part, i);
    return (struct nc_neighbours){
        .parent = part.parent, .children = part.children, .child = memory};
}
