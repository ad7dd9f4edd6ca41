/* What was served, what was not, and why. Counts are kept per communicator, where only one thread
 * at a time counts, and added up when somebody asks, and when a communicator is freed. */

#include "numacoll.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct MPIDI_NUMACOLL_comm *states;
static struct nc_counts freed;

const char *MPIDI_NUMACOLL_reason_name(enum nc_reason reason)
{
    switch (reason) {
        case NC_REASON_BUDGET:
            return "budget";
        case NC_REASON_BACKING:
            return "no-shared-memory";
        case NC_REASON_PAGES:
            return "no-pages";
        case NC_REASON_SETTINGS:
            return "unequal-settings";
        default:
            return "none";
    }
}

const char *MPIDI_NUMACOLL_algorithms(enum nc_coll coll)
{
    static const char *const names[NC_COLL_COUNT] = {
#define NC_NAMES(NAME, algorithms) [NC_COLL_##NAME] = algorithms,
        NC_COLLECTIVE_ALGORITHMS(NC_NAMES)
#undef NC_NAMES
    };

    return names[coll];
}

static void add(struct nc_counts *sum, const struct nc_counts *counts)
{
    for (size_t i = 0; i < sizeof *sum / sizeof(uint64_t); i++)
        ((uint64_t *) sum)[i] += ((const uint64_t *) counts)[i];
}

/* What of a state's counts stays when it is gone, and, while it lives, its segment. */
static void add_state(struct nc_counts *sum, const struct MPIDI_NUMACOLL_comm *state, bool alive)
{
    struct nc_counts all = state->counts;

    all.waits_spinning = state->waiter.ended_spinning;
    all.waits_in_progress = state->waiter.ended_in_progress;
    all.waits_yielding = state->waiter.ended_yielding;
    all.copied_local = state->ledger.local;
    all.copied_remote = state->ledger.remote;
    if (alive && state->segment.base) {
        all.segment_bytes = state->segment.bytes;
        all.huge_bytes = state->segment.huge_bytes;
        all.pages_right = (uint64_t) state->segment.placement.right;
        all.pages_misplaced = (uint64_t) state->segment.placement.wrong;
        all.pages_unverified = (uint64_t) state->segment.placement.unverified;
    }
    add(sum, &all);
}

void MPIDI_NUMACOLL_counts_add(struct MPIDI_NUMACOLL_comm *state)
{
    pthread_mutex_lock(&lock);
    state->next = states;
    state->link = &states;
    if (states)
        states->link = &state->next;
    states = state;
    pthread_mutex_unlock(&lock);
}

void MPIDI_NUMACOLL_counts_remove(struct MPIDI_NUMACOLL_comm *state)
{
    pthread_mutex_lock(&lock);
    *state->link = state->next;
    if (state->next)
        state->next->link = state->link;
    add_state(&freed, state, false);
    pthread_mutex_unlock(&lock);
}

void MPIDI_NUMACOLL_counts_sum(struct nc_counts *sum)
{
    pthread_mutex_lock(&lock);
    *sum = freed;
    for (const struct MPIDI_NUMACOLL_comm *s = states; s; s = s->next)
        add_state(sum, s, true);
    sum->start_microseconds = MPIDI_NUMACOLL_world.start_microseconds;
    pthread_mutex_unlock(&lock);
}
