/* Who sleeps for which word of a communicator's shared memory. A rank that goes to sleep in nc_wait
 * parks here; a rank that moves a clock (nc_release in nc_wait.h) looks here whom it has to wake.
 * PROTOCOLS.md, section 5.2.
 *
 * Shared memory, behind the header of the segment (core/nc_layout.h), zero at first:
 *
 *     bucket b    NC_BUCKET_WORDS words. Bit r % 64 of word r / 64: rank r is parked for a word of
 *                 bucket b. Writers: all ranks, by atomic bit operations, each its own bit;
 *                 readers: all ranks that move a clock of the bucket
 *     place r     the word that rank r is parked for, and the clock it wants; or that it is parked
 *                 for one of several words. Writer: r; readers: all ranks that have found r's bit
 *
 * The buckets are few, so that they stay in every cache while nobody sleeps. A word's bucket
 * depends on where the word is in the segment. */

#ifndef NC_PARKING_H_INCLUDED
#define NC_PARKING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "../core/nc_clock.h"
#include "../core/nc_layout.h"
#include "nc_bell.h"

/* A word that somebody waits for, and the clock that it must reach. */
struct nc_awaited {
    const struct nc_atomic *word;
    nc_clock clock;
};

/* A rank's place. Written before the rank's bit is set (Q2 before Q3). */
struct nc_place {
    /* its offset in the segment, bytes; 0: not parked; NC_PLACE_ANY: for several words */
    _Alignas(64) struct nc_atomic word;
    struct nc_atomic wanted; /* the clock that the word must reach, if it is one */
    struct nc_atomic call;   /* for reports of long waits: mpich/watch.c; nobody relies on it */
};

#define NC_PLACE_ANY 1 /* no word is there */

_Static_assert(sizeof(struct nc_place) == NC_PLACE_BYTES, "nc_layout_front_bytes counts them");

/* A rank's view of a communicator's parking. Private memory. */
struct nc_parking {
    char *base;             /* of the segment, which has the words */
    struct nc_atomic *mask; /* [NC_BUCKETS][NC_BUCKET_WORDS], in the segment */
    struct nc_place *place; /* [ranks], in the segment */
    struct nc_bell **bell;  /* [ranks] the bell of each rank's process */
    int rank, ranks;        /* at most NC_PARKING_RANKS */
    uint64_t rings;         /* how many sleepers this rank has woken */
};

/* Fills a parking for a segment that is mapped at `base`. bell[ranks] must outlive it. */
void nc_parking_init(struct nc_parking *parking, char *base, struct nc_bell **bell, int rank,
                     int ranks);

/* Sleeper: parks this rank until one of awaited[0 .. n - 1] has reached its clock; it must look at
 * them once more after that, before it sleeps (Q2, Q3). */
void nc_parking_enter(struct nc_parking *parking, const struct nc_awaited *awaited, int n);

/* Sleeper: ends the parking, and wakes others that are parked for the same words (Q7, W2, W3). */
void nc_parking_leave(struct nc_parking *parking, const struct nc_awaited *awaited, int n);

/* Wakes two of the ranks that are parked for a word which has now reached `clock`; each of them
 * wakes two more when it leaves. Who is parked for several words, one of them in the bucket of this
 * one, is woken besides. The clock must have been stored, by nc_atomic_store_ordered or an atomic
 * add, before (W2, W3). */
void nc_parking_wake(struct nc_parking *parking, const struct nc_atomic *word, nc_clock clock);

#endif
