/* What users read on stderr: how a communicator was set up, and what was served at the end. */

#include "numacoll.h"

static void print_placement(const struct nc_placement *p)
{
    fprintf(stderr, ", pages of rank 0 on its NUMA node: %d right, %d wrong, %d unverified", p->right, p->wrong,
            p->unverified);
}

void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * comm)
{
    const struct nc_geometry *g = &state->queue.geometry;
    char tree[32];

    if (MPIR_CVAR_NUMACOLL_REPORT < 1 || comm->rank != 0)
        return;
    if (state->phase == NC_PHASE_UNUSABLE) {
        fprintf(stderr, "numacoll: communicator of %d ranks: unusable: %s\n", comm->local_size,
                MPIDI_NUMACOLL_reason_name(state->reason));
    } else if (state->segment.base) {
        fprintf(stderr, "numacoll: communicator of %d ranks, %d on this node: %zu bytes in %s, "
                "%u slots of %u bytes, %u given back at a time, waits %s", comm->local_size, state->size,
                state->segment.bytes, state->segment.backing == NC_BACKING_MEMFD ? "a memfd" : "/dev/shm",
                g->slots, g->slot_bytes, g->set_slots, state->waiter.yield ? "yield" : "spin");
        nc_variable_format(&MPIDI_NUMACOLL_variables[NC_BCAST_TREE], (int) state->bcast[0].kind, tree, sizeof tree);
        fprintf(stderr, ", bcast_tree %s", tree);
        print_placement(&state->segment.placement);
        if (state->unbound)
            fprintf(stderr, ", NUMA nodes not used: ranks are not bound to one (mpiexec -bind-to core)");
        fputc('\n', stderr);
    }
    fflush(stderr);
}

static uint64_t sum(const uint64_t *counts, int n)
{
    uint64_t all = 0;

    for (int i = 0; i < n; i++)
        all += counts[i];
    return all;
}

static void print_totals(enum nc_coll c, const struct nc_counts *t)
{
    uint64_t served = sum(t->served[c], NC_WAYS), fell_back = sum(t->fell_back[c], NC_REASON_COUNT);

    if (served + t->inner[c] + t->deferred[c] + fell_back == 0)
        return;
    fprintf(stderr, "numacoll: %s served %llu fell_back %llu", MPIDI_NUMACOLL_coll_name(c), (unsigned long long) served,
            (unsigned long long) fell_back);
    for (int r = 0; r < NC_REASON_COUNT; r++) {
        if (t->fell_back[c][r])
            fprintf(stderr, " %s=%llu", MPIDI_NUMACOLL_reason_name(r), (unsigned long long) t->fell_back[c][r]);
    }
    if (t->inner[c])
        fprintf(stderr, " inner=%llu", (unsigned long long) t->inner[c]);
    if (t->deferred[c])
        fprintf(stderr, " deferred=%llu", (unsigned long long) t->deferred[c]);
    fputc('\n', stderr);
}

void MPIDI_NUMACOLL_report_totals(void)
{
    /* MPI may start again, and the counts of a process go on: those that are told here are over */
    static struct nc_counts told;
    struct nc_counts totals, since;

    MPIDI_NUMACOLL_counts_sum(&totals);
    for (size_t i = 0; i < sizeof since / sizeof(uint64_t); i++)
        ((uint64_t *) &since)[i] = ((uint64_t *) &totals)[i] - ((uint64_t *) &told)[i];
    told = totals;
    for (int c = 0; c < NC_COLL_COUNT; c++)
        print_totals(c, &since);
    fflush(stderr);
}
