/* A list of extents, first fit. See nc_extents.h. */

#include "nc_extents.h"

#include <string.h>

bool nc_extents_take(struct nc_extents *e, uint64_t bytes, uint64_t *start)
{
    uint64_t from = e->first;
    int at = 0;

    if (e->count == e->room)
        return false;
    while (at < e->count && e->extent[at].start - from < bytes) {
        from = e->extent[at].start + e->extent[at].bytes;
        at++;
    }
    if (at == e->count && e->end - from < bytes)
        return false;
    memmove(&e->extent[at + 1], &e->extent[at], (size_t) (e->count - at) * sizeof *e->extent);
    e->extent[at] = (struct nc_extent){from, bytes};
    e->count++;
    *start = from;
    return true;
}

/* The index of the extent that begins at `start`; -1: none does. */
static int index_of(const struct nc_extents *e, uint64_t start)
{
    for (int at = 0; at < e->count && e->extent[at].start <= start; at++) {
        if (e->extent[at].start == start)
            return at;
    }
    return -1;
}

uint64_t nc_extents_find(const struct nc_extents *e, uint64_t start)
{
    int at = index_of(e, start);

    return at < 0 ? 0 : e->extent[at].bytes;
}

uint64_t nc_extents_give(struct nc_extents *e, uint64_t start)
{
    uint64_t bytes = nc_extents_find(e, start);
    int at = index_of(e, start);

    if (at < 0)
        return 0;
    e->count--;
    memmove(&e->extent[at], &e->extent[at + 1], (size_t) (e->count - at) * sizeof *e->extent);
    return bytes;
}
