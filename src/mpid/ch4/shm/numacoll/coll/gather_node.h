/* Gather, gatherv, allgather and allgatherv among ranks that share a segment: no MPI. */

#ifndef NC_GATHER_NODE_H_INCLUDED
#define NC_GATHER_NODE_H_INCLUDED

#include "move_node.h"

/* Both move streams `mine` through the OUT posts and rings of those who send them into the streams
 * from[ranks] of those who receive; what a rank has for itself is the caller's to copy, and its own
 * from[] and sent[] are not used. sent[r]: the length of what r sent, which from[r]'s may differ
 * from: what is too much is dropped, what is missing stays as it was. 0, or the error of a wait or a
 * copy; after an error of a copy the other ranks are still served. Source: Romanyuta, Kurnosov
 * 2022, Gatherv and Allgatherv, with the slot protocol of PROTOCOLS.md. */

/* From all to the root. `mine` is not used at the root; from and sent are used there only. */
int nc_gather_node(struct nc_move *move, int root, struct nc_stream *mine, struct nc_stream *from,
                   size_t *sent);

/* From all to all. */
int nc_allgather_node(struct nc_move *move, struct nc_stream *mine, struct nc_stream *from,
                      size_t *sent);

#endif
