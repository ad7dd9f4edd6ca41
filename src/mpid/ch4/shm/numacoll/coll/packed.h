/* Blocks of ranks in messages between nodes, where only the sender knows the lengths of the blocks
 * and the receiver learns them from the messages. gather.c, scatter.c and allgather.c call these
 * functions; the messages go through net.h.
 *
 * Two forms:
 *
 *   packed messages  gather and scatter, between the root and the leader of another node. Each
 *                    carries a share of the block of every rank of that node; the first one has the
 *                    lengths of all blocks in front.
 *   rows of chunks   allgather, between leaders, sent and received at the same time. A stream is
 *                    cut into full chunks; a chunk that is not full, if need be an empty one,
 *                    ends it. */

#ifndef NUMACOLL_PACKED_H_INCLUDED
#define NUMACOLL_PACKED_H_INCLUDED

#include "net.h"

/* ---- packed messages ---- */

/* The packed messages between this rank and one other rank in one direction. At most two are under
 * way at a time, in the two buffers `packed` of the communicator. */
struct nc_packed {
    struct nc_net net;
    int peer, tag;
    MPIR_Request *request[2]; /* message i: [i % 2], in the buffer of the same number */
    uint64_t begun, ended;    /* messages begun, messages awaited */
    int ranks;                /* of the node whose blocks they are */
    size_t share;             /* bytes of a block in one message, at most */
    uint64_t *length;         /* [ranks] bytes of the blocks */
    uint64_t round, rounds;   /* the current message, from 0; the number of messages */
};

/* Prepares the messages with the blocks of a node to or from rank `peer` of the communicator. */
void MPIDI_NUMACOLL_packed_open(struct nc_packed *packed, const struct nc_call *call, int node,
                                int peer, int tag);

/* Sender: computes the number of messages. The caller has filled packed->length. */
void MPIDI_NUMACOLL_packed_count(struct nc_packed *packed);

/* Bytes of a rank's block in the current message; rank: its index on the node. */
size_t MPIDI_NUMACOLL_packed_bytes(const struct nc_packed *packed, int rank);

/* Sender, after packed_count. packed_load returns where to put the shares of the current message,
 * of rank 0 first, one behind the other; it may wait for an earlier send. packed_send sends them;
 * `end` is the end of what was put there. */
char *MPIDI_NUMACOLL_packed_load(struct nc_packed *packed);
void MPIDI_NUMACOLL_packed_send(struct nc_packed *packed, const char *end);

/* Receiver: waits for the current message and returns the shares in it, valid until the next call.
 * The first message also fills packed->length. After an error in the first message all lengths are
 * 0. */
char *MPIDI_NUMACOLL_packed_receive(struct nc_packed *packed);

/* Goes on to the next message. False if there is none. */
static inline bool MPIDI_NUMACOLL_packed_next(struct nc_packed *p)
{
    return ++p->round < p->rounds;
}

/* Waits for all messages under way. Returns the first error of the messages. */
int MPIDI_NUMACOLL_packed_close(struct nc_packed *packed);

/* A stream for the block of each rank of a node, in the order of the ranks: hierarchy->stream,
 * valid until the next call. */
struct nc_stream *MPIDI_NUMACOLL_node_streams(const struct nc_hierarchy *h,
                                              const struct nc_blocks *blocks, int node);

/* ---- rows of chunks ---- */

/* Called for each chunk that has arrived; bytes <= NC_CHUNK, also 0. */
typedef void (*nc_chunk_taker)(void *context, size_t bytes);

/* Sends the rest of a stream to rank `to` as a row of chunks, and at the same time receives a row
 * from rank `from`. Each chunk is received at *into (NC_CHUNK bytes); `take` may change *into for
 * the next chunk. Errors are kept in *net. */
void MPIDI_NUMACOLL_exchange_rows(struct nc_net *net, struct nc_stream *stream, int to, int from,
                                  int tag, char **into, nc_chunk_taker take, void *context);

#endif
