/* The statistics. Kept per communicator, where only one thread at a time counts; added up when a
 * tool or the report asks, and when a communicator is freed. */

#include "stats.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The statistics of communicators that are alive, and the sum of those that were freed. The lock
 * protects both. */
static struct nc_comm_stats *alive;
static struct nc_stats freed;

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
        case NC_REASON_WORLDS:
            return "several-worlds";
        default:
            return "none";
    }
}

static void add(struct nc_stats *sum, const struct nc_stats *counts)
{
    for (size_t i = 0; i < sizeof *sum / sizeof(uint64_t); i++)
        ((uint64_t *) sum)[i] += ((const uint64_t *) counts)[i];
}

/* Fills the fields of *all that are kept elsewhere. lives: also those that end with the
 * communicator, of its segment. */
static void collect(struct nc_stats *all, const struct nc_comm_stats *c, bool lives)
{
    all->waits_spinning = c->waiter->ended_spinning;
    all->waits_in_progress = c->waiter->ended_in_progress;
    all->waits_yielding = c->waiter->ended_yielding;
    all->waits_asleep = c->waiter->ended_asleep;
    all->wake_ups = c->waiter->parking ? c->waiter->parking->rings : 0;
    all->asleep_microseconds = c->waiter->asleep_ns / 1000;
    all->copied_local = c->traffic->local;
    all->copied_remote = c->traffic->remote;
    all->copied_shared = c->traffic->shared;
    *(c->maps ? &all->copied_xpmem : &all->copied_cma) = c->traffic->fetched;
    all->demoted = c->traffic->demoted;
    if (lives && c->segment->base) {
        all->segment_bytes = c->segment->bytes + c->other_bytes;
        all->shortened_segments = c->segment->shortened;
        all->huge_bytes = c->segment->huge_bytes;
        all->pages_right = (uint64_t) c->segment->placement.right;
        all->pages_misplaced = (uint64_t) c->segment->placement.wrong;
        all->pages_unverified = (uint64_t) c->segment->placement.unverified;
    }
}

static void add_stats(struct nc_stats *sum, const struct nc_comm_stats *c, bool lives)
{
    struct nc_stats all = c->counts;

    collect(&all, c, lives);
    add(sum, &all);
}

static uint64_t sum_of(const struct nc_stats *counts, size_t offset, int n)
{
    const uint64_t *field = (const uint64_t *) ((const char *) counts + offset);
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += field[i];
    return sum;
}

void MPIDI_NUMACOLL_stats_add(struct nc_comm_stats *c)
{
    pthread_mutex_lock(&lock);
    c->next = alive;
    c->link = &alive;
    if (alive)
        alive->link = &c->next;
    alive = c;
    pthread_mutex_unlock(&lock);
}

void MPIDI_NUMACOLL_stats_remove(struct nc_comm_stats *c)
{
    pthread_mutex_lock(&lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    add_stats(&freed, c, false);
    pthread_mutex_unlock(&lock);
}

struct nc_comm_stats *MPIDI_NUMACOLL_stats_first(void)
{
    return alive;
}

void MPIDI_NUMACOLL_stats_start(uint64_t microseconds)
{
    freed.start_microseconds = microseconds;
}

void MPIDI_NUMACOLL_stats_keep(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    freed.kept_bytes = bytes;
    pthread_mutex_unlock(&lock);
}

void MPIDI_NUMACOLL_stats_sum(struct nc_stats *sum)
{
    pthread_mutex_lock(&lock);
    *sum = freed;
    for (const struct nc_comm_stats *c = alive; c; c = c->next)
        add_stats(sum, c, true);
    pthread_mutex_unlock(&lock);
}

uint64_t MPIDI_NUMACOLL_stats_sum_of(size_t offset, int n)
{
    bool elsewhere = offset >= offsetof(struct nc_stats, waits_spinning);
    uint64_t sum;

    pthread_mutex_lock(&lock);
    sum = sum_of(&freed, offset, n);
    for (const struct nc_comm_stats *c = alive; c; c = c->next) {
        struct nc_stats all;
        if (elsewhere) {
            memset(&all.waits_spinning, 0, sizeof all - offsetof(struct nc_stats, waits_spinning));
            collect(&all, c, true);
        }
        sum += sum_of(elsewhere ? &all : &c->counts, offset, n);
    }
    pthread_mutex_unlock(&lock);
    return sum;
}
