/* Gather inside another collective, which is the one that is counted. */

#ifndef NUMACOLL_GATHER_H_INCLUDED
#define NUMACOLL_GATHER_H_INCLUDED

#include "../mpich/call.h"

/* The block `mine` of every rank to the root's blocks. Errors: of MPI, of lengths that differ. */
int MPIDI_NUMACOLL_gather_blocks(const struct nc_call *call, struct nc_typed *mine,
                                 const struct nc_blocks *blocks, int root, int tag);

#endif
