/* Which parts of a range of memory are taken: a list of extents, first fit. Pure logic; the range
 * may be in a file, or be addresses. mpich/shared_buffers.c cuts what MPI_Alloc_mem returns out of
 * one file with it. */

#ifndef NC_EXTENTS_H_INCLUDED
#define NC_EXTENTS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* A part that is taken: bytes start .. start + bytes - 1. */
struct nc_extent {
    uint64_t start, bytes;
};

/* The range first .. end - 1. Private memory, which the caller makes. */
struct nc_extents {
    uint64_t first, end;
    struct nc_extent *extent; /* [room] the first `count` are taken, in ascending order */
    int count, room;
};

/* Takes the first free `bytes` bytes, more than 0. *start: where they begin. False: so many are
 * free nowhere, or the list has no room for one more. */
bool nc_extents_take(struct nc_extents *extents, uint64_t bytes, uint64_t *start);

/* The bytes of the extent that begins at `start`; 0: none begins there. */
uint64_t nc_extents_find(const struct nc_extents *extents, uint64_t start);

/* Gives it back. Returns the same. */
uint64_t nc_extents_give(struct nc_extents *extents, uint64_t start);

#endif
