/* Which algorithm serves where the user leaves it open: rules, as tables. */

#ifndef NC_SELECT_H_INCLUDED
#define NC_SELECT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum nc_barrier_kind {
    NC_BARRIER_CENTRAL,
    NC_BARRIER_FLAT,
    NC_BARRIER_FLAT_GR,
    NC_BARRIER_COMBINING,
    NC_BARRIER_MCS,
    NC_BARRIER_TOURNAMENT,
    NC_BARRIER_DISSEMINATION,
    NC_BARRIER_HIERARCHICAL,
    NC_BARRIER_KINDS
};

/* The ranks of a node, as far as the rules ask. */
struct nc_situation {
    int ranks;
    bool numa_nodes; /* they are on several */
    bool crowded;    /* they outnumber processors */
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
