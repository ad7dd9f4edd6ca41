/* Waiting for a word in shared memory to reach a value. All waits of the queues and of the barriers
 * end up here; nc_wait.c has the only spin loop of the component. */

#ifndef NC_WAIT_H_INCLUDED
#define NC_WAIT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../core/nc_clock.h"
#include "nc_atomic.h"

/* How a process waits, and how its waits ended. Private memory; each communicator has a waiter of
 * its own, so that threads that use different communicators do not share one. */
struct nc_waiter {
    /* Runs the rest of the process for a moment (MPICH's progress engine). Returns 0, or an error,
     * which ends the wait. May be NULL. */
    int (*progress)(void *context);
    void *context;
    bool yield; /* ranks outnumber processors: yield the CPU from the first round on */
    /* ranks that may have to run before the wait can end: where the CPU is yielded, `progress` is
     * called once in so many rounds, or once in 16 rounds if that is more. 0: a few ranks */
    unsigned ranks;
    /* counts of waits, by the slowest stage a wait reached */
    uint64_t ended_spinning, ended_in_progress, ended_yielding;
};

/* The slow part of nc_wait_clock, for a word that has not reached `wanted` yet: spins, then calls
 * progress, then also yields the CPU. 0, or the error of progress. */
int nc_wait_slowly(const struct nc_atomic *at, nc_clock wanted, struct nc_waiter *waiter);

/* Loads in a round of spinning, with a PAUSE after each. A round takes many times as long as a
 * cache line needs to come from another core. */
#define NC_WAIT_SPINS 200

/* Waits until *at has reached the clock `wanted`. 0, or the error of progress. Its acquire is the
 * partner of R1 to R6 (PROTOCOLS.md); the caller says of which. */
static inline int nc_wait_clock(const struct nc_atomic *at, nc_clock wanted,
                                struct nc_waiter *waiter)
{
    if (nc_clock_reached(nc_atomic_acquire(at), wanted))
        return 0;
    return nc_wait_slowly(at, wanted, waiter);
}

#endif
