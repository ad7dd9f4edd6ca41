/* Alltoall, Alltoallv and Alltoallw among the ranks of one node, in shared memory; no MPI.
 * coll/alltoall.c calls it; the steps are nc_transfer's. PROTOCOLS.md, 3.9. */

#ifndef NC_EXCHANGE_H_INCLUDED
#define NC_EXCHANGE_H_INCLUDED

#include "nc_transfer.h"

/* The blocks of this rank. Both functions make a stream: of the block for another rank of the node,
 * or of the room for the block from it. What the stream refers to must stay in place until the next
 * call of the same function, or nc_exchange_end. */
struct nc_exchange_blocks {
    void (*sent)(void *context, int rank, struct nc_stream *stream);
    void (*received)(void *context, int rank, struct nc_stream *stream);
    void *context;
};

/* A rank's part in a call. Private to the rank. A round is an operation of the queue. */
struct nc_exchange {
    struct nc_transfer *transfer;
    const struct nc_team *team;
    const struct nc_exchange_blocks *blocks;
    uint64_t first; /* the operation of round 0 */
    int rounds;
    int sending, receiving; /* the rounds whose blocks this rank sends, and receives, next */
    /* these two blocks; out.control is NULL until it is taken */
    struct nc_stream sent, received;
    struct nc_flow out, in;
    /* bytes of the first block received that was too long, and of the stream it did not fit;
     * otherwise 0 */
    size_t too_long, room;
    int copied; /* 0, or the first error of a copy */
};

/* Begins an exchange of blocks between all pairs of ranks of a team: sends what fits the rank's own
 * slots and control slots, and waits for nobody. The caller then copies its own block. Every rank
 * of the node calls it, and nc_exchange_end, each with its own team; all teams have the same size.
 *
 * team, blocks: they must live until nc_exchange_end. The streams for a rank and from it may be the
 * same buffer with the same type, if the block that the other rank sends is as long: it is
 * overwritten behind what has been sent. Otherwise the lengths may differ: what is too much for a
 * stream is dropped, what is missing stays as it was. */
void nc_exchange_begin(struct nc_exchange *x, struct nc_transfer *transfer,
                       const struct nc_team *team, const struct nc_exchange_blocks *blocks);

/* Sends and receives the rest. 0, or the first error of a copy; after it the other ranks are still
 * served. */
int nc_exchange_end(struct nc_exchange *x);

#endif
