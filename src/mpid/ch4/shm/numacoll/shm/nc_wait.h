/* Waiting: the only spin loop. */

#ifndef NC_WAIT_H_INCLUDED
#define NC_WAIT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../core/nc_clock.h"
#include "nc_atomic.h"

/* How a process waits. Private to it; one per communicator, so that threads in different
 * communicators do not share. */
struct nc_waiter {
    /* Lets the rest of the process go on (MPICH's progress engine); 0 or an error, which ends the
     * wait. May be NULL. */
    int (*progress)(void *context);
    void *context;
    bool yield;     /* give the CPU away at once: ranks outnumber processors */
    unsigned ranks; /* that may have to run before the wait can end; 0: a few */
    /* waits that ended in each stage */
    uint64_t ended_spinning, ended_in_progress, ended_yielding;
};

/* The slow part of nc_wait_clock: progress, and giving the CPU away. */
int nc_wait_slowly(const struct nc_atomic *at, nc_clock wanted, struct nc_waiter *waiter);

/* looks, a PAUSE after each: many times what a line takes to come from another core */
#define NC_WAIT_SPINS 200

/* Waits until *at has reached the clock `wanted`; 0, or the error of progress. The acquire is the
 * reader's half of every pair in nc_queue.c and nc_barrier.h; the call site names the release. */
static inline int nc_wait_clock(const struct nc_atomic *at, nc_clock wanted,
                                struct nc_waiter *waiter)
{
    if (nc_clock_reached(nc_atomic_acquire(at), wanted))
        return 0;
    return nc_wait_slowly(at, wanted, waiter);
}

#endif
