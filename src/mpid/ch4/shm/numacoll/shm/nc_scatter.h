/* Scatter and Scatterv among the ranks of one node, in shared memory; no MPI. coll/scatter.c calls
 * it; the steps are nc_transfer's. PROTOCOLS.md, 3.3. */

#ifndef NC_SCATTER_H_INCLUDED
#define NC_SCATTER_H_INCLUDED

#include "nc_transfer.h"

/* Sends the rest of the root's stream to[r] into the stream `mine` of each other rank r, inline or
 * through the receive ring of r. Every rank of the node calls it.
 *
 * to[ranks]: used at the root only. mine: at the root NULL, and its caller copies its own block; or
 * it goes there, of to[root], which nc_joint_takes_own must allow. *sent: length of the block that
 * the root sends to this rank, bytes; not set at the root. `mine` may have another length: what is
 * too much is dropped, what is missing stays as it was. 0, or the error of a copy; after it the
 * other ranks are still served.
 *
 * Source: Romanyuta, Kurnosov 2022, Scatterv, with the slot protocol of PROTOCOLS.md. */
int nc_scatter_node(struct nc_transfer *transfer, int root, struct nc_stream *to,
                    struct nc_stream *mine, size_t *sent);

#endif
