/* One block of memory for many arrays: measure, then carve.
 *
 * One function takes all arrays of an object from an arena, in a fixed order. The caller runs the
 * function twice, with the same counts. The first run measures: base is NULL, every array is NULL,
 * and afterwards `bytes` is the size of the block. The second run carves: base is a block of that
 * size. So the sizes and the pointers cannot disagree.
 *
 *     static void take_arrays(struct object *o, size_t n, struct nc_arena *arena)
 *     {
 *         o->length = NC_ARENA_TAKE(arena, n, uint64_t);
 *         o->rank = NC_ARENA_TAKE(arena, n, int);
 *     }
 *
 *     struct nc_arena measured = {.base = NULL};
 *     take_arrays(o, n, &measured);
 *     o->memory = malloc(measured.bytes);
 *     take_arrays(o, n, &(struct nc_arena){.base = o->memory}); */

#ifndef NC_ARENA_H_INCLUDED
#define NC_ARENA_H_INCLUDED

#include <stddef.h>

struct nc_arena {
    char *base;   /* NULL: measure. Otherwise aligned for the strictest `align` of all arrays */
    size_t bytes; /* bytes taken so far, gaps for alignment included */
};

/* Takes memory for `count` elements of `bytes` bytes each. Returns its address, a multiple of
 * `align` bytes from base; NULL in an arena that measures. */
static inline void *nc_arena_take(struct nc_arena *arena, size_t count, size_t bytes, size_t align)
{
    size_t at = (arena->bytes + align - 1) / align * align;

    arena->bytes = at + count * bytes;
    return arena->base ? arena->base + at : NULL;
}

/* Takes memory for `count` elements of a type. */
#define NC_ARENA_TAKE(arena, count, type) \
    ((type *) nc_arena_take(arena, count, sizeof(type), _Alignof(type)))

#endif
