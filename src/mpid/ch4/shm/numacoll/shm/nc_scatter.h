/* Scatter and scatterv among ranks that share a segment: no MPI. */

#ifndef NC_SCATTER_H_INCLUDED
#define NC_SCATTER_H_INCLUDED

#include "nc_transfer.h"

/* Sends to[r] of the root to stream `mine` of each other rank r, through the receive ring of r. At
 * the root `mine` and to[root] are not used: its own block is the caller's to copy; elsewhere `to`
 * is not. *sent, not set at the root: the length of what the root sent me, which mine's may differ
 * from: what is too much is dropped, what is missing stays as it was. 0, or the error of a wait or
 * a copy; after an error of a copy the other ranks are still served. Source: Romanyuta, Kurnosov
 * 2022, Scatterv, with the slot protocol of PROTOCOLS.md. */
int nc_scatter_node(struct nc_transfer *transfer, int root, struct nc_stream *to,
                    struct nc_stream *mine, size_t *sent);

#endif
