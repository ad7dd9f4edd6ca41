/* Numbers the nodes of a communicator, lists their ranks and groups them by switches, once per
 * communicator. See nc_nodes.h. */

#include "nc_nodes.h"

#include <string.h>

#include "nc_arena.h"

/* Takes the arrays that stay; returns the memory of the groups. */
static void *take_arrays(struct nc_nodes *n, int ranks, int count, int switches,
                         struct nc_arena *arena)
{
    size_t nodes = (size_t) count;

    n->number = NC_ARENA_TAKE(arena, nodes, int);
    n->first = NC_ARENA_TAKE(arena, nodes + 1, int);
    n->member = NC_ARENA_TAKE(arena, (size_t) ranks, int);
    n->last = NC_ARENA_TAKE(arena, nodes, int);
    return nc_arena_take(arena, nc_groups_most_bytes(count, switches + 1), 1, _Alignof(int));
}

struct scratch {
    int *unit; /* [nodes][NC_LEVELS] */
    int *order;
    void *topo;
};

static void take_scratch(struct scratch *s, int count, struct nc_arena *arena)
{
    size_t nodes = (size_t) count;
    struct nc_locations locations = {.ranks = count, .columns = NC_LEVELS};

    s->unit = NC_ARENA_TAKE(arena, nodes * NC_LEVELS, int);
    s->order = NC_ARENA_TAKE(arena, nodes, int);
    s->topo = nc_arena_take(arena, nc_topo_bytes(&locations), 1, _Alignof(int));
}

size_t nc_nodes_bytes(int ranks, int count, int switches)
{
    struct nc_arena arena = {.base = NULL};

    take_arrays(&(struct nc_nodes){0}, ranks, count, switches, &arena);
    return arena.bytes;
}

size_t nc_nodes_scratch_bytes(int count)
{
    struct nc_arena arena = {.base = NULL};

    take_scratch(&(struct scratch){0}, count, &arena);
    return arena.bytes;
}

/* Groups the nodes by their switches, each node in place of a rank. place[i]: where the row of the
 * node is that is number i. */
static void group(struct nc_nodes *n, void *memory, const struct scratch *s, const int *place,
                  const int *row, unsigned levels)
{
    struct nc_locations locations = {.ranks = n->count, .columns = NC_LEVELS, .unit = s->unit};
    struct nc_topo topo;

    for (int node = 0; node < n->count; node++) {
        int *unit = s->unit + node * NC_LEVELS;
        for (int level = 0; level < NC_LEVEL_NODE; level++)
            unit[level] = -1;
        unit[NC_LEVEL_NODE] = node;
        memcpy(unit + NC_LEVEL_SWITCH1, row + place[node] * NC_SWITCHES,
               NC_SWITCHES * sizeof *unit);
    }
    nc_topo_make(&topo, s->topo, &locations, levels);
    nc_groups_make(&n->groups, memory, &topo);
    memcpy(n->name, topo.name, sizeof n->name);
}

/* Fills first and member, from the last node down. */
static void list_ranks(struct nc_nodes *n, nc_node_of node_of, const void *communicator,
                       int *filled)
{
    int last = n->count - 1;

    memset(n->first, 0, ((size_t) n->count + 1) * sizeof *n->first);
    for (int rank = 0; rank < n->ranks; rank++)
        n->first[last - n->number[node_of(communicator, rank)] + 1]++;
    for (int i = 0; i < n->count; i++) {
        n->first[i + 1] += n->first[i];
        filled[i] = n->first[i];
    }
    for (int rank = 0; rank < n->ranks; rank++)
        n->member[filled[last - n->number[node_of(communicator, rank)]]++] = rank;
}

/* Fills consecutive, place and last. */
static void order_by_rank(struct nc_nodes *n, nc_node_of node_of, const void *communicator)
{
    int next = 0, place = 0;

    for (; next < n->ranks; place++) {
        int node = n->number[node_of(communicator, next)], size = nc_nodes_size(n, node);
        const int *rank = nc_nodes_ranks(n, node);
        n->consecutive = rank[0] == next && rank[size - 1] == next + size - 1;
        if (!n->consecutive)
            return;
        if (node == n->mine)
            n->place = place;
        next += size;
        n->last[place] = next - 1;
    }
}

/* Fills largest. */
static void measure_groups(struct nc_nodes *n)
{
    for (int l = 0; l < n->groups.levels; l++) {
        n->largest[l] = 1;
        for (int g = n->groups.level[l]; g < n->groups.level[l + 1]; g++) {
            int size = n->groups.first[g + 1] - n->groups.first[g];
            n->largest[l] = size > n->largest[l] ? size : n->largest[l];
        }
    }
}

void nc_nodes_make(struct nc_nodes *n, void *memory, void *scratch, int ranks, int count,
                   nc_node_of node_of, const void *communicator, const int *row, unsigned levels,
                   int rank)
{
    void *groups = take_arrays(n, ranks, count, 0, &(struct nc_arena){.base = memory});
    struct scratch s;

    take_scratch(&s, count, &(struct nc_arena){.base = scratch});
    n->ranks = ranks;
    n->count = count;
    /* once by the communicator's numbers, for the order, and once by the new numbers */
    for (int i = 0; i < count; i++)
        n->number[i] = i;
    group(n, groups, &s, n->number, row, levels);
    nc_groups_in_order(&n->groups, s.order);
    for (int i = 0; i < count; i++)
        n->number[s.order[i]] = i;
    group(n, groups, &s, s.order, row, levels);
    if (count == 1)
        n->groups.levels = 0;
    n->mine = n->number[node_of(communicator, rank)];
    list_ranks(n, node_of, communicator, s.order);
    order_by_rank(n, node_of, communicator);
    measure_groups(n);
}
