/* Gather and allgather inside a node: each sender writes into its own send control slot and send
 * ring, and receivers read from there. The bodies in coll/ call the functions of nc_gather.h; the
 * steps are nc_transfer's. Numbers are those of PROTOCOLS.md, section 3.4. In an allgather each
 * rank writes its fragment i, or is ahead with it, and then reads fragment i of the others, in
 * rounds; the root of a gather reads whatever is there. */

#include "nc_gather.h"

#include "nc_joint.h"

/* A rank's part in a call: in a gather as a sender or as the root, in an allgather as both. */
struct gather {
    struct nc_transfer *transfer;
    const struct nc_team *team;       /* allgather: the ranks it receives from, and itself */
    const struct nc_readers *told;    /* sender: who reads its send control slot */
    const struct nc_readers *readers; /* sender: who reads its slots */
    const int *group;      /* [ranks] group of each rank; slots are read in the sender's group only.
                              NULL: all who read the control slot read the slots */
    struct nc_flow *mine;  /* sender: its message; 0 fragments: nothing goes through slots */
    struct nc_stream *own; /* allgather: where this rank's own block goes; gather: NULL, or where
                              the root's goes .. */
    struct nc_stream *lone; /* .. and where it is; otherwise NULL */
    int open;               /* receiver: transfer->flow[0 .. open - 1] are left to read */
    int joint;   /* root of a gather: transfer->joint[0 .. joint - 1] are left to copy together */
    int copied;  /* 0, or the first error of a copy */
    bool direct; /* sender: its message is read out of its buffer; in a gather it is
                    transfer->joint[0] */
};

/* ---- sending ---- */

/* Copies a part of this rank's own block, which the others are at already, to where the blocks of
 * all go. total: bytes of the block. */
static void keep_own(struct gather *g, const char *packed, size_t bytes, uint64_t total)
{
    if (g->own)
        nc_keep_first(&g->copied,
                      nc_copy_out(g->own, packed, bytes,
                                  nc_transfer_streams(g->transfer, total, g->team->size), NULL));
}

/* Where the bytes are that were sent last. In the user's memory they are in the cache; shared
 * memory, in which they are packed, may have been written past it, or have been demoted. */
static const char *sent_last(const struct nc_stream *mine, size_t bytes, const char *shared)
{
    return mine->bytes ? mine->bytes + mine->at - bytes : shared;
}

/* G2, G3: the next fragment, into a slot that is taken for it. */
static void send_into(struct gather *g, char *slot)
{
    uint64_t i = g->mine->next++;
    size_t bytes = nc_transfer_bytes(g->mine, i);

    nc_transfer_write(g->transfer, g->mine, i, slot);
    keep_own(g, sent_last(g->mine->stream, bytes, slot), bytes, g->mine->header.total);
}

static void send_next(struct gather *g)
{
    send_into(g, nc_transfer_take_slot(g->transfer, g->readers, g->mine->next));
}

/* G1; and G2 and G3 of fragment 0, if the message goes through slots. */
static void send_first(struct gather *g, struct nc_stream *mine)
{
    struct nc_transfer *t = g->transfer;
    struct nc_control *control = nc_queue_take_send_control(t->queue, g->told);
    bool alone = g->group && g->readers->count[0] == 1; /* in its group */
    struct nc_origin origin;

    nc_transfer_clear(g->mine);
    g->direct = !alone && nc_transfer_is_direct(t, mine, &origin);
    if (nc_transfer_is_inline(mine)) {
        size_t bytes = nc_stream_rest(mine);
        g->copied = nc_transfer_inline(t, control, mine, 0);
        keep_own(g, sent_last(mine, bytes, control->payload), bytes, bytes);
        return;
    }
    if (g->direct) {
        size_t length = nc_stream_rest(mine);
        if (!g->own)
            nc_joint_begin(&t->joint[0], &origin, g->told->rank[0][0], control);
        nc_transfer_point(t, control, mine, &origin);
        keep_own(g, origin.bytes, length, length);
        return;
    }
    nc_transfer_begin(t, g->mine, mine, t->queue->rank);
    g->mine->control = control;
    if (g->told->count[0] > 1)
        nc_transfer_fill_slots(t, g->mine);
    if (alone) {
        /* nobody reads its slots, so only the length is announced */
        g->mine->fragments = 0;
        nc_transfer_announce(t, control, &g->mine->header, 0);
        return;
    }
    send_next(g);
}

/* G2 and G3 of a sender in an allgather: what it sends before it reads in this round. */
static void send_ahead(struct gather *g, uint64_t round)
{
    while (nc_transfer_sends(g->transfer, g->mine, round))
        send_next(g);
}

/* ---- receiving: allgather ---- */

/* G6: n fragments of every sender are read. */
static void acknowledge(const struct gather *g, uint64_t n)
{
    nc_transfer_acknowledge(g->transfer, n, g->open > 0, g->transfer->queue->geometry.set_slots);
}

/* G5: copies fragment i, which is announced. Returns whether the message has more fragments. */
static bool receive_fragment(struct gather *g, struct nc_flow *flow, uint64_t i)
{
    nc_transfer_out(g->transfer, flow, i, nc_transfer_source(g->transfer, flow, i));
    if (i + 1 < flow->fragments)
        return true;
    nc_keep_first(&g->copied, flow->copied);
    return false;
}

/* Whether this rank reads the slots of `rank`. */
static bool is_near(const struct gather *g, int rank)
{
    return !g->group || g->group[rank] == g->group[g->transfer->queue->rank];
}

/* Round 0 of a receiver, G4 and G5: from every other rank of the team the header, and the inline
 * message or fragment 0. Messages with more fragments become flows. */
static void receive_first(struct gather *g, struct nc_stream *from, size_t *sent)
{
    struct nc_transfer *t = g->transfer;
    struct nc_queue *q = t->queue;

    for (int k = 1; k < g->team->size; k++) {
        struct nc_flow *flow = &t->flow[g->open];
        int r = nc_team_after(g->team, k);

        nc_copy_prefetch_out(&from[r]);
        nc_transfer_meet(t, flow, nc_queue_send_control(q, r), &from[r], r, g->team->size);
        sent[r] = flow->header.total;
        if (flow->header.direct && !is_near(g, r))
            continue;
        if (flow->fragments == 0) {
            nc_transfer_payload(t, flow, flow->how);
            nc_keep_first(&g->copied, flow->copied);
        } else if (is_near(g, r) && receive_fragment(g, flow, 0)) {
            g->open++;
        }
    }
    acknowledge(g, 1);
}

/* G5: fragment i of each flow. Flows that are complete leave the list. */
static void receive_round(struct gather *g, uint64_t i)
{
    struct nc_flow *flow = g->transfer->flow;
    int kept = 0;

    for (int k = 0; k < g->open; k++) {
        nc_queue_await(g->transfer->queue, flow[k].control, i + 1);
        if (receive_fragment(g, &flow[k], i))
            flow[kept++] = flow[k];
    }
    g->open = kept;
    acknowledge(g, i + 1);
}

/* Rounds 1, 2, ... */
static void rounds(struct gather *g)
{
    for (uint64_t i = 1; g->mine->next < g->mine->fragments || g->open > 0; i++) {
        send_ahead(g, i);
        receive_round(g, i);
    }
    nc_keep_first(&g->copied, g->mine->copied);
}

/* ---- the root of a gather ---- */

/* Messages that need nothing of the root before it reads them: they fit a ring, and go through it.
 */
static bool fits_ring(const struct nc_transfer *t, const struct nc_flow *flow)
{
    uint64_t bytes = nc_stream_rest(flow->stream), fragments = flow->fragments;

    if (flow->next == 0) /* what the root expects, as it has not met the message yet */
        fragments = nc_frag_count(bytes, nc_frag_choose(bytes, t->largest_fragment, t->rule));
    return fragments <= t->queue->geometry.slots && !(t->direct && bytes > t->direct->above);
}

/* G6: announces, in the receive control slot of a sender, how many of its fragments are read. The
 * sender awaits each of these announcements, so that none of them comes when it has ended the
 * operation. */
static void release_slots(struct nc_transfer *t, const struct nc_flow *flow)
{
    struct nc_queue *q = t->queue;
    uint32_t set = q->geometry.set_slots;

    if (flow->next + q->geometry.slots < flow->fragments + set && nc_frag_ends_set(flow->next, set))
        nc_queue_announce(q, nc_queue_take_recv_control(q, flow->rank), flow->next);
}

/* What the root announces to the sender of a message that stays where it is, in its receive control
 * slot: an offer to copy it together, or nothing, and that it is read. */
enum { READ = 2 };

/* G5 and G6, of a message that stays where it is: the sender leaves when it is read, whether others
 * have come or not. */
static void read_there(struct gather *g, struct nc_flow *flow)
{
    struct nc_transfer *t = g->transfer;
    struct nc_control *control = nc_queue_take_recv_control(t->queue, flow->rank);
    uint64_t place = nc_joint_place(t, flow);

    if (place) {
        nc_joint_offer(t, &t->joint[g->joint++], flow, place, control);
        return;
    }
    if (flow->header.direct)
        nc_transfer_fetch(t, flow);
    nc_queue_announce(t->queue, control, READ);
}

/* One round over the messages that are copied together: a piece of each. Returns whether there was
 * anything to do. */
static bool copy_together(struct gather *g)
{
    struct nc_transfer *t = g->transfer;
    bool any = false;
    int kept = 0;

    for (int k = 0; k < g->joint; k++) {
        struct nc_joint *j = &t->joint[k];
        bool copied = nc_joint_copy(t, j), there = !copied && nc_joint_is_there(t, j);
        any |= copied || there;
        if (there) /* G6 */
            nc_queue_announce(t->queue, nc_queue_recv_control(t->queue, j->other), READ);
        else
            t->joint[kept++] = *j;
    }
    g->joint = kept;
    return any;
}

/* G4, of a message that is announced; if it does not go through slots, also G5. */
static void meet(struct gather *g, struct nc_flow *flow, size_t *sent)
{
    int senders = (int) g->transfer->queue->geometry.ranks - 1;

    nc_transfer_meet(g->transfer, flow, flow->control, flow->stream, flow->rank, senders);
    sent[flow->rank] = flow->header.total;
    if (flow->control->header.direct) /* also if it is of another call: that sender waits, too */
        read_there(g, flow);
    else if (flow->fragments == 0)
        nc_transfer_payload(g->transfer, flow, flow->how);
}

/* Reads what one sender has announced, but at most one ring of it, so that the other senders do not
 * wait for free slots meanwhile. Returns whether there was anything. */
static bool receive_what_is_there(struct gather *g, struct nc_flow *flow, size_t *sent)
{
    struct nc_queue *q = g->transfer->queue;
    uint64_t from = flow->next;

    if (!nc_queue_is_announced(q, flow->control, from + 1))
        return false;
    if (from == 0)
        meet(g, flow, sent);
    do {
        if (flow->fragments)
            nc_transfer_out(g->transfer, flow, flow->next,
                            nc_transfer_source(g->transfer, flow, flow->next));
        flow->next++;
        release_slots(g->transfer, flow);
    } while (flow->next < flow->fragments && flow->next < from + q->geometry.slots &&
             nc_queue_is_announced(q, flow->control, flow->next + 1));
    return true;
}

/* One round over all senders. Messages that are complete leave the list. Returns whether there was
 * anything to read. */
static bool receive_all_there_is(struct gather *g, size_t *sent)
{
    struct nc_flow *flow = g->transfer->flow;
    bool any = false;
    int kept = 0;

    for (int k = 0; k < g->open; k++) {
        any |= receive_what_is_there(g, &flow[k], sent);
        if (flow[k].next == 0 || flow[k].next < flow[k].fragments)
            flow[kept++] = flow[k];
        else
            nc_keep_first(&g->copied, flow[k].copied);
    }
    g->open = kept;
    return any;
}

/* Waits until there is something to read. Of the messages that fit a ring only the first is
 * awaited: when it comes, others are there, too, and nobody waits for the root meanwhile. */
static void await_any(const struct gather *g)
{
    struct nc_transfer *t = g->transfer;
    bool fits = false;
    int n = 0;

    for (int k = 0; k < g->open; k++) {
        const struct nc_flow *flow = &t->flow[k];
        if (fits && fits_ring(t, flow))
            continue;
        fits |= fits_ring(t, flow);
        t->awaited[n++] = nc_queue_announced(t->queue, flow->control, flow->next + 1);
    }
    for (int k = 0; k < g->joint; k++)
        t->awaited[n++] = nc_joint_rest(t, &t->joint[k]);
    nc_wait_any(t->awaited, n, t->queue->waiter);
}

/* Copies what is to be copied without the queue: a piece of the root's own block, or when that is
 * copied, of each message that is copied together with its sender. Its own block first, because
 * that the senders cannot copy. Returns whether there was anything. */
static bool copy_pieces(struct gather *g)
{
    if (!g->lone)
        return copy_together(g);
    if (!nc_joint_copy_own(g->transfer, g->lone, g->own, &g->copied))
        g->lone = NULL;
    return true;
}

/* A sender that is late holds up none of the others. */
static void receive(struct gather *g, struct nc_stream *from, size_t *sent)
{
    struct nc_queue *q = g->transfer->queue;

    for (int r = nc_queue_next(q, q->rank); r != q->rank; r = nc_queue_next(q, r)) {
        struct nc_flow *flow = &g->transfer->flow[g->open++];
        nc_transfer_clear(flow);
        flow->control = nc_queue_send_control(q, r);
        flow->stream = &from[r];
        flow->rank = r;
        nc_copy_prefetch_out(&from[r]);
    }
    while (g->open > 0 || g->joint > 0 || g->lone) {
        bool any = receive_all_there_is(g, sent);
        any |= copy_pieces(g);
        if (!any)
            await_any(g);
    }
}

/* ---- the senders of a gather ---- */

/* G2: the slot for fragment i. A slot that has an earlier fragment of the message is free when the
 * root has announced in my receive control slot that it has read that (acquire of R1). */
static char *take_slot(struct gather *g, uint64_t i)
{
    struct nc_queue *q = g->transfer->queue;

    if (i < q->geometry.slots)
        return nc_transfer_take_slot(g->transfer, g->readers, i);
    nc_queue_await(q, nc_queue_recv_control(q, q->rank), i - q->geometry.slots + 1);
    return nc_queue_take_slot_again(q);
}

/* Copies what stays where it is together with the root, if the root offers to, and waits until it
 * is read. */
static void await_read(struct gather *g)
{
    struct nc_queue *q = g->transfer->queue;
    struct nc_control *control = nc_queue_recv_control(q, q->rank);

    nc_queue_await(q, control, 1);
    if (nc_queue_has_announced(q, control, 1)) {
        if (!nc_queue_is_of_call(q, control, g->told->rank[0][0]))
            return;
        nc_joint_help(g->transfer, &g->transfer->joint[0], control);
    }
    nc_queue_await(q, control, READ); /* G6 */
}

static void send(struct gather *g, struct nc_stream *mine)
{
    send_first(g, mine);
    if (g->direct)
        await_read(g);
    while (g->mine->next < g->mine->fragments)
        send_into(g, take_slot(g, g->mine->next));
    nc_keep_first(&g->copied, g->mine->copied);
}

/* ---- the calls ---- */

int nc_gather_node(struct nc_transfer *t, int root, struct nc_stream *mine, struct nc_stream *from,
                   size_t *sent)
{
    struct nc_readers reader = nc_queue_one(t->queue, root);
    struct nc_flow flow;
    struct gather g = {.transfer = t, .told = &reader, .readers = &reader, .mine = &flow};

    if (t->queue->rank == root) {
        g.lone = mine;
        g.own = &from[root];
        receive(&g, from, sent);
    } else {
        send(&g, mine);
    }
    nc_queue_end(t->queue);
    return g.copied;
}

static int allgather(struct gather *g, struct nc_stream *mine, struct nc_stream *from, size_t *sent)
{
    int rank = g->transfer->queue->rank;

    sent[rank] = nc_stream_rest(mine);
    g->own = &from[rank];
    send_first(g, mine);
    send_ahead(g, 0);
    receive_first(g, from, sent);
    rounds(g);
    nc_queue_end(g->transfer->queue);
    if (g->direct)
        nc_queue_await_ended(g->transfer->queue, g->readers);
    return g->copied;
}

int nc_allgather_node(struct nc_transfer *t, const struct nc_groups *groups, struct nc_stream *mine,
                      struct nc_stream *from, size_t *sent)
{
    struct nc_team all = nc_queue_everybody(t->queue);
    struct nc_group near = nc_group_at(groups, 0, t->queue->rank, 0);
    struct nc_readers told = nc_queue_team(&all);
    struct nc_readers readers = {.rank = {near.member, NULL}, .count = {near.size, 0}};
    struct nc_flow flow;
    struct gather g = {.transfer = t,
                       .team = &all,
                       .told = &told,
                       .readers = &readers,
                       .group = groups->of[0],
                       .mine = &flow};

    return allgather(&g, mine, from, sent);
}

int nc_allgather_team(struct nc_transfer *t, const struct nc_team *team, struct nc_stream *mine,
                      struct nc_stream *from, size_t *sent)
{
    struct nc_readers readers = nc_queue_team(team);
    struct nc_flow flow;
    struct gather g = {
        .transfer = t, .team = team, .told = &readers, .readers = &readers, .mine = &flow};

    return allgather(&g, mine, from, sent);
}
