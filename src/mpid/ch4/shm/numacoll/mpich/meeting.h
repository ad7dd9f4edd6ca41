/* How the processes of a node meet at the start, before any communicator has a segment: they
 * exchange a few bytes and share some memory. world.c and bells.c use it. */

#ifndef NUMACOLL_MEETING_H_INCLUDED
#define NUMACOLL_MEETING_H_INCLUDED

#include "mpidimpl.h"

#define NC_MEETING_BYTES 64 /* of an exchange, at most */

/* comm: the communicator by which the processes meet, where MPICH has no other way
 * (NC_MEET_BY_COMM of compat.h); else NULL. Used until world_init ends. */
void MPIDI_NUMACOLL_meeting_begin(MPIR_Comm *comm);

/* Gives `bytes` bytes of each local rank to all, into `all`, in the order of their local ranks,
 * `stride` bytes apart. Collective over the processes of the node, as all below but unshare.
 * Errors: of MPICH, no memory. */
int MPIDI_NUMACOLL_meeting_exchange(const void *mine, size_t bytes, void *all, size_t stride);

/* Waits until all processes of the node have come here. */
int MPIDI_NUMACOLL_meeting_wait(void);

/* Makes zeroed memory that the processes share, aligned to NC_LINE; once. bytes: whole lines.
 * *memory: NULL on all of them if they cannot share any. For its name see backing.h. */
int MPIDI_NUMACOLL_meeting_share(size_t bytes, void **memory);
void MPIDI_NUMACOLL_meeting_unshare(void *memory);

#endif
