/* Gather as a part of another collective (reduce.c). It does not count a call: the other collective
 * counts itself. */

#ifndef NUMACOLL_GATHER_H_INCLUDED
#define NUMACOLL_GATHER_H_INCLUDED

#include "../mpich/call.h"

/* Gathers the block `mine` of every rank into `blocks` of the root (rank of the communicator;
 * blocks are used there only; where its mine->buffer is MPI_IN_PLACE, its block is in `blocks`
 * already). Every rank of the communicator calls it, with the same root and tag. Calls that follow
 * each other may have the same tag.
 * Errors: of MPICH; at the root MPI_ERR_TRUNCATE or **collective_size_mismatch where lengths
 * differ. */
int MPIDI_NUMACOLL_gather_blocks(const struct nc_call *call, struct nc_typed *mine,
                                 const struct nc_blocks *blocks, int root, int tag);

#endif
