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

uint64_t nc_extents_give(struct nc_extents *e, uint64_t start)
{
    uint64_t bytes;
    int at = 0;

    while (at < e->count && e->extent[at].start < start)
        at++;
    if (at == e->count || e->extent[at].start != start)
        return 0;
    bytes = e->extent[at].bytes;
    e->count--;
    memmove(&e->extent[at], &e->extent[at + 1], (size_t) (e->count - at) * sizeof *e->extent);
    return bytes;
}
