#include "nc_barrier.h"

/* As compared in Kurnosov, Tokmasheva 2022, whose own is the last. */
const struct nc_barrier_algorithm nc_barrier_algorithms[NC_BARRIER_KINDS] = {
    [NC_BARRIER_CENTRAL] = {.name = "central", .function = nc_barrier_central},
    [NC_BARRIER_FLAT] = {.name = "flat", .function = nc_barrier_tree, .arrival = {NC_TREE_FLAT, 2}},
    [NC_BARRIER_FLAT_GR] = {.name = "flat_gr",
                            .function = nc_barrier_tree,
                            .arrival = {NC_TREE_FLAT, 2},
                            .release = {NC_TREE_FLAT, 2}},
    [NC_BARRIER_COMBINING] = {.name = "combining", .function = nc_barrier_combining},
    [NC_BARRIER_MCS] = {.name = "mcs",
                        .function = nc_barrier_tree,
                        .arrival = {NC_TREE_KARY, 4},
                        .release = {NC_TREE_KARY, 2}},
    [NC_BARRIER_TOURNAMENT] = {.name = "tournament",
                               .function = nc_barrier_tree,
                               .arrival = {NC_TREE_KNOMIAL, 2},
                               .release = {NC_TREE_KNOMIAL, 2}},
    [NC_BARRIER_DISSEMINATION] = {.name = "dissemination", .function = nc_barrier_dissemination},
    [NC_BARRIER_HIERARCHICAL] = {.name = "hierarchical",
                                 .function = nc_barrier_tree,
                                 .groups = true},
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
