/* What numacoll_counts.h needs of MPICH's header of this name: memory that can be counted, and can
 * run out. For test_short_counts.c. */

#ifndef MPL_H_INCLUDED
#define MPL_H_INCLUDED

#include <stdbool.h>
#include <stdlib.h>

enum { MPL_MEM_OTHER };

static int allocated, freed;
static bool is_full;

static inline void *MPL_malloc(size_t bytes, int class)
{
    (void) class;
    if (is_full)
        return NULL;
    allocated++;
    return malloc(bytes);
}

static inline void MPL_free(void *memory)
{
    freed++;
    free(memory);
}

#endif
