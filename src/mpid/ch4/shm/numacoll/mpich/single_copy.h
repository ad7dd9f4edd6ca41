/* Single copy through the kernel: a rank copies out of the memory of another process of its node,
 * by cross memory attach (cma.c) or XPMEM (xpmem.c). state_make.c asks whether that is possible and
 * whether it pays; shm/ calls the copy through struct nc_direct. */

#ifndef NUMACOLL_SINGLE_COPY_H_INCLUDED
#define NUMACOLL_SINGLE_COPY_H_INCLUDED

#include "mpidimpl.h"
#include "peer.h"
#include "state.h"

/* Bytes of the memory state->peers. */
size_t MPIDI_NUMACOLL_single_copy_bytes(int size);

/* Finds a way, if the setting SINGLE_COPY wants one and each rank of the node can copy out of each
 * other one's memory: sets state->single_copy, and state->direct.fetch unless it has to be timed
 * first. Alike on all ranks. Collective over the node's ranks; errors: of MPICH's messages. */
int MPIDI_NUMACOLL_single_copy_join(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent);

/* With SINGLE_COPY=auto, sets state->direct.fetch if the way takes less time than the queue, which
 * must be as long as it will ever be: by broadcasts of the shortest message that would go this way
 * and of one four times as long, each from the first and the last rank in turn. It is
 * done once a process and way, and again where a process of the communicator has not done it.
 * Collective over the node's ranks, between two operations of the queue; errors: of MPICH's
 * messages. */
int MPIDI_NUMACOLL_single_copy_time(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent);

/* Writes what has become of the setting SINGLE_COPY, which is not off, to text[n]. */
const char *MPIDI_NUMACOLL_single_copy_state(const struct MPIDI_NUMACOLL_comm *state, char *text,
                                             size_t n);

/* Ends the use of a way. Local. */
void MPIDI_NUMACOLL_single_copy_leave(struct MPIDI_NUMACOLL_comm *state);

#endif
