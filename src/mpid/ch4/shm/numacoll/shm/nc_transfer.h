/* What the collectives of ranks that share a segment have in common: a message goes between a
 * user's stream and shared memory, inline in a control slot, or as a row of fragments in a ring. No
 * MPI. */

#ifndef NC_TRANSFER_H_INCLUDED
#define NC_TRANSFER_H_INCLUDED

#include <stdbool.h>

#include "nc_copy.h"
#include "nc_queue.h"

/* A message on its way. Private to a rank. */
struct nc_flow {
    struct nc_control *control; /* where its fragments are announced */
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

/* Writer: the rest of the stream through the memory of a rank. Where it is inline is the caller's
 * choice: nc_transfer_is_inline. The header's first_slot is 0. */
static inline bool nc_transfer_is_inline(const struct nc_stream *stream)
{
    return nc_stream_rest(stream) <= NC_INLINE_BYTES;
}

void nc_transfer_begin(const struct nc_transfer *transfer, struct nc_flow *flow,
                       struct nc_stream *stream, int rank);

/* Writer: fragments as large as slots. Where all write and read at the same time there is nothing
 * to overlap, and each announcement costs. */
void nc_transfer_fill_slots(const struct nc_transfer *transfer, struct nc_flow *flow);

/* Writer: a whole message into a control slot that is taken, and announces it. 0, or the error of
 * the copy.
 */
int nc_transfer_inline(const struct nc_transfer *transfer, struct nc_control *control,
                       struct nc_stream *stream, int how);

/* Writer: fragment i into a slot that is taken. */
void nc_transfer_into(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                      char *slot);

/* Writer: the same, and announces it in the flow's control slot, which is taken. */
void nc_transfer_announce(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                          char *slot);

/* Reader: waits for the first announcement in a control slot, and obeys its header. The message
 * goes through the memory of `rank`; `alike`: messages of its size that are received in this call,
 * all of which are to stay in the cache. 0, or the error of the wait. */
int nc_transfer_meet(const struct nc_transfer *transfer, struct nc_flow *flow,
                     struct nc_control *control, struct nc_stream *stream, int rank, int alike);

/* Reader: what is in the control slot, of an inline message. */
void nc_transfer_payload(const struct nc_transfer *transfer, struct nc_flow *flow, int how);

/* Reader: where fragment i is, which is announced, in the send ring of the rank that has written
 * it.
 */
static inline const char *nc_transfer_source(const struct nc_transfer *transfer,
                                             const struct nc_flow *flow, uint64_t i)
{
    return nc_queue_slot(transfer->queue, flow->rank, flow->header.first_slot + i);
}

/* Reader: fragment i, which is announced, out of its slot. */
void nc_transfer_out(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                     const char *slot);

/* Reader: n fragments are read, and `more` says whether there are others to read. Acknowledges
 * their slots (R2) at the end of a set of `set` slots, but not those of the last fragments:
 * nc_queue_end, which follows without a wait for anybody, acknowledges all (PROTOCOLS.md, section
 * 4). */
static inline void nc_transfer_acknowledge(const struct nc_transfer *transfer, uint64_t n,
                                           bool more, uint32_t set)
{
    if (more && nc_frag_ends_set(n, set))
        nc_queue_acknowledge(transfer->queue, n);
}

/* The first error of many. */
static inline void nc_transfer_keep_first(int *first, int error)
{
    if (*first == 0)
        *first = error;
}

/* Of a copy between this rank and a control slot or slot in the memory of another. */
static inline int nc_transfer_remote(const struct nc_transfer *transfer, int rank)
{
    return transfer->numa[rank] != transfer->numa[transfer->queue->rank] ? NC_COPY_REMOTE : 0;
}

#endif
