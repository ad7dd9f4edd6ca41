/* Scatter as a part of another collective (reduce_scatter.c). It does not count a call: the other
 * collective counts itself. */

#ifndef NUMACOLL_SCATTER_H_INCLUDED
#define NUMACOLL_SCATTER_H_INCLUDED

#include "../mpich/call.h"

/* Scatters `blocks` of the root (rank of the communicator; blocks are used there only) into the
 * block `mine` of every rank. Every rank of the communicator calls it, with the same root and tag.
 * Calls that follow each other may have the same tag. Errors: of MPICH; MPI_ERR_TRUNCATE where a
 * block is longer than its reader expects. */
int MPIDI_NUMACOLL_scatter_blocks(const struct nc_call *call, const struct nc_blocks *blocks,
                                  struct nc_typed *mine, int root, int tag);

#endif
