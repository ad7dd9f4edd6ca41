/* How a message goes between a user's stream and shared memory, in all collectives of ranks that
 * share a segment: inline in a control slot, or by fragments through the slots of a ring. No MPI.
 *
 * The writer of an inline message (R1, R2: PROTOCOLS.md):
 *   nc_transfer_inline       payload, header and release R1, in a control slot that is taken
 *   nc_transfer_inline_to_children, nc_transfer_pass_on
 *                            the same in the control slot of each child
 *   nc_transfer_put          does it, for all of them
 * The writer of any other message:
 *   nc_transfer_begin        the header: how long the fragments are
 *   nc_transfer_send         a slot of the own send ring, then nc_transfer_write
 *   nc_transfer_write        the fragment into a slot, before the first the header, release R1
 * The reader:
 *   nc_transfer_meet         acquire of R1, header
 *   nc_transfer_payload      out of the control slot, or
 *   nc_transfer_out          a fragment out of its slot, which nc_transfer_source finds
 *   nc_transfer_acknowledge  release R2
 */

#ifndef NC_TRANSFER_H_INCLUDED
#define NC_TRANSFER_H_INCLUDED

#include <stdbool.h>
#include <string.h>

#include "../core/nc_route.h"
#include "nc_copy.h"
#include "nc_queue.h"

/* Children from .. to - 1 of a rank, as nc_position_child numbers them. A message is announced to
 * them in their own control slots. */
struct nc_children {
    const struct nc_position *parent;
    int from, to;
};

/* A message on its way. Private to a rank. */
struct nc_flow {
    /* where its fragments are announced; the writer has taken it. NULL: in the control slots of */
    struct nc_control *control;
    const struct nc_children *children; /* ... these, for the writer to take */
    struct nc_control_header header;
    struct nc_stream *stream;
    uint64_t fragments; /* 0: it is inline */
    uint64_t next;      /* fragments I have moved, for who moves several flows */
    int rank;           /* whose memory it goes through */
    int how;            /* of its copies, bits of nc_copy_how */
    int copied;         /* 0, or the error of a copy, after which no more is copied */
};

/* How a rank moves messages. */
struct nc_transfer {
    struct nc_queue *queue;
    bool sqrt_rule;            /* the writer's choice of fragments, see nc_frag_choose */
    uint32_t largest_fragment; /* bytes; at most a slot */
    size_t cache_bytes;        /* what is larger is stored past the cache */
    const int *numa;           /* [ranks] NUMA nodes, for the traffic */
    struct nc_traffic *traffic;
    struct nc_flow *flow; /* [ranks] for one call at a time; bcast needs none */
};

/* Of a copy between this rank and a control slot or slot in the memory of another. */
static inline int nc_transfer_remote(const struct nc_transfer *transfer, int rank)
{
    return transfer->numa[rank] != transfer->numa[transfer->queue->rank] ? NC_COPY_REMOTE : 0;
}

/* The first error of many. */
static inline void nc_transfer_keep_first(int *first, int error)
{
    if (*first == 0)
        *first = error;
}

/* ---- the writer ---- */

/* Announces fragment i in a control slot that is taken (R1); before the first, writes the header.
 * The fragment is in its slot, or, if the message is inline (i = 0), in the control slot. */
static inline void nc_transfer_announce(const struct nc_transfer *transfer,
                                        struct nc_control *control,
                                        const struct nc_control_header *header, uint64_t i)
{
    if (i == 0)
        control->header = *header;
    nc_queue_announce(transfer->queue, control, i + 1);
}

/* Announces fragment i in the control slots of children, which it takes before the first. 0, or the
 * error of a wait. */
int nc_transfer_announce_to_children(const struct nc_transfer *transfer,
                                     const struct nc_children *children,
                                     const struct nc_control_header *header, uint64_t i);

/* Whether the rest of the stream fits a control slot. Where it does, whether it goes there is the
 * caller's choice. */
static inline bool nc_transfer_is_inline(const struct nc_stream *stream)
{
    return nc_stream_rest(stream) <= NC_INLINE_BYTES;
}

/* The one writer of inline messages: header->total bytes into a control slot that is taken, `pad`
 * bytes from the begin of its payload, and announces them. They are at `payload`, which may be
 * there already. */
static inline void nc_transfer_put(const struct nc_transfer *transfer, struct nc_control *control,
                                   size_t pad, const struct nc_control_header *header,
                                   const char *payload)
{
    if (payload != control->payload + pad)
        memcpy(control->payload + pad, payload, header->total);
    nc_transfer_announce(transfer, control, header, 0);
}

/* The rest of the stream, inline, into a control slot that is taken, and announces it. pad: as for
 * nc_transfer_put; how: bits of nc_copy_how. 0, or the error of the copy. */
static inline int nc_transfer_inline(const struct nc_transfer *transfer, struct nc_control *control,
                                     size_t pad, struct nc_stream *stream, int how)
{
    const struct nc_control_header header = {.total = nc_stream_rest(stream)};
    const char *payload;
    int copied = nc_copy_find(stream, header.total, how, transfer->traffic, control->payload + pad,
                              &payload);

    nc_transfer_put(transfer, control, pad, &header, payload);
    return copied;
}

/* The rest of the stream, inline, into the control slots of children. 0, or the error of a wait or
 * of the copy. */
int nc_transfer_inline_to_children(const struct nc_transfer *transfer,
                                   const struct nc_children *children, struct nc_stream *stream);

/* An inline message that has come, whose payload is in my control slot, into those of children. 0,
 * or the error of a wait. */
int nc_transfer_pass_on(const struct nc_transfer *transfer, const struct nc_children *children,
                        const struct nc_control_header *header, const char *payload);

/* The rest of the stream by fragments, through my send ring (rank: mine) or the receive ring of
 * another rank. Where they are announced the caller sets. */
void nc_transfer_begin(const struct nc_transfer *transfer, struct nc_flow *flow,
                       struct nc_stream *stream, int rank);

/* Makes fragments as large as slots. Where all ranks write and read at the same time there is
 * nothing to overlap, and each announcement costs. */
void nc_transfer_fill_slots(const struct nc_transfer *transfer, struct nc_flow *flow);

/* A slot of my send ring for fragment i of this operation, for these readers. 0, or the error of
 * the wait. */
static inline int nc_transfer_take_slot(const struct nc_transfer *transfer,
                                        const struct nc_readers *readers, uint64_t i, char **slot)
{
    struct nc_queue *q = transfer->queue;

    return nc_queue_take_slot(q, nc_clock_at(q->operation, i + 1), readers, slot);
}

/* Fragment i into a slot that is free, and announces it. 0, or the error of a wait; the error of
 * the copy is kept in the flow. */
int nc_transfer_write(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                      char *slot);

/* Takes a slot of my send ring, and writes fragment i as nc_transfer_write does. */
int nc_transfer_send(const struct nc_transfer *transfer, struct nc_flow *flow,
                     const struct nc_readers *readers, uint64_t i);

/* ---- the reader ---- */

/* Waits for the first announcement in a control slot, and obeys its header. The message goes
 * through the memory of `rank`; `alike`: messages of its size that are received in this call, all
 * of which are to stay in the cache. 0, or the error of the wait. */
int nc_transfer_meet(const struct nc_transfer *transfer, struct nc_flow *flow,
                     struct nc_control *control, struct nc_stream *stream, int rank, int alike);

/* Where fragment i is, which is announced, in the send ring of the rank that has written it. */
static inline const char *nc_transfer_source(const struct nc_transfer *transfer,
                                             const struct nc_flow *flow, uint64_t i)
{
    return nc_queue_slot(transfer->queue, flow->rank, flow->header.first_slot + i);
}

/* What is in the control slot, of an inline message. */
static inline void nc_transfer_payload(const struct nc_transfer *transfer, struct nc_flow *flow,
                                       int how)
{
    flow->copied = nc_copy_out(flow->stream, flow->control->payload, flow->header.total, how,
                               transfer->traffic);
}

/* Fragment i, which is announced, out of its slot. */
void nc_transfer_out(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                     const char *slot);

/* Fragment i, which is announced, out of its slot into a slot of my send ring. */
void nc_transfer_relay(const struct nc_transfer *transfer, const struct nc_flow *flow, uint64_t i,
                       char *slot);

/* n fragments are read, and `more` says whether there are others to read. Acknowledges their slots
 * (R2) at the end of a set of `set` slots, but not those of the last fragments: nc_queue_end
 * acknowledges all, and nobody needs it before (PROTOCOLS.md, section 4). */
static inline void nc_transfer_acknowledge(const struct nc_transfer *transfer, uint64_t n,
                                           bool more, uint32_t set)
{
    if (more && nc_frag_ends_set(n, set))
        nc_queue_acknowledge(transfer->queue, n);
}

#endif
