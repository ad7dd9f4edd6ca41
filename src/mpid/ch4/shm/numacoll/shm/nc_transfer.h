/* Moves a message between a user's stream and shared memory: inline in a control slot, or as
 * fragments through the slots of a ring. All other modules write and read
 * shared memory by these functions; the waits for slots and control slots are nc_queue's, the
 * copies nc_copy's. No MPI. R1 and R2: PROTOCOLS.md.
 *
 * The writer of an inline message calls one of
 *   nc_transfer_inline       writes payload and header into a control slot that it has taken, then
 *                            releases R1
 *   nc_transfer_inline_to_children
 *                            takes the receive control slot of each child, and writes payload and
 *                            header into each of them, then releases R1
 *   nc_transfer_pass_on      as nc_transfer_inline_to_children, but the message is one that this
 *                            rank has received inline, and not a stream
 * The writer of a message in fragments calls
 *   nc_transfer_begin        fills the header: the size of the fragments
 *   nc_transfer_send         takes a slot of its own send ring, then calls nc_transfer_write
 *   nc_transfer_sends        says whether it is time for the next fragment, where ranks send and
 *                            read in rounds
 *   nc_transfer_write        writes a fragment into a slot, before the first one also the header
 *                            into the control slot, then releases R1
 * The writer of a message that stays where it is calls
 *   nc_transfer_point, nc_transfer_point_children
 *                            as nc_transfer_inline and .._to_children, but the payload says where
 *                            the message is; the readers copy it from there
 *   nc_queue_await_ended     when it has ended the operation: the readers are through
 * The reader calls
 *   nc_transfer_meet         acquires R1, and reads the header
 *   nc_transfer_payload      copies an inline message out of the control slot, or one that has
 *                            stayed where it was from there
 *   nc_transfer_out          copies a fragment out of its slot, which nc_transfer_source finds
 *   nc_transfer_acknowledge  releases R2
 */

#ifndef NC_TRANSFER_H_INCLUDED
#define NC_TRANSFER_H_INCLUDED

#include <stdbool.h>
#include <string.h>

#include "../core/nc_frag.h"
#include "../core/nc_sibling.h"
#include "../core/nc_pace.h"
#include "../core/nc_route.h"
#include "nc_copy.h"
#include "nc_queue.h"

/* Some children of a rank: numbers from .. to - 1 in the order of nc_position_child. Each child
 * gets the announcements in its own receive control slot. */
struct nc_children {
    const struct nc_position *parent; /* of the rank whose children they are */
    int from, to;
};

/* One message between a stream of this rank and shared memory, as its writer or a reader sees it.
 * Private to a rank. */
struct nc_flow {
    /* where the fragments are announced: the writer has taken it. NULL: in the receive control
     * slots of `children` */
    struct nc_control *control;
    const struct nc_children *children; /* the writer takes their control slots with fragment 0 */
    struct nc_control_header header;
    struct nc_stream *stream;
    /* bytes of the message that are neither in the stream nor written into slots, as nobody reads
     * them there; none if they are equal. Only ranks that reduce use it */
    size_t kept_first, kept_end;
    /* elements of the message, and of each fragment but the last one; only ranks that reduce use
     * them */
    size_t elements, at_once;
    /* where this process has mapped the operand and the result of a rank; NULL: it has not looked.
     * Only nc_reduce_shared uses them */
    char *operand, *result;
    uint64_t fragments; /* 0: the message is inline */
    /* fragments moved so far; only roots of scatters and gathers use it, and senders of
     * nc_transfer_sends */
    uint64_t next;
    int rank;   /* the rank whose region has the slots */
    int how;    /* bits of nc_copy_how for the copies */
    int copied; /* 0, or the error of a copy; after it no more is copied */
};

/* A flow before its message: nothing to move, nothing moved, no error. The other fields come with
 * the message; gcc 12 would fill all of them with zeros by `rep stosq`, which is slow to begin. */
static inline void nc_transfer_clear(struct nc_flow *flow)
{
    flow->control = NULL;
    flow->fragments = flow->next = 0;
    flow->copied = 0;
}

/* Where a message is that does not go through the queue. */
struct nc_origin {
    const char *bytes; /* in the memory of .. */
    int rank;
    uint64_t place; /* in memory that the ranks share, see nc_transfer_place; 0: not there */
};

/* How messages are read straight out of the user buffer of another rank: out of its shared buffers
 * or an MPI window, if the message is there, otherwise by `fetch`. Private to a rank. */
struct nc_direct {
    /* bytes, at least NC_INLINE_BYTES: messages of no more go through the queue */
    size_t above;
    /* [ranks] the shared buffers of each rank, as this process has mapped them; NULL: there are
     * none. Nobody's message is at their first byte. */
    char *const *shared;
    const size_t *shared_bytes; /* [ranks] their lengths */
    /* Windows that all ranks have mapped (mpich/windows.h): the place of n bytes of this rank, with
     * NC_IN_WINDOW, 0: in no such window; and the bytes at such a place, of whatever rank. NULL:
     * windows do not count; nor do they without `shared`. */
    uint64_t (*window_place)(const void *ranks, const char *bytes, size_t n);
    char *(*window_bytes)(uint64_t place);
    const void *ranks;
    /* Copies n bytes of `from` to `to`. 0, or an error, which ends the copies of a message. NULL:
     * only messages in shared buffers are read directly. */
    int (*fetch)(void *context, void *to, const struct nc_origin *from, size_t n);
    void *context;
};

/* What all messages of a rank in a communicator have in common. mpich/ fills it. */
struct nc_transfer {
    struct nc_queue *queue;
    enum nc_frag_rule rule;    /* how the writer chooses the size of fragments */
    uint32_t largest_fragment; /* bytes; at most a slot */
    /* bytes: if a rank receives more in a call, it copies it out by streaming stores */
    size_t streams_above;
    /* bytes: of longer messages the writer measures which stores into slots are faster */
    size_t paces_above;
    /* bytes: what is written of a message of no more is demoted once it is announced, so that its
     * readers find it in the cache that all share; 0: never */
    size_t demotes_most;
    struct nc_sibling *sibling;     /* whether they are on this core; NULL: that is not measured */
    struct nc_pace *pace;           /* [ranks] by the rank whose region has the slots */
    const int *numa;                /* [ranks] NUMA node of each rank, for the traffic */
    const struct nc_direct *direct; /* NULL: all messages go through the queue */
    struct nc_traffic *traffic;
    struct nc_flow *flow;       /* [ranks] the flows of the current call; bcast needs none */
    struct nc_joint *joint;     /* [ranks] the same for joint copies, of nc_joint.h */
    struct nc_awaited *awaited; /* [2 * ranks] what they wait for; only roots use it */
};

/* The bit of nc_copy_how for a copy to or from the region of `rank`: whether it is on another NUMA
 * node than this rank. */
static inline int nc_transfer_remote(const struct nc_transfer *transfer, int rank)
{
    return transfer->numa[rank] != transfer->numa[transfer->queue->rank] ? NC_COPY_REMOTE : 0;
}

/* Bytes of fragment i. */
static inline size_t nc_transfer_bytes(const struct nc_flow *flow, uint64_t i)
{
    return nc_frag_bytes(flow->header.total, flow->header.fragment, i);
}

/* ---- the writer ---- */

/* Before the first announcement of a short message: measures how long it takes to get the clock's
 * line, at which the readers of the control slot have looked. Between two announcements of one
 * message they need not have. */
void nc_transfer_look_for_sibling(const struct nc_transfer *transfer, struct nc_control *control);

/* Whether what was written of a message is demoted. */
static inline bool nc_transfer_demotes(const struct nc_transfer *transfer,
                                       const struct nc_control_header *header)
{
    return header->total <= transfer->demotes_most &&
           !(transfer->sibling && transfer->sibling->found);
}

/* Announces fragment i in a control slot that is taken (R1); with i = 0 it writes the header
 * before. The fragment must be in its slot, or, if the message is inline (then i = 0), in the
 * payload. */
static inline void nc_transfer_announce(const struct nc_transfer *transfer,
                                        struct nc_control *control,
                                        const struct nc_control_header *header, uint64_t i)
{
    if (i == 0) {
        if (transfer->sibling && header->total <= transfer->demotes_most &&
            nc_sibling_is_due(transfer->sibling))
            nc_transfer_look_for_sibling(transfer, control);
        control->header = *header;
        control->header.call = transfer->queue->call;
    }
    nc_queue_announce(transfer->queue, control, i + 1);
}

/* After fragment i is announced: demotes its slot, if the message is short. After, because demoting
 * it before would hold up the announcement. */
static inline void nc_transfer_demote_slot(const struct nc_transfer *transfer,
                                           const struct nc_control_header *header, uint64_t i,
                                           const char *slot)
{
    if (nc_transfer_demotes(transfer, header))
        nc_copy_demote(slot, nc_frag_bytes(header->total, header->fragment, i), transfer->traffic);
}

/* Announces fragment i in the receive control slots of children, which it takes before fragment 0.
 */
void nc_transfer_announce_to_children(const struct nc_transfer *transfer,
                                      const struct nc_children *children,
                                      const struct nc_control_header *header, uint64_t i);

/* Whether the rest of the stream fits the payload of a control slot. The caller decides whether to
 * send it inline. */
static inline bool nc_transfer_is_inline(const struct nc_stream *stream)
{
    return nc_stream_rest(stream) <= NC_INLINE_BYTES;
}

/* The bit of a place that is in a window. */
#define NC_IN_WINDOW (1ull << 63)

/* Where n bytes of this rank are in memory that all ranks have mapped, all of them: an offset in
 * its shared buffers, or, with NC_IN_WINDOW, what direct->window_place says; 0: not there. */
uint64_t nc_transfer_place(const struct nc_transfer *transfer, const char *bytes, size_t n);

/* Where this process has mapped a place that is not 0, which `rank` has told. To be called, and
 * what it returns to be used, only as long as that rank is in the operation and waits for this one:
 * afterwards it may free the window. */
char *nc_transfer_at(const struct nc_transfer *transfer, int rank, uint64_t place);

/* Where the rest of a contiguous stream is, which this rank writes. */
struct nc_origin nc_transfer_origin(const struct nc_transfer *transfer,
                                    const struct nc_stream *stream);

/* Whether the rest of the stream is to be read straight out of its buffer; *origin: where it then
 * is. The caller decides. */
static inline bool nc_transfer_is_direct(const struct nc_transfer *transfer,
                                         const struct nc_stream *stream, struct nc_origin *origin)
{
    const struct nc_direct *d = transfer->direct;

    if (__builtin_expect(d == NULL, 1) || !stream->bytes || nc_stream_rest(stream) <= d->above)
        return false;
    *origin = nc_transfer_origin(transfer, stream);
    return d->fetch || origin->place;
}

/* Bytes of the payload of a control slot that are to be copied; nc_reduce_shared.c, whose payload
 * is another one, has it in place. */
static inline size_t nc_transfer_payload_bytes(const struct nc_control_header *header)
{
    return header->direct ? sizeof(struct nc_origin) : header->total;
}

/* After a short message is announced: demotes the payload of its control slot, but for the line of
 * the clock, which the reader looks at all the time. */
static inline void nc_transfer_demote_payload(const struct nc_transfer *transfer,
                                              const struct nc_control *control,
                                              const struct nc_control_header *header)
{
    size_t written = NC_PAYLOAD_AT + nc_transfer_payload_bytes(header), first = 64;

    if (written > first && nc_transfer_demotes(transfer, header))
        nc_copy_demote((const char *) control + first, written - first, transfer->traffic);
}

/* Writes an inline message, or where a message is: copies `payload` into a control slot that is
 * taken, and announces it (R1). `payload` may be that of the slot; then nothing is copied. All
 * writers of payloads end up here. */
static inline void nc_transfer_put(const struct nc_transfer *transfer, struct nc_control *control,
                                   const struct nc_control_header *header, const char *payload)
{
    if (payload != control->payload)
        memcpy(control->payload, payload, nc_transfer_payload_bytes(header));
    nc_transfer_announce(transfer, control, header, 0);
    nc_transfer_demote_payload(transfer, control, header);
}

/* Writes the rest of the stream as an inline message into a control slot that is taken, and
 * announces it. how: bits of nc_copy_how. 0, or the error of the copy; it is announced in any case.
 */
int nc_transfer_inline(const struct nc_transfer *transfer, struct nc_control *control,
                       struct nc_stream *stream, int how);

/* Writes the rest of the stream as an inline message into the receive control slots of children,
 * which it takes. 0, or the error of the copy; it is announced in any case. */
int nc_transfer_inline_to_children(const struct nc_transfer *transfer,
                                   const struct nc_children *children, struct nc_stream *stream);

/* Writes into a control slot that is taken, or into the receive control slots of children, which it
 * takes, that the rest of the stream is to be read out of its buffer, and announces that. origin:
 * as nc_transfer_is_direct has said. */
void nc_transfer_point(const struct nc_transfer *transfer, struct nc_control *control,
                       struct nc_stream *stream, const struct nc_origin *origin);
void nc_transfer_point_children(const struct nc_transfer *transfer,
                                const struct nc_children *children, struct nc_stream *stream,
                                const struct nc_origin *origin);

/* Passes an inline message, or where a message is, on into the receive control slots of children,
 * which it takes. `payload` is where this rank has received it, its own control slot. */
void nc_transfer_pass_on(const struct nc_transfer *transfer, const struct nc_children *children,
                         const struct nc_control_header *header, const char *payload);

/* Prepares to send the rest of the stream in fragments, through my send ring (rank: this rank) or
 * through the receive ring of another rank. The caller then sets flow->control or flow->children,
 * and for a receive ring header.first_slot.
 */
void nc_transfer_begin(const struct nc_transfer *transfer, struct nc_flow *flow,
                       struct nc_stream *stream, int rank);

/* Makes the fragments of a prepared flow as large as possible. Smaller fragments let readers copy
 * while the writer does; where all ranks write and read at the same time there is no such gain, and
 * each announcement costs. */
void nc_transfer_fill_slots(const struct nc_transfer *transfer, struct nc_flow *flow);

/* Takes the next slot of my send ring, for fragment i of this operation and its `readers`. */
static inline char *nc_transfer_take_slot(const struct nc_transfer *transfer,
                                          const struct nc_readers *readers, uint64_t i)
{
    struct nc_queue *q = transfer->queue;

    return nc_queue_take_slot(q, nc_clock_at(q->operation, i + 1), readers);
}

/* A copy into a slot, or part of one, whose time tells which stores are faster. */
struct nc_paced {
    struct nc_pace *pace; /* NULL: its time does not count */
    uint64_t began;       /* by nc_copy_clock */
    size_t bytes;
    int how; /* the kind of stores to use: a bit of nc_copy_how, or 0 */
};

#define NC_PACED_BYTES 256 /* bytes of a copy, at least; shorter ones tell too little */

/* Begins a copy of so many bytes of a message that this rank writes. */
static inline struct nc_paced nc_transfer_begin_copy(const struct nc_transfer *transfer,
                                                     const struct nc_flow *message, size_t bytes)
{
    struct nc_paced paced = {.bytes = bytes};

    if (!NC_COPY_STREAMS || message->header.total <= transfer->paces_above ||
        bytes < NC_PACED_BYTES)
        return paced;
    paced.pace = &transfer->pace[message->rank];
    paced.how = nc_pace_streams(paced.pace) ? NC_COPY_STREAMING : 0;
    paced.began = nc_copy_clock();
    return paced;
}

static inline void nc_transfer_end_copy(const struct nc_paced *paced)
{
    if (paced->pace)
        nc_pace_note(paced->pace, paced->how != 0, paced->bytes, nc_copy_clock() - paced->began);
}

/* Copies fragment i from the stream into a slot that is free, and announces it. An error of the
 * copy is kept in flow->copied, and the fragment is announced all the same. */
void nc_transfer_write(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                       char *slot);

/* Takes the next slot of my send ring for `readers`, and writes fragment i into it as
 * nc_transfer_write does. */
void nc_transfer_send(const struct nc_transfer *transfer, struct nc_flow *flow,
                      const struct nc_readers *readers, uint64_t i);

/* Where every rank sends and reads in rounds, fragment i of all messages in round i: whether this
 * rank sends fragment flow->next now, in `round`, before it reads. The fragment of the round it
 * must send, because others await it. Later ones go ahead where the slot is free, so that nobody
 * waits for this rank while it waits for others; but none into a slot whose fragment this rank has
 * still to read itself, in this round or later. */
static inline bool nc_transfer_sends(const struct nc_transfer *transfer, const struct nc_flow *flow,
                                     uint64_t round)
{
    struct nc_queue *q = transfer->queue;

    return flow->next < flow->fragments &&
           (flow->next <= round ||
            (flow->next < round + q->geometry.slots && nc_queue_slot_is_free(q)));
}

/* ---- the reader ---- */

/* The bit of nc_copy_how for copies out of a message of `total` bytes, of which a call receives
 * `alike` such messages: streaming stores, if together they exceed streams_above. */
static inline int nc_transfer_streams(const struct nc_transfer *transfer, uint64_t total, int alike)
{
    return total * (uint64_t) alike > transfer->streams_above ? NC_COPY_STREAMING : 0;
}

/* Waits for the first announcement in a control slot, and fills the flow as its header says; a
 * message of another call counts as an empty one. rank: whose region has the slots. alike: see
 * nc_transfer_streams. */
void nc_transfer_meet(const struct nc_transfer *transfer, struct nc_flow *flow,
                      struct nc_control *control, struct nc_stream *stream, int rank, int alike);

/* Where fragment i is in the send ring of the rank that has written it. It must be announced before
 * it is read. */
static inline const char *nc_transfer_source(const struct nc_transfer *transfer,
                                             const struct nc_flow *flow, uint64_t i)
{
    return nc_queue_slot(transfer->queue, flow->rank, flow->header.first_slot + i);
}

/* Copies the message that an announced control slot points to, out of its buffer into the stream.
 */
void nc_transfer_fetch(const struct nc_transfer *transfer, struct nc_flow *flow);

/* Copies an inline message, which is announced, out of the control slot into the stream; or, if it
 * says where the message is, from there. */
static inline void nc_transfer_payload(const struct nc_transfer *transfer, struct nc_flow *flow,
                                       int how)
{
    if (__builtin_expect(flow->header.direct, 0))
        nc_transfer_fetch(transfer, flow);
    else
        flow->copied = nc_copy_out(flow->stream, flow->control->payload, flow->header.total, how,
                                   transfer->traffic);
}

/* Copies fragment i, which is announced, out of its slot into the stream. */
void nc_transfer_out(const struct nc_transfer *transfer, struct nc_flow *flow, uint64_t i,
                     const char *slot);

/* Copies fragment i, which is announced, out of its slot into a slot of my send ring. */
void nc_transfer_relay(const struct nc_transfer *transfer, const struct nc_flow *flow, uint64_t i,
                       char *slot);

/* To be called when the first n fragments are read; `more`: whether this rank reads further ones in
 * this operation. At the end of a set of `set` slots it acknowledges them (R2). The last fragments
 * need no R2: nc_queue_end acknowledges them, and no writer waits for them before (PROTOCOLS.md,
 * section 4). */
static inline void nc_transfer_acknowledge(const struct nc_transfer *transfer, uint64_t n,
                                           bool more, uint32_t set)
{
    if (more && nc_frag_ends_set(n, set))
        nc_queue_acknowledge(transfer->queue, n);
}

#endif
