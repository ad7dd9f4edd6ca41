/* Gather, gatherv, allgather and allgatherv among ranks that share a segment: no MPI. */

#ifndef NC_GATHER_H_INCLUDED
#define NC_GATHER_H_INCLUDED

#include "../core/nc_group.h"
#include "nc_transfer.h"

/* They move the rest of streams `mine` through the send ring recv_controls and rings of those who
 * send them into the streams from[ranks] of those who receive; what a rank has for itself is the
 * caller's to copy, and its own from[] and sent[] are not used. sent[r]: the length of what r sent,
 * which from[r]'s may differ from: what is too much is dropped, what is missing stays as it was. 0,
 * or the error of a wait or a copy; after an error of a copy the other ranks are still served.
 * Source: Romanyuta, Kurnosov 2022, Gatherv and Allgatherv, with the slot protocol of PROTOCOLS.md.
 */

/* From all to the root. `mine` is not used at the root; from and sent are used there only. */
int nc_gather_node(struct nc_transfer *transfer, int root, struct nc_stream *mine,
                   struct nc_stream *from, size_t *sent);

/* From all to all of a group; of groups' lowest level, NUMA nodes, that is. What does not fit a
 * control slot stays inside its sender's group, and is left to the caller to carry to the others;
 * sent[], also of this rank, says to all alike which. */
int nc_allgather_node(struct nc_transfer *transfer, const struct nc_groups *groups,
                      struct nc_stream *mine, struct nc_stream *from, size_t *sent);

/* From all to all of a team, also what does not fit a control slot; from[] and sent[] of other
 * ranks are not used. All ranks of the node make it one operation, each with its team. */
int nc_allgather_team(struct nc_transfer *transfer, const struct nc_team *team,
                      struct nc_stream *mine, struct nc_stream *from, size_t *sent);

/* Whether a message of so many bytes stayed inside its sender's group. */
static inline bool nc_allgather_stays(size_t bytes)
{
    return bytes > NC_INLINE_BYTES;
}

#endif
