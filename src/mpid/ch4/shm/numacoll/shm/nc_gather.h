/* Gather, Gatherv, Allgather and Allgatherv among the ranks of one node, in shared memory; no MPI.
 * coll/gather.c, coll/allgather.c and coll/allreduce.c call them; the steps are nc_transfer's.
 * PROTOCOLS.md, 3.4. */

#ifndef NC_GATHER_H_INCLUDED
#define NC_GATHER_H_INCLUDED

#include "../core/nc_group.h"
#include "nc_transfer.h"

/* For all three functions: a sender's block, the rest of its stream `mine`, goes through the
 * sender's send control slot and send ring into stream from[sender] of each receiver. Every rank of
 * the node calls the function.
 *
 * sent[ranks]: at a receiver, sent[r] becomes the length of the block of r, bytes. from[r] may have
 * another length: what is too much is dropped, what is missing stays as it was. Returns 0, or the
 * error of a copy; after it the other ranks are still served.
 *
 * Source: Romanyuta, Kurnosov 2022, Gatherv and Allgatherv, with the slot protocol of
 * PROTOCOLS.md. */

/* From all other ranks to the root. `from` and `sent` are used only there, `sent` without its
 * element of the root. `mine` is NULL at the root, and its caller copies its own block; or it goes
 * into from[root], which nc_joint_takes_own must allow. */
int nc_gather_node(struct nc_transfer *transfer, int root, struct nc_stream *mine,
                   struct nc_stream *from, size_t *sent);

/* From all to all, with groups. A rank's own block goes into from[own rank], too, whose length is 0
 * if the block is there already. A block that fits a control slot goes to all ranks of the node. A
 * longer block goes only to the ranks of its sender's group on the lowest level of `groups` (a NUMA
 * node); the caller has to carry it to the other groups, and, where its sender is alone in its
 * group, also to from[own rank], which is then left as it was (its `at` is 0). sent[], which is set
 * for this rank too, is the same on all ranks and says which blocks these are (nc_allgather_stays).
 */
int nc_allgather_node(struct nc_transfer *transfer, const struct nc_groups *groups,
                      struct nc_stream *mine, struct nc_stream *from, size_t *sent);

/* From all to all ranks of a team, whatever the length of the blocks. from[] and sent[] of ranks
 * outside the team are not used; sent[] is set for this rank too. All ranks of the node call it in
 * the same operation, each with its own team. */
int nc_allgather_team(struct nc_transfer *transfer, const struct nc_team *team,
                      struct nc_stream *mine, struct nc_stream *from, size_t *sent);

/* Whether nc_allgather_node leaves a block of so many bytes inside its sender's group. */
static inline bool nc_allgather_stays(size_t bytes)
{
    return bytes > NC_INLINE_BYTES;
}

#endif
