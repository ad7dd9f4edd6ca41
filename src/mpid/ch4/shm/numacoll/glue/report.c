/* What was served, what was not, and why. Counts are kept per communicator, where only one thread at a time counts,
 * and added up when a communicator is freed and at the end. */

#include "numacoll.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct MPIDI_NUMACOLL_comm *states;

static struct totals {
    uint64_t served, inner, deferred, fell_back[NC_REASON_COUNT];
} freed[NC_COLL_COUNT];

const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason)
{
    switch (reason) {
        case NC_REASON_BUDGET:
            return "budget";
        case NC_REASON_BACKING:
            return "no-shared-memory";
        case NC_REASON_PAGES:
            return "no-pages";
        default:
            return "none";
    }
}

static void add_to(struct totals *totals, const struct MPIDI_NUMACOLL_comm *state)
{
    for (int c = 0; c < NC_COLL_COUNT; c++) {
        totals[c].served += state->served[c];
        totals[c].inner += state->inner[c];
        totals[c].deferred += state->deferred[c];
        for (int r = 0; r < NC_REASON_COUNT; r++)
            totals[c].fell_back[r] += state->fell_back[c][r];
    }
}

void MPIDI_NUMACOLL_report_add(struct MPIDI_NUMACOLL_comm *state)
{
    pthread_mutex_lock(&lock);
    state->next = states;
    state->link = &states;
    if (states)
        states->link = &state->next;
    states = state;
    pthread_mutex_unlock(&lock);
}

void MPIDI_NUMACOLL_report_remove(struct MPIDI_NUMACOLL_comm *state)
{
    pthread_mutex_lock(&lock);
    *state->link = state->next;
    if (state->next)
        state->next->link = state->link;
    add_to(freed, state);
    pthread_mutex_unlock(&lock);
}

static void print_placement(const struct nc_placement *p)
{
    fprintf(stderr, ", pages of rank 0 on its NUMA node: %d right, %d wrong, %d unverified", p->right, p->wrong,
            p->unverified);
}

void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm * comm)
{
    const struct nc_geometry *g = &state->queue.geometry;

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
        print_placement(&state->segment.placement);
        fputc('\n', stderr);
    }
    fflush(stderr);
}

static void print_totals(const char *name, const struct totals *t)
{
    uint64_t fell_back = 0;

    for (int r = 0; r < NC_REASON_COUNT; r++)
        fell_back += t->fell_back[r];
    if (t->served + t->inner + t->deferred + fell_back == 0)
        return;
    fprintf(stderr, "numacoll: %s served %llu fell_back %llu", name, (unsigned long long) t->served,
            (unsigned long long) fell_back);
    for (int r = 0; r < NC_REASON_COUNT; r++) {
        if (t->fell_back[r])
            fprintf(stderr, " %s=%llu", MPIDI_NUMACOLL_reason_name(r), (unsigned long long) t->fell_back[r]);
    }
    if (t->inner)
        fprintf(stderr, " inner=%llu", (unsigned long long) t->inner);
    if (t->deferred)
        fprintf(stderr, " deferred=%llu", (unsigned long long) t->deferred);
    fputc('\n', stderr);
}

void MPIDI_NUMACOLL_report_totals(void)
{
    struct totals totals[NC_COLL_COUNT];

    pthread_mutex_lock(&lock);
    memcpy(totals, freed, sizeof totals);
    for (const struct MPIDI_NUMACOLL_comm *s = states; s; s = s->next)
        add_to(totals, s);
    pthread_mutex_unlock(&lock);
    for (int c = 0; c < NC_COLL_COUNT; c++)
        print_totals(MPIDI_NUMACOLL_coll_name(c), &totals[c]);
    fflush(stderr);
}

void MPIDI_NUMACOLL_report_clear(void)
{
    pthread_mutex_lock(&lock);
    memset(freed, 0, sizeof freed);
    for (struct MPIDI_NUMACOLL_comm *s = states; s; s = s->next) {
        memset(s->served, 0, sizeof s->served);
        memset(s->inner, 0, sizeof s->inner);
        memset(s->deferred, 0, sizeof s->deferred);
        memset(s->fell_back, 0, sizeof s->fell_back);
    }
    pthread_mutex_unlock(&lock);
}
