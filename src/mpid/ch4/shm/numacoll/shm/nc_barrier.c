#include "nc_barrier.h"

const struct nc_barrier_algorithm nc_barrier_algorithms[NC_BARRIER_KINDS] = {
#define NC_ROW(NAME, word, ...) {.name = #word, __VA_ARGS__},
    NC_BARRIERS(NC_ROW)
#undef NC_ROW
};

size_t nc_barrier_private_bytes(int ranks)
{
    return 2 * nc_shape_bytes(ranks);
}

static void shape_by_trees(struct nc_barrier *b, char *memory, const struct nc_barrier_algorithm *a)
{
    nc_shape_of_tree(&b->arrival, memory, &a->arrival, b->ranks, NC_SHAPE_UP, b->rank);
    b->gate = a->release.k == 0;
    if (!b->gate)
        nc_shape_of_tree(&b->release, memory + nc_shape_bytes(b->ranks), &a->release, b->ranks,
                         NC_SHAPE_DOWN, b->rank);
}

static void shape_by_groups(struct nc_barrier *b, char *memory,
                            const struct nc_barrier_levels *levels)
{
    nc_shape_of_groups(&b->arrival, memory, levels->inside, levels->groups, NC_SHAPE_UP, b->rank);
    nc_shape_of_groups(&b->release, memory + nc_shape_bytes(b->ranks), levels->inside,
                       levels->groups, NC_SHAPE_DOWN, b->rank);
    b->gate = levels->flag;
}

void nc_barrier_shape(struct nc_barrier *b, void *private_memory,
                      const struct nc_barrier_algorithm *algorithm,
                      const struct nc_barrier_levels *levels)
{
    if (algorithm->groups)
        shape_by_groups(b, private_memory, levels);
    else if (algorithm->arrival.k > 0)
        shape_by_trees(b, private_memory, algorithm);
}
