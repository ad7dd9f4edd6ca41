/* Which algorithm serves where the user leaves it open: rules, as tables. */

#ifndef NC_SELECT_H_INCLUDED
#define NC_SELECT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* The barriers, in the order of BARRIER's values in cvars.yaml, behind auto: X(NAME, name). What
 * each is, is in shm/nc_barrier.c. */
#define NC_BARRIERS(X) \
    X(CENTRAL, central) \
    X(FLAT, flat) \
    X(FLAT_GR, flat_gr) \
    X(COMBINING, combining) \
    X(MCS, mcs) \
    X(TOURNAMENT, tournament) \
    X(DISSEMINATION, dissemination) \
    X(HIERARCHICAL, hierarchical)

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

/* The same, of a message of so many bytes; up to inline_bytes go inline in a control slot. */
enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *situation, size_t bytes,
                                              size_t inline_bytes);

#endif
