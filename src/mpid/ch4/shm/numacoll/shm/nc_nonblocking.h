/* Nonblocking operations of the ranks of a node: a rank begins an operation, and ends it whenever
 * it finds that it can, without waiting. They have a queue of their own, in a segment of their own,
 * so they have numbers, posts and acks beside those of the blocking calls. coll/nonblocking.c calls
 * these functions; the messages are inline in send control slots. PROTOCOLS.md, section 3.10.
 *
 * In an operation every rank posts a message for all, and needs those of all; or one rank posts,
 * and all others need that message. All ranks begin the same operations in the same order. An
 * operation is open from its begin to its end on this rank. A rank may have any number of open
 * operations, and end them in any order. No function waits. One thread at a time calls them. */

#ifndef NC_NONBLOCKING_H_INCLUDED
#define NC_NONBLOCKING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nc_bell.h"
#include "nc_copy.h"
#include "nc_queue.h"

/* One rank's view of the nonblocking operations of a communicator. Private memory. */
struct nc_nonblocking {
    struct nc_queue queue; /* nobody waits for its words */
    struct nc_bell **bell; /* [ranks] bells of the ranks' processes; NULL: they have none */
    uint64_t begun;        /* operations begun, and so the number of the next one */
    uint64_t ended;        /* operations that this rank has ended, all from the first on: its ack */
    /* Which operations are over for this rank though an earlier one is not: bit number modulo the
     * send control slots. */
    uint64_t over;
};

_Static_assert(NC_SEND_CONTROLS <= 64, "a bit for each");

/* An operation that this rank has begun. Private memory. */
struct nc_open {
    uint64_t number;
    uint16_t call; /* which call it belongs to, alike on all ranks (nc_queue.call) */
    int root;      /* the only rank that posts; -1: all do */
    bool posted;   /* this rank has posted, or has nothing to post */
    int met;       /* so many ranks, from rank 0 on, are known to have posted */
};

/* Makes a rank's view of a segment whose clocks are all zero, of nc_geometry_nonblocking or a
 * shorter geometry. The rest as for nc_queue_init; nobody sleeps by `waiter`, which has no parking.
 */
void nc_nonblocking_init(struct nc_nonblocking *n, char *const *region,
                         const struct nc_geometry *geometry, int rank, void *private_memory,
                         struct nc_waiter *waiter, struct nc_bell **bell);

/* N1: begins the next operation. */
void nc_nonblocking_begin(struct nc_nonblocking *n, struct nc_open *open, uint16_t call, int root);

/* N2: posts the rest of the stream, of at most NC_INLINE_BYTES bytes, if the send control slot of
 * the operation is free; then wakes those who may need it. To be called until it returns true, if
 * !open->posted. *copied: 0, or the error of the copy; then a message without bytes is posted. */
bool nc_nonblocking_post(struct nc_nonblocking *n, struct nc_open *open, struct nc_stream *stream,
                         int *copied);

/* N3: whether all is there that this rank needs: the messages of all ranks, or the root's. */
bool nc_nonblocking_is_met(struct nc_nonblocking *n, struct nc_open *open);

/* The message of a rank, after is_met: its header; its bytes. */
const struct nc_control *nc_nonblocking_part(struct nc_nonblocking *n, const struct nc_open *open,
                                             int rank);

static inline const char *nc_nonblocking_bytes(const struct nc_control *part)
{
    return part->payload;
}

/* N4: ends the operation for this rank, which has posted and reads no message of it any more. */
void nc_nonblocking_end(struct nc_nonblocking *n, const struct nc_open *open);

#endif
