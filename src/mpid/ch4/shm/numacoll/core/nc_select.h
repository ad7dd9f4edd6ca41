/* Which algorithm serves where the user leaves it open: rules, as tables. */

#ifndef NC_SELECT_H_INCLUDED
#define NC_SELECT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* The barriers, one row each, in the order of BARRIER's values in cvars.yaml, behind auto:
 * X(NAME, name, how: initializers of struct nc_barrier_algorithm, for shm/nc_barrier.c alone). As
 * compared in Kurnosov, Tokmasheva 2022, whose own is the last. */
#define NC_BARRIERS(X) \
    X(CENTRAL, central, .function = nc_barrier_central) \
    X(FLAT, flat, .function = nc_barrier_tree, .arrival = {NC_TREE_FLAT, 2}) \
    X(FLAT_GR, flat_gr, .function = nc_barrier_tree, .arrival = {NC_TREE_FLAT, 2}, \
      .release = {NC_TREE_FLAT, 2}) \
    X(COMBINING, combining, .function = nc_barrier_combining) \
    X(MCS, mcs, .function = nc_barrier_tree, .arrival = {NC_TREE_KARY, 4}, \
      .release = {NC_TREE_KARY, 2}) \
    X(TOURNAMENT, tournament, .function = nc_barrier_tree, .arrival = {NC_TREE_KNOMIAL, 2}, \
      .release = {NC_TREE_KNOMIAL, 2}) \
    X(DISSEMINATION, dissemination, .function = nc_barrier_dissemination) \
    X(HIERARCHICAL, hierarchical, .function = nc_barrier_tree, .groups = true)

enum nc_barrier_kind {
#define NC_NUMBER(NAME, ...) NC_BARRIER_##NAME,
    NC_BARRIERS(NC_NUMBER)
#undef NC_NUMBER
        NC_BARRIER_KINDS
};

/* The ranks of a node, as far as the rules ask. */
struct nc_situation {
    int ranks;
    bool numa_nodes;     /* they are on several */
    bool oversubscribed; /* they outnumber processors */
};

/* By the first rule that fits; one always does. */
enum nc_barrier_kind nc_select_barrier(const struct nc_situation *situation);

enum nc_allreduce_version {
    NC_ALLREDUCE_SYMMETRIC,
    NC_ALLREDUCE_SLICED,
    NC_ALLREDUCE_RB,
    NC_ALLREDUCE_RAB,
    NC_ALLREDUCE_VERSIONS
};

/* The same, of a message of so many bytes. */
enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *situation, size_t bytes);

#endif
