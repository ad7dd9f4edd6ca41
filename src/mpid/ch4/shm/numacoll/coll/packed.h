/* Blocks of ranks in messages between nodes. Their lengths are learnt on the way: only the side
 * that sends knows them.
 *
 * Two forms. A packed message carries a share of the block of every rank of a node, and the first
 * one the lengths of the blocks before it: gather and scatter, between the root and the leader of
 * another node. A row of chunks is a stream cut into full chunks and a shorter one that ends it:
 * allgather, both ways at a time. */

#ifndef NUMACOLL_PACKED_H_INCLUDED
#define NUMACOLL_PACKED_H_INCLUDED

#include "net.h"

/* ---- packed messages ---- */

/* The packed messages between this rank and one other, all in one direction, at most two of them
 * under way at a time. */
struct nc_packed {
    struct nc_net net;
    int peer, tag;
    MPIR_Request *request[2]; /* message i: [i % 2], in the buffer of the same number */
    uint64_t begun, ended;    /* messages */
    int ranks;                /* of the node whose blocks they are */
    size_t share;             /* bytes of a block that a message has, at most */
    uint64_t *length;         /* [ranks] bytes of the blocks */
    uint64_t round, rounds;   /* number of the current message, and of all */
};

void MPIDI_NUMACOLL_packed_open(struct nc_packed *packed, const struct nc_call *call, int node,
                                int peer, int tag);

/* Computes how many messages there are, once packed->length is filled by the caller. */
void MPIDI_NUMACOLL_packed_count(struct nc_packed *packed);

/* Bytes of a rank's block in the current message. */
size_t MPIDI_NUMACOLL_packed_bytes(const struct nc_packed *packed, int rank);

/* Sender: where to put the shares of the current message, the lengths being counted; then, with the
 * end of what was put there, send it. */
char *MPIDI_NUMACOLL_packed_load(struct nc_packed *packed);
void MPIDI_NUMACOLL_packed_send(struct nc_packed *packed, const char *end);

/* Receiver: waits for the current message and returns the shares in it. The first message also
 * fills packed->length. After an error all lengths are 0. */
char *MPIDI_NUMACOLL_packed_receive(struct nc_packed *packed);

/* Goes on to the next message; false after the last. */
static inline bool MPIDI_NUMACOLL_packed_next(struct nc_packed *p)
{
    return ++p->round < p->rounds;
}

/* Waits for all sends. Returns the first error of all. */
int MPIDI_NUMACOLL_packed_close(struct nc_packed *packed);

/* Streams of the blocks of a node's ranks, in the memory of the hierarchy. */
struct nc_stream *MPIDI_NUMACOLL_node_streams(const struct nc_hierarchy *h,
                                              const struct nc_blocks *blocks, int node);

/* ---- rows of chunks ---- */

/* What takes each chunk that has arrived: bytes <= NC_CHUNK. */
typedef void (*nc_chunk_taker)(void *context, size_t bytes);

/* Sends the rest of a stream to one rank as a row of chunks, while a row comes from another: each
 * chunk into *into (NC_CHUNK bytes), which the taker may change before the next. */
void MPIDI_NUMACOLL_exchange_rows(struct nc_net *net, struct nc_stream *stream, int to, int from,
                                  int tag, char **into, nc_chunk_taker take, void *context);

#endif
