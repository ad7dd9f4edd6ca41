/* Large blocks of malloc in shared buffers: SHARED_BUFFERS=malloc. The allocator is jemalloc, which
 * the user preloads; it takes the extents of one of its arenas, that of blocks of NC_SHARED_LEAST
 * bytes and more, from here instead of from the system. What jemalloc itself notes of them is
 * elsewhere, so the ranks share nothing but blocks. world.c calls this. */

#ifndef NUMACOLL_SHARED_MALLOC_H_INCLUDED
#define NUMACOLL_SHARED_MALLOC_H_INCLUDED

/* At MPI_Init, if SHARED_BUFFERS=malloc: from now on malloc's large blocks are shared buffers,
 * until the process ends. Where jemalloc is not there, or mixes large blocks with others, a line
 * says what is missing, and malloc is as ever. */
void MPIDI_NUMACOLL_shared_malloc(void);

#endif
