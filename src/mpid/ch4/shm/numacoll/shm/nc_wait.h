/* Waiting for a word in shared memory, or one of several, to reach a clock, and storing a clock so
 * that whoever sleeps for it wakes. All waits of the queues and of the barriers end up here, and
 * all their releases; nc_wait.c has the only spin loop of the component. mpich/rest.c takes the
 * stages of a wait from here for MPICH's own waits. PROTOCOLS.md, section 5. */

#ifndef NC_WAIT_H_INCLUDED
#define NC_WAIT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../core/nc_clock.h"
#include "nc_atomic.h"
#include "nc_parking.h"

/* How a process waits, and how its waits ended. Private memory, except for what it points to; each
 * communicator has a waiter of its own, so that threads that use different communicators do not
 * share one. With all fields zero a wait spins, then yields, and nobody sleeps for long. */
struct nc_waiter {
    /* Runs the rest of the process for a moment (MPICH's progress engine), and sets `busy` if it is
     * to be called again at once. Returns 0 or an error. May be NULL. */
    int (*progress)(void *context);
    bool busy;
    /* Called with true before the thread gives its processor away, and with false after: it leaves
     * the lock that MPICH's other threads wait for. NULL: there is none. */
    void (*step_aside)(void *context, bool aside);
    /* Whether something that rings no bell may need this process: then its sleeps are short. NULL:
     * nothing does. */
    bool (*is_wanted)(void *context);
    void *context;
    /* The first error of `progress`, 0: none. Who takes it sets it to 0 again; until then
     * `progress` is not called any more. A wait goes on without it, because other ranks rely on
     * this one. */
    int error;
    int spins;  /* loads in a round of spinning; 0: NC_WAIT_SPINS */
    bool yield; /* ranks outnumber processors: yield the processor from the first round on */
    bool sleep; /* sleep from the first round on */
    /* other ranks of the node may need the processor: yield after 3 microseconds, not after 50 */
    bool among_others;
    /* processes that this one does not know of may need the processor: a yield in which another
     * process has run says so, and for some time waits yield from the first round on */
    bool unsure;
    bool gentle; /* ranks may sleep: after a millisecond of yields, or when yields come back late */
    /* ranks that may have to run before the wait can end: where the CPU is yielded, `progress` is
     * called once in so many rounds, or once in 16 rounds if that is more. 0: a few ranks */
    unsigned ranks;
    struct nc_bell *bell;       /* of this process; NULL: it has none, and sleeps for short times */
    struct nc_parking *parking; /* NULL: who moves a clock does not look for sleepers */
    /* Until when, by CLOCK_MONOTONIC in nanoseconds, to sleep rather than yield. Writers and
     * readers: all ranks of the communicator; its loss or delay only costs time. NULL: `until_own`
     */
    struct nc_atomic *until;
    struct nc_atomic until_own;
    uint64_t shared_until; /* if unsure: until when the processor counts as shared, same clock */
    uint64_t yields;       /* since the last late one */
    uint64_t late;         /* when a late yield last counted, by the same clock */
    /* counts of waits, by the slowest stage a wait reached */
    uint64_t ended_spinning, ended_in_progress, ended_yielding, ended_asleep;
    uint64_t asleep_ns; /* time asleep */
    uint64_t missed; /* sleeps that nobody ended although the word was there: a lost ring, or just
                        then reached */
};

/* ---- the stages of a wait ---- */

enum nc_stage { NC_STAGE_SPIN, NC_STAGE_YIELD, NC_STAGE_SLEEP };

/* One wait so far. All zero when it begins. */
struct nc_patience {
    uint64_t began, now; /* ns; `now` is the time of the last look at the clock */
    unsigned sleeps;
};

/* What this wait should do next. */
enum nc_stage nc_wait_stage(struct nc_waiter *waiter, struct nc_patience *patience);

/* Gives the processor away, and judges whether that pays. */
void nc_wait_yield(struct nc_waiter *waiter, struct nc_patience *patience);

/* Sleeps until the bell is rung (heard: of nc_bell_listen), or for some time, and returns whether
 * that time has passed. rung: what the wait is for rings the bell, and the time is 10 milliseconds;
 * if not, or if the process is wanted, it is 50 microseconds, doubled from sleep to sleep up to a
 * millisecond. */
bool nc_wait_sleep(struct nc_waiter *waiter, struct nc_patience *patience, uint32_t heard,
                   bool rung);

/* How many loads, each with a PAUSE, take about so many nanoseconds on this processor. */
int nc_wait_spins_of(uint64_t ns);

/* ---- waiting ---- */

/* Waits until one of n >= 1 words has reached its clock. An error of progress does not end the
 * wait; it is kept in waiter->error. The acquire is the partner of R1 to R6 (PROTOCOLS.md); the
 * caller says of which. */
void nc_wait_any(const struct nc_awaited *awaited, int n, struct nc_waiter *waiter);

/* Loads in a round of spinning, with a PAUSE after each. A round takes many times as long as a
 * cache line needs to come from another core. */
#define NC_WAIT_SPINS 200

/* Waits until *at has reached the clock `wanted`, as nc_wait_any does. */
static inline void nc_wait_clock(const struct nc_atomic *at, nc_clock wanted,
                                 struct nc_waiter *waiter)
{
    if (!nc_clock_reached(nc_atomic_acquire(at), wanted))
        nc_wait_any(&(struct nc_awaited){.word = at, .clock = wanted}, 1, waiter);
}

/* ---- releasing ---- */

/* The slow part of nc_release, for a communicator whose ranks may sleep (W1 to W3). */
void nc_release_and_wake(struct nc_atomic *word, nc_clock clock, struct nc_parking *parking);

/* Moves a clock that only this rank writes: a release store, and wakes who sleeps for it. The
 * caller says which release it is. */
static inline void nc_release(struct nc_atomic *word, nc_clock clock,
                              const struct nc_waiter *waiter)
{
    if (__builtin_expect(waiter->parking != NULL, 0))
        nc_release_and_wake(word, clock, waiter->parking);
    else
        nc_atomic_release(word, clock);
}

/* Adds n to a clock that many ranks add to, and wakes who sleeps for it. The value before. */
static inline uint64_t nc_release_add(struct nc_atomic *word, uint64_t n,
                                      const struct nc_waiter *waiter)
{
    uint64_t before = nc_atomic_add_ordered(word, n);

    if (__builtin_expect(waiter->parking != NULL, 0))
        nc_parking_wake(waiter->parking, word, before + n);
    return before;
}

#endif
