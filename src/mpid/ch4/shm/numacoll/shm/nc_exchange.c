/* The exchange of blocks between all pairs of ranks of a node: in each round a rank meets one other
 * rank, writes its block for it into its own send ring, or inline into its own send control slot,
 * and reads that rank's block out of there. coll/alltoall.c calls the functions of nc_exchange.h;
 * the steps are nc_transfer's. Numbers are those of PROTOCOLS.md, section 3.9. */

#include "nc_exchange.h"

#include "../core/nc_pairs.h"

/* Whom this rank meets in a round; itself: nobody. */
static int partner_in(const struct nc_exchange *x, int round)
{
    return x->team->rank[nc_pairs_partner(x->team->size, x->team->index, round)];
}

/* Makes the operation of a round the current one. */
static void turn_to(const struct nc_exchange *x, int round)
{
    x->transfer->queue->operation = x->first + (uint64_t) round;
}

/* ---- sending; the current operation is that of the round `sending` ---- */

/* X1: takes the send control slot of the round, if it is free; sends a block that fits it. Returns
 * whether it was free. */
static bool begin_block(struct nc_exchange *x, int partner)
{
    struct nc_transfer *t = x->transfer;
    struct nc_readers reader = nc_queue_one(t->queue, partner);
    struct nc_control *control;

    if (!nc_queue_send_control_is_free(t->queue))
        return false;
    control = nc_queue_take_send_control(t->queue, &reader);
    x->blocks->sent(x->blocks->context, partner, &x->sent);
    if (nc_transfer_is_inline(&x->sent)) {
        x->out.copied = nc_transfer_inline(t, control, &x->sent, 0);
    } else {
        nc_transfer_begin(t, &x->out, &x->sent, t->queue->rank);
        nc_transfer_fill_slots(t, &x->out);
    }
    x->out.control = control;
    return true;
}

/* X2: sends the next fragment of the block, if its slot is free. Returns whether it was. */
static bool send_fragment(struct nc_exchange *x, int partner)
{
    struct nc_queue *q = x->transfer->queue;
    struct nc_readers reader = nc_queue_one(q, partner);

    if (!nc_queue_slot_is_free(q))
        return false;
    nc_transfer_send(x->transfer, &x->out, &reader, x->out.next++);
    return true;
}

/* What comes next of X1 and X2. Returns whether it could be done without waiting. */
static bool send_next(struct nc_exchange *x)
{
    int partner = partner_in(x, x->sending);

    if (partner != x->transfer->queue->rank) {
        if (!x->out.control && !begin_block(x, partner))
            return false;
        if (x->out.next < x->out.fragments && !send_fragment(x, partner))
            return false;
        if (x->out.next < x->out.fragments)
            return true;
        nc_keep_first(&x->copied, x->out.copied);
    }
    nc_transfer_clear(&x->out);
    x->sending++;
    return true;
}

/* Sends all it can without waiting, also for rounds whose blocks it has still to receive. Returns
 * whether there was anything. */
static bool send_ahead(struct nc_exchange *x)
{
    int before = x->sending;
    uint64_t next = x->out.next;

    while (x->sending < x->rounds) {
        turn_to(x, x->sending);
        if (!send_next(x))
            break;
    }
    turn_to(x, x->receiving);
    return x->sending > before || x->out.next > next;
}

/* ---- receiving; the current operation is that of the round `receiving` ---- */

/* Whether this rank has still to read a block, or the next fragment of it, in this round, and has
 * sent as much of its own block for that rank, whose place this one may take. */
static bool may_read(const struct nc_exchange *x, int partner)
{
    const struct nc_flow *in = &x->in;

    return partner != x->transfer->queue->rank && (in->next == 0 || in->next < in->fragments) &&
           (x->sending > x->receiving || x->out.next > in->next);
}

/* X3, for the first part of a block: reads its header. */
static void meet(struct nc_exchange *x, int partner)
{
    struct nc_transfer *t = x->transfer;

    x->blocks->received(x->blocks->context, partner, &x->received);
    nc_transfer_meet(t, &x->in, nc_queue_send_control(t->queue, partner), &x->received, partner,
                     x->team->size - 1);
    if (x->in.header.total > x->received.length && !x->too_long) {
        x->too_long = x->in.header.total;
        x->room = x->received.length;
    }
}

/* X3: reads what is announced: the inline block, or the next fragment. */
static void receive_next(struct nc_exchange *x, int partner)
{
    struct nc_transfer *t = x->transfer;
    struct nc_flow *in = &x->in;
    uint64_t i = in->next++;

    if (i == 0)
        meet(x, partner);
    if (in->fragments == 0)
        nc_transfer_payload(t, in, in->how);
    else
        nc_transfer_out(t, in, i, nc_transfer_source(t, in, i));
    nc_transfer_acknowledge(t, i + 1, i + 1 < in->fragments, t->queue->geometry.set_slots);
}

/* Whether this rank has read the block of the round, or has none to read. */
static bool has_read(const struct nc_exchange *x, int partner)
{
    return partner == x->transfer->queue->rank || (x->in.next > 0 && x->in.next >= x->in.fragments);
}

/* What comes next in the round: X3, and, when both blocks are through, its end, X4. Returns whether
 * anything could be done without waiting. */
static bool receive(struct nc_exchange *x)
{
    struct nc_queue *q = x->transfer->queue;
    int partner = partner_in(x, x->receiving);
    bool reads = may_read(x, partner) &&
                 nc_queue_is_announced(q, nc_queue_send_control(q, partner), x->in.next + 1);

    if (reads)
        receive_next(x, partner);
    if (!has_read(x, partner) || x->sending <= x->receiving)
        return reads;
    nc_keep_first(&x->copied, x->in.copied);
    nc_transfer_clear(&x->in);
    nc_queue_end(q);
    x->receiving++;
    return true;
}

/* ---- the call ---- */

/* X5: waits for what X1 or X2 needs, or X3, whichever comes first. */
static void await_any(struct nc_exchange *x)
{
    struct nc_queue *q = x->transfer->queue;
    int n = 0, partner = partner_in(x, x->receiving);
    struct nc_awaited awaited[2];

    if (x->sending < x->rounds) {
        turn_to(x, x->sending);
        awaited[n++] = x->out.control ? nc_queue_slot_free(q) : nc_queue_send_control_free(q);
        turn_to(x, x->receiving);
    }
    if (may_read(x, partner))
        awaited[n++] = nc_queue_announced(q, nc_queue_send_control(q, partner), x->in.next + 1);
    nc_wait_any(awaited, n, q->waiter);
}

void nc_exchange_begin(struct nc_exchange *x, struct nc_transfer *t, const struct nc_team *team,
                       const struct nc_exchange_blocks *blocks)
{
    x->transfer = t;
    x->team = team;
    x->blocks = blocks;
    x->first = t->queue->operation;
    x->rounds = nc_pairs_rounds(team->size);
    x->sending = x->receiving = 0;
    nc_transfer_clear(&x->out);
    nc_transfer_clear(&x->in);
    x->too_long = x->room = 0;
    x->copied = 0;
    send_ahead(x);
}

int nc_exchange_end(struct nc_exchange *x)
{
    while (x->receiving < x->rounds) {
        bool any = send_ahead(x);
        any |= receive(x);
        if (!any)
            await_any(x);
    }
    return x->copied;
}
