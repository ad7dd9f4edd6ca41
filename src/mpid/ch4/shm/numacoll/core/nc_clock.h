/* The clock of a communicator's shared-memory traffic: (operation, fragments of it), in one 64-bit
 * word.
 *
 * It only grows, and is compared by difference: right as long as two clocks that meet are less than
 * 2^23 operations apart, and no rank of a communicator can be that far ahead of another (its
 * control slot ring is 2^5 operations deep). 2^40 fragments of 64 bytes are 64 TiB. */

#ifndef NC_CLOCK_H_INCLUDED
#define NC_CLOCK_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define NC_CLOCK_FRAGMENT_BITS 40

typedef uint64_t nc_clock;

static inline nc_clock nc_clock_at(uint64_t operation, uint64_t fragments)
{
    return (operation << NC_CLOCK_FRAGMENT_BITS) + fragments;
}

static inline bool nc_clock_reached(nc_clock now, nc_clock wanted)
{
    return (int64_t) (now - wanted) >= 0;
}

#endif
