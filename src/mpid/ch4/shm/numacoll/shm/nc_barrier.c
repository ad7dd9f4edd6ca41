/* The table of the barrier algorithms, and the trees a rank needs for the algorithm that is
 * selected. mpich/ calls nc_barrier_shape when it makes or changes a communicator's choice; calls
 * of the barrier go to the algorithm's function, in nc_barrier_<name>.c. */

#include "nc_barrier.h"

/* The algorithms that Kurnosov, Tokmasheva 2022 compare; `hierarchical` is the authors' own. */
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

/* The memory has two trees of all ranks, or a list of children and the route through the groups. */
size_t nc_barrier_private_bytes(int ranks)
{
    size_t trees = 2 * nc_tree_bytes(ranks),
           route = nc_route_bytes(ranks, NC_ROUTE_LEVELS) + sizeof(int) * (size_t) ranks;

    return trees > route ? trees : route;
}

/* The rank's neighbours in a tree of all ranks. */
static struct nc_neighbours in_tree(const struct nc_barrier *b, void *memory,
                                    const struct nc_tree_spec *shape)
{
    struct nc_tree tree;

    nc_tree_make(&tree, memory, shape->kind, shape->k, b->ranks);
    return nc_tree_neighbours(&tree, b->rank);
}

/* The rank's neighbours in the trees of all groups. */
static struct nc_neighbours in_groups(const struct nc_barrier *b, int *memory,
                                      const struct nc_barrier_levels *levels)
{
    struct nc_route route;

    nc_route_make(&route, memory + b->ranks, levels->groups, levels->inside, NULL, b->rank);
    return nc_route_neighbours(&route, memory);
}

void nc_barrier_shape(struct nc_barrier *b, void *private_memory,
                      const struct nc_barrier_algorithm *algorithm,
                      const struct nc_barrier_levels *levels)
{
    char *second = (char *) private_memory + nc_tree_bytes(b->ranks);

    b->in_row = algorithm->arrival.k > 0 && algorithm->arrival.kind == NC_TREE_FLAT;
    if (algorithm->groups) {
        b->arrival = b->release = in_groups(b, private_memory, levels);
        b->gate = levels->flag;
    } else if (algorithm->arrival.k > 0) {
        b->arrival = in_tree(b, private_memory, &algorithm->arrival);
        b->gate = algorithm->release.k == 0;
        if (!b->gate)
            b->release = in_tree(b, second, &algorithm->release);
    }
}
