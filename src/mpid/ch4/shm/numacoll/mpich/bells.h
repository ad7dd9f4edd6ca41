/* The bells of the processes of this node. world.c makes them at MPI_Init where waits yield;
 * state_make.c asks for those of a communicator's ranks. */

#ifndef NUMACOLL_BELLS_H_INCLUDED
#define NUMACOLL_BELLS_H_INCLUDED

#include "mpidimpl.h"
#include "../shm/nc_bell.h"

/* Makes the bells of all processes of the node, in memory that they share. Collective over these
 * processes. *bell: [local_size], until MPIDI_NUMACOLL_bells_free; NULL on all of them if they
 * cannot share memory, and waits then go on without bells. Errors: of MPICH's messages. */
int MPIDI_NUMACOLL_bells_make(struct nc_bell **bell);
void MPIDI_NUMACOLL_bells_free(void);

/* Finds the bells of node_comm's ranks, bell[size], their numbers among the processes of the node,
 * local_rank[size], and whether they are oversubscribed. Collective over node_comm;
 * memory[bells_bytes(size)] is scratch memory.
 * *all: all ranks are of one MPI_COMM_WORLD that has bells; if not, bell[] is not filled. The same
 * on all ranks. Errors: of MPICH's messages. */
size_t MPIDI_NUMACOLL_bells_bytes(int size);
int MPIDI_NUMACOLL_bells_find(MPIR_Comm *node_comm, void *memory, int *local_rank,
                              struct nc_bell **bell, bool *all, bool *oversubscribed);

/* struct nc_waiter.is_wanted: whether something may need this process that does not ring its bell:
 * processes of other nodes or of other MPI_COMM_WORLDs, a message of this process that waits for a
 * free cell, or one of MPIDI_NUMACOLL_unposted. */
bool MPIDI_NUMACOLL_is_wanted(void *unused);

/* How many nonblocking calls of this process have still to post their message; others may wait for
 * it, and nobody rings when it can be posted. */
extern MPL_atomic_int_t MPIDI_NUMACOLL_unposted;

#endif
