/* Scatter inside a node: the root writes the block of each rank into that rank's control slot or
 * receive ring. coll/scatter.c calls nc_scatter_node; the steps are nc_transfer's. Numbers are
 * those of PROTOCOLS.md, section 3.3. */

#include "nc_scatter.h"

#include "nc_joint.h"

/* ---- places in a receive ring ----
 *
 * A scatter begins in the ring behind the slots that its root has filled before, and where
 * fragments are shorter than slots, each turn of the ring begins at another distance from the begin
 * of the slots. So messages of some KiB, too, use most of the ring before its lines come back, and
 * the root does not write what is still in the reader's cache. Place p of a ring of s slots is in
 * slot p mod s, p / s distances from its begin. Which place is free does not depend on who has used
 * it: the reader has ended all earlier operations (nc_queue_recv_slot_is_free). */

/* Shorter messages stay at the begin of their slots: elsewhere each would come to lines that were
 * not used for long, which costs them more than it saves. */
#define PLACED_BYTES 4096

/* Bytes between two places of a slot. */
static uint32_t distance(const struct nc_control_header *header)
{
    return (header->fragment + 63) & ~(uint32_t) 63;
}

/* The root: the place of fragment 0, below NC_FIRST_SLOT_MASK + 1. */
static uint32_t first_place(const struct nc_queue *q, const struct nc_control_header *header)
{
    uint32_t slots = q->layout.recv_slots, slot = (uint32_t) (q->scattered % slots);
    uint32_t places = q->geometry.slot_bytes / distance(header);
    uint32_t most = (NC_FIRST_SLOT_MASK + 1) / slots;

    if (places > most)
        places = most;
    if (places < 2 || header->total < PLACED_BYTES)
        return slot;
    return slot + (uint32_t) (q->scattered / slots % places) * slots;
}

/* Where fragment i is in the reader's receive ring. */
static char *find_place(const struct nc_queue *q, const struct nc_flow *flow, uint64_t i)
{
    uint32_t slots = q->layout.recv_slots, first = flow->header.first_slot;

    return nc_queue_recv_slot(q, flow->rank, first + i) +
           (size_t) (first / slots) * distance(&flow->header);
}

/* ---- the root ---- */

/* What the root has still to do. */
struct scatter {
    struct nc_transfer *transfer;
    int open;   /* transfer->flow[0 .. open - 1] are messages with fragments left to send */
    int direct; /* so many flows at the end of the array say who reads out of the root's buffer */
    int joint;  /* transfer->joint[0 .. joint - 1] are those of them that may be copied together */
    uint64_t fragments; /* of the longest message in fragments; 0: there is none */
    int copied;         /* 0, or the first error of a copy */
};

/* Where the i-th reader out of the root's buffer is kept. */
static int *direct_reader(const struct scatter *s, int i)
{
    return &s->transfer->flow[(int) s->transfer->queue->geometry.ranks - 1 - i].rank;
}

/* S1, for a message that fits a control slot. */
static void send_inline(struct scatter *s, struct nc_stream *to, int reader)
{
    struct nc_transfer *t = s->transfer;
    struct nc_control *control = nc_queue_take_recv_control(t->queue, reader);

    nc_keep_first(&s->copied, nc_transfer_inline(t, control, to, nc_transfer_remote(t, reader)));
}

/* S1, for a message that is read out of its buffer. */
static void send_origin(struct scatter *s, struct nc_stream *to, const struct nc_origin *origin,
                        int reader)
{
    struct nc_transfer *t = s->transfer;
    struct nc_control *control = nc_queue_take_recv_control(t->queue, reader);

    s->joint += nc_joint_begin(&t->joint[s->joint], origin, reader, control);
    nc_transfer_point(t, control, to, origin);
    *direct_reader(s, s->direct++) = reader;
}

/* S1, for a message in fragments. */
static void begin_flow(struct scatter *s, struct nc_stream *to, int reader)
{
    struct nc_transfer *t = s->transfer;
    struct nc_flow *flow = &t->flow[s->open++];

    nc_transfer_begin(t, flow, to, reader);
    flow->header.first_slot = first_place(t->queue, &flow->header) & NC_FIRST_SLOT_MASK;
    if (s->fragments < flow->fragments)
        s->fragments = flow->fragments;
}

/* S1: sends each message that fits a control slot, or that is read out of its buffer; the others
 * become flows. */
static void send_first(struct scatter *s, struct nc_stream *to)
{
    struct nc_transfer *t = s->transfer;
    struct nc_queue *q = t->queue;

    for (int r = nc_queue_next(q, q->rank); r != q->rank; r = nc_queue_next(q, r)) {
        struct nc_origin origin;
        if (nc_transfer_is_inline(&to[r]))
            send_inline(s, &to[r], r);
        else if (nc_transfer_is_direct(t, &to[r], &origin))
            send_origin(s, &to[r], &origin, r);
        else
            begin_flow(s, &to[r], r);
    }
}

/* S2: writes the next fragment of a flow into the reader's receive ring, where its slot is free. */
static void send_fragment(struct nc_transfer *t, struct nc_flow *flow)
{
    struct nc_queue *q = t->queue;
    uint64_t i = flow->next++;

    if (i == 0)
        flow->control = nc_queue_take_recv_control(q, flow->rank);
    nc_transfer_write(t, flow, i, find_place(q, flow, i));
}

/* Sends to one reader as many fragments as its receive ring takes without waiting, but at most one
 * ring of them, so that the other readers do not run out of work. Returns how many. */
static uint32_t send_what_fits(struct nc_transfer *t, struct nc_flow *flow)
{
    struct nc_queue *q = t->queue;
    uint32_t sent = 0;

    while (sent < q->layout.recv_slots && flow->next < flow->fragments &&
           nc_queue_recv_slot_is_free(q, flow->rank, flow->next)) {
        send_fragment(t, flow);
        sent++;
    }
    return sent;
}

/* One round over all flows. Flows that are complete leave the list. Returns whether a fragment was
 * sent. */
static bool send_round(struct scatter *s)
{
    struct nc_flow *flow = s->transfer->flow;
    bool any = false;
    int kept = 0;

    for (int k = 0; k < s->open; k++) {
        any |= send_what_fits(s->transfer, &flow[k]) > 0;
        if (flow[k].next < flow[k].fragments)
            flow[kept++] = flow[k];
        else
            nc_keep_first(&s->copied, flow[k].copied);
    }
    s->open = kept;
    return any;
}

/* Waits until one of the readers has a free slot. */
static void await_any(const struct scatter *s)
{
    struct nc_transfer *t = s->transfer;

    for (int k = 0; k < s->open; k++)
        t->awaited[k] = nc_queue_recv_slot_free(t->queue, t->flow[k].rank, t->flow[k].next);
    nc_wait_any(t->awaited, s->open, t->queue->waiter);
}

/* A reader that is late holds up none of the others. */
static void send_fragments(struct scatter *s)
{
    while (s->open > 0) {
        if (!send_round(s))
            await_any(s);
    }
}

/* The root's part; also ends the operation. */
static int send(struct nc_transfer *t, struct nc_stream *to, struct nc_stream *mine)
{
    struct scatter s = {.transfer = t};

    send_first(&s, to);
    send_fragments(&s);
    t->queue->scattered += s.fragments;
    while (mine && nc_joint_copy_own(t, &to[t->queue->rank], mine, &s.copied))
        ;
    nc_joint_help_all(t, t->joint, s.joint);
    nc_queue_end(t->queue);
    for (int i = 0; i < s.direct; i++) {
        struct nc_readers reader = nc_queue_one(t->queue, *direct_reader(&s, i));
        nc_queue_await_ended(t->queue, &reader);
    }
    return s.copied;
}

/* ---- the other ranks ---- */

/* S3: copies each fragment out of my own receive ring when it is announced. */
static void receive_fragments(struct nc_transfer *t, struct nc_flow *flow)
{
    struct nc_queue *q = t->queue;

    for (uint64_t i = 0; i < flow->fragments; i++) {
        nc_queue_await(q, flow->control, i + 1);
        nc_transfer_out(t, flow, i, find_place(q, flow, i));
        nc_transfer_acknowledge(t, i + 1, i + 1 < flow->fragments, q->layout.recv_set);
    }
}

/* A reader's part; also ends the operation. */
static int receive(struct nc_transfer *t, int root, struct nc_stream *mine, size_t *sent)
{
    struct nc_queue *q = t->queue;
    struct nc_flow flow;

    nc_copy_prefetch_out(mine);
    nc_transfer_meet(t, &flow, nc_queue_recv_control(q, q->rank), mine, q->rank, 1);
    *sent = flow.header.total;
    if (flow.fragments)
        receive_fragments(t, &flow);
    else if (!nc_joint_receive(t, &flow, root))
        nc_transfer_payload(t, &flow, flow.how);
    nc_queue_end(q);
    return flow.copied;
}

int nc_scatter_node(struct nc_transfer *t, int root, struct nc_stream *to, struct nc_stream *mine,
                    size_t *sent)
{
    return t->queue->rank == root ? send(t, to, mine) : receive(t, root, mine, sent);
}
