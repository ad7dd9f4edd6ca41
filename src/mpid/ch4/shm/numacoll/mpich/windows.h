/* MPI windows whose memory MPICH has made such that all processes of a node have it mapped
 * (MPI_Win_allocate, MPI_Win_allocate_shared): a table of those that are live, by which ranks find
 * what is in each other's windows. The memory stays MPICH's. PROTOCOLS.md, section 3.8. MPICH calls
 * the hooks (numacoll_hooks.h); state_make.c gives these functions to shm/, in struct nc_direct.
 * Any thread may call them. */

#ifndef NUMACOLL_WINDOWS_H_INCLUDED
#define NUMACOLL_WINDOWS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* The place of n bytes of this process, if they all are in a live window that all ranks of the node
 * in a struct MPIDI_NUMACOLL_comm (state) have, too; 0: they are not. */
uint64_t MPIDI_NUMACOLL_window_place(const void *state, const char *bytes, size_t n);

/* The bytes at a place that a rank of this node has told, which waits for this one. */
char *MPIDI_NUMACOLL_window_bytes(uint64_t place);

/* At MPI_Finalize: forgets windows that the program has not freed. */
void MPIDI_NUMACOLL_windows_finalize(void);

#endif
