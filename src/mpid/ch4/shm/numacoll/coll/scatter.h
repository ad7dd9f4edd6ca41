/* Scatter as a part of another collective (reduce_scatter.c). It does not count a call: the other
 * collective counts itself. */

#ifndef NUMACOLL_SCATTER_H_INCLUDED
#define NUMACOLL_SCATTER_H_INCLUDED

#include "../mpich/call.h"

/* Scatters `blocks` of the root (rank of the communicator; blocks are used there only) into the
 * block `mine` of every rank. Every rank of the communicator calls it, with the same root and tag.
 * Calls that follow each other may have the same tag. Errors: of MPICH; where a
 * block has another length than its reader expects. */
int MPIDI_NUMACOLL_scatter_blocks(const struct nc_call *call, const struct nc_blocks *blocks,
                                  struct nc_typed *mine, int root, int tag);

/* Inside a node: local rank 0 has the blocks of all ranks of the node, packed at `at` one behind
 * the other, of bytes[local rank] bytes. They go into the streams `mine`, from where these stand.
 * `at` and `bytes` are used at local rank 0 only. Every rank of the node calls it. Errors: of
 * MPICH. */
int MPIDI_NUMACOLL_scatter_packed(const struct nc_call *call, char *at, const size_t *bytes,
                                  struct nc_stream *mine);

#endif
