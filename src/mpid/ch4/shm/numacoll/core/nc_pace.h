/* Which stores are faster for a writer of slots: ordinary ones, or streaming (non-temporal) ones,
 * which go past the caches. Ordinary stores first call the lines back from the cache of the reader,
 * which is fast where writer and reader share a cache, and slow where they do not; and what caches
 * they share a virtual machine does not tell, and may change while it runs. So the writer measures:
 * now and then it copies a fragment by the other kind, and it stays with the faster one. That is
 * the writer's own affair; readers do not notice. shm/nc_transfer.c asks before each copy, and
 * tells how long it took. doc/design-notes.md has figures. */

#ifndef NC_PACE_H_INCLUDED
#define NC_PACE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a writer knows of the slots in one place. All zero at first. Private memory. */
struct nc_pace {
    /* by ordinary and by streaming stores: time for 64 bytes, smoothed, in sixteenths of the unit
     * in which times are told; 0: unknown */
    uint32_t cost[2];
    uint16_t left;     /* fragments until the other kind is tried */
    uint16_t interval; /* its value after the last trial */
};

/* Fragments between two trials: after a change, and at most. A trial may take six times as long as
 * the faster kind. */
#define NC_PACE_SOON 8
#define NC_PACE_MOST 256

/* How many times as fast streaming stores must be to be chosen, in eighths: the reader then finds
 * the fragment in memory and not in a cache. */
#define NC_PACE_GAIN 12

/* Whether the next fragment is copied by streaming stores: by the faster kind, or as a trial. */
bool nc_pace_streams(const struct nc_pace *pace);

/* Takes down that a fragment of so many bytes (at least 64) has been copied, by streaming stores or
 * not, in `time` units of any clock, always the same one. */
void nc_pace_note(struct nc_pace *pace, bool streamed, size_t bytes, uint64_t time);

#endif
