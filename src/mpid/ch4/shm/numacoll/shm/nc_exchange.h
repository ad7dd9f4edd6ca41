/* Alltoall, Alltoallv and Alltoallw among the ranks of one node, in shared memory; no MPI.
 * coll/alltoall.c calls it; the steps are nc_transfer's. PROTOCOLS.md, 3.9. */

#ifndef NC_EXCHANGE_H_INCLUDED
#define NC_EXCHANGE_H_INCLUDED

#include "nc_transfer.h"

/* A rank's part in a call. Private to the rank. A round is an operation of the queue. */
struct nc_exchange {
    struct nc_transfer *transfer;
    struct nc_stream *to, *from;
    size_t *sent;
    uint64_t first; /* the operation of round 0 */
    int rounds;
    int sending, receiving; /* the rounds whose blocks this rank sends, and receives, next */
    struct nc_flow out, in; /* these two blocks; out.control is NULL until it is taken */
    int copied;             /* 0, or the first error of a copy */
};

/* Begins to send the rest of stream to[r] into stream from[r] of this rank at each other rank r:
 * sends what fits the rank's own slots and control slots, and waits for nobody. The caller then
 * copies its own block, to[own rank], which is not looked at here. Every rank of the node calls it,
 * and nc_exchange_end.
 *
 * to[ranks], from[ranks]: they must live until nc_exchange_end. to[r] and from[r] may be the same
 * buffer with the same type, if the block that r sends to this rank is as long: it is overwritten
 * behind what has been sent. sent[ranks]: sent[r] becomes the length of the block that r sends to
 * this rank, bytes, but for this rank itself. from[r] may have another length: what is too much is
 * dropped, what is missing stays as it was. */
void nc_exchange_begin(struct nc_exchange *x, struct nc_transfer *transfer, struct nc_stream *to,
                       struct nc_stream *from, size_t *sent);

/* Sends and receives the rest. 0, or the first error of a copy; after it the other ranks are still
 * served. */
int nc_exchange_end(struct nc_exchange *x);

#endif
