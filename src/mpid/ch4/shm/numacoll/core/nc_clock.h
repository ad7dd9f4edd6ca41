/* The clock of a communicator's shared-memory traffic: one 64-bit word with the number of an
 * operation and a number of fragments of that operation. Control slots and acks (shm/nc_queue.h)
 * contain clocks.
 *
 * A clock only grows. Two clocks are compared by their difference, which is right as long as they
 * are less than 2^23 operations apart. Ranks of a communicator are never that far apart: a rank
 * is ahead of one that reads it by at most its control slots of a kind, 2^9, and along a chain of
 * readers these add up. 2^40 fragments of 64 bytes are 64 TiB. */

#ifndef NC_CLOCK_H_INCLUDED
#define NC_CLOCK_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define NC_CLOCK_FRAGMENT_BITS 40

typedef uint64_t nc_clock;

/* The clock after so many fragments of an operation. */
static inline nc_clock nc_clock_at(uint64_t operation, uint64_t fragments)
{
    return (operation << NC_CLOCK_FRAGMENT_BITS) + fragments;
}

/* Whether the clock `now` has reached the clock `wanted`. */
static inline bool nc_clock_reached(nc_clock now, nc_clock wanted)
{
    return (int64_t) (now - wanted) >= 0;
}

#endif
