/* Where MPI_Gatherv and the like keep counts and displacements that they turn from int into
 * MPI_Aint. MPICH allocates that memory in each call, at every rank, and frees it: a tenth of a
 * short call's instructions or more. Included before such a function, this header lets short arrays
 * lie on its stack; no memory of anybody else is freed in it. numacoll_counts_end.h, included
 * behind the function, ends that. Always built. */

#ifndef NUMACOLL_COUNTS_H_INCLUDED
#define NUMACOLL_COUNTS_H_INCLUDED

#include <alloca.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpl.h"

/* In bytes: counts and displacements of 256 ranks; of 128 where there are two of each, and counts
 * alone of 512. */
#define MPIR_NUMACOLL_COUNTS_ON_STACK 4096

/* Stands before the array: where the array lies. */
union MPIR_numacoll_counts {
    bool on_stack;
    long double align;
};

/* stack: as many bytes on the caller's stack, with the head; NULL: to be allocated. Returns NULL if
 * there is no memory. */
static inline void *MPIR_numacoll_counts_start(union MPIR_numacoll_counts *stack, size_t bytes)
{
    union MPIR_numacoll_counts *head = stack;
    if (!head)
        head = MPL_malloc(sizeof *head + bytes, MPL_MEM_OTHER);
    if (!head)
        return NULL;
    head->on_stack = stack != NULL;
    return head + 1;
}

static inline void MPIR_numacoll_counts_end(void *counts)
{
    union MPIR_numacoll_counts *head = counts;
    if (head && !head[-1].on_stack)
        MPL_free(head - 1);
}

#endif

#pragma push_macro("MPL_malloc")
#pragma push_macro("MPL_free")
#undef MPL_malloc
#undef MPL_free
#define MPL_malloc(bytes, class_) \
    MPIR_numacoll_counts_start((bytes) <= MPIR_NUMACOLL_COUNTS_ON_STACK \
                                   ? alloca(sizeof(union MPIR_numacoll_counts) + (bytes)) \
                                   : NULL, \
                               bytes)
#define MPL_free(counts) MPIR_numacoll_counts_end(counts)
