/* Joint copies. See nc_joint.h; numbers are those of PROTOCOLS.md, section 3.8. */

#include "nc_joint.h"

#include <string.h>

/* ---- either side ---- */

/* The order of the claims is that of the word alone: who has claimed a piece writes it, and nobody
 * reads it before that has been announced. */
bool nc_joint_copy(const struct nc_transfer *t, struct nc_joint *j)
{
    size_t at = j->taken ? j->bytes : nc_atomic_add_ordered(&j->offer->claimed, 1) * NC_PIECE, n;

    if (at >= j->bytes) {
        j->taken = true;
        return false;
    }
    /* the writer, once it has a piece: before, the reader may be through and free its window */
    if (!j->to)
        j->to = nc_transfer_at(t, j->other, j->offer->place);
    n = j->bytes - at < NC_PIECE ? j->bytes - at : NC_PIECE;
    nc_copy_bytes(j->to + at, j->from + at, n, j->how);
    t->traffic->shared += n;
    j->mine++;
    return true;
}

/* ---- a root's own block ---- */

bool nc_joint_takes_own(const struct nc_transfer *t, const struct nc_stream *from,
                        const struct nc_stream *to)
{
    const struct nc_direct *d = t->direct;

    return d && d->shared && from->bytes && nc_stream_rest(from) == nc_stream_rest(to) &&
           nc_stream_rest(from) > d->above;
}

bool nc_joint_copy_own(const struct nc_transfer *t, struct nc_stream *from, struct nc_stream *to,
                       int *error)
{
    size_t n = nc_stream_rest(from);

    if (n == 0)
        return false;
    if (n > NC_PIECE)
        n = NC_PIECE;
    nc_keep_first(error, nc_copy_out(to, from->bytes + from->at, n,
                                     nc_transfer_streams(t, from->length, 1), NULL));
    from->at += n;
    return true;
}

/* ---- the reader ---- */

static struct nc_origin origin_of(const struct nc_flow *flow)
{
    struct nc_origin origin;

    memcpy(&origin, flow->control->payload, sizeof origin);
    return origin;
}

uint64_t nc_joint_place(const struct nc_transfer *t, const struct nc_flow *flow)
{
    const struct nc_stream *s = flow->stream;

    if (!flow->header.direct || !s->bytes || nc_stream_rest(s) == 0 || !origin_of(flow).place)
        return 0;
    return nc_transfer_place(t, s->bytes + s->at, nc_stream_rest(s));
}

void nc_joint_offer(const struct nc_transfer *t, struct nc_joint *j, const struct nc_flow *flow,
                    uint64_t place, struct nc_control *control)
{
    struct nc_stream *s = flow->stream;
    struct nc_origin origin = origin_of(flow);
    struct nc_control_header header = {.total = flow->header.total, .direct = 1};

    if (header.total > nc_stream_rest(s))
        header.total = nc_stream_rest(s);
    *j = (struct nc_joint){.told = flow->control,
                           .offer = (struct nc_offer *) control->payload,
                           .from = nc_transfer_at(t, origin.rank, origin.place),
                           .to = s->bytes + s->at,
                           .bytes = header.total,
                           .other = flow->rank,
                           .how = flow->how};
    s->at += header.total;
    *j->offer = (struct nc_offer){.place = place};
    nc_transfer_put(t, control, &header, control->payload); /* H1 */
}

/* What the writer announces with its last piece, when all are taken. */
static uint64_t last_of(const struct nc_joint *j)
{
    return 1 + (j->bytes + NC_PIECE - 1) / NC_PIECE - j->mine;
}

struct nc_awaited nc_joint_rest(const struct nc_transfer *t, const struct nc_joint *j)
{
    return nc_queue_announced(t->queue, j->told, last_of(j));
}

bool nc_joint_is_there(const struct nc_transfer *t, const struct nc_joint *j)
{
    return nc_queue_is_announced(t->queue, j->told, last_of(j));
}

bool nc_joint_receive(const struct nc_transfer *t, const struct nc_flow *flow, int writer)
{
    struct nc_readers reader = nc_queue_one(t->queue, writer);
    uint64_t place = nc_joint_place(t, flow);
    struct nc_joint j;

    if (!place || !nc_queue_send_control_is_free(t->queue))
        return false;
    nc_joint_offer(t, &j, flow, place, nc_queue_take_send_control(t->queue, &reader));
    while (nc_joint_copy(t, &j)) /* H2 */
        ;
    nc_queue_await(t->queue, j.told, last_of(&j)); /* H3 */
    return true;
}

/* ---- the writer ---- */

bool nc_joint_begin(struct nc_joint *j, const struct nc_origin *message, int reader,
                    struct nc_control *told)
{
    *j = (struct nc_joint){.told = told, .from = message->bytes, .other = reader};
    return message->place != 0;
}

static void accept(const struct nc_transfer *t, struct nc_joint *j, struct nc_control *control)
{
    j->offer = (struct nc_offer *) control->payload;
    j->bytes = control->header.total;
    j->how = nc_transfer_streams(t, j->bytes, 1);
}

/* H2. Returns false if all pieces are taken. */
static bool help(const struct nc_transfer *t, struct nc_joint *j)
{
    if (!nc_joint_copy(t, j))
        return false;
    nc_queue_announce(t->queue, j->told, 1 + j->mine);
    return true;
}

void nc_joint_help(const struct nc_transfer *t, struct nc_joint *j, struct nc_control *control)
{
    accept(t, j, control);
    while (help(t, j))
        ;
}

/* Takes the reader's offer if there is one. Returns whether there will be none: the reader has
 * ended the operation, or is in another call. */
static bool ends_alone(const struct nc_transfer *t, struct nc_joint *j)
{
    struct nc_queue *q = t->queue;
    struct nc_control *control = nc_queue_send_control(q, j->other);

    if (j->offer)
        return false;
    if (nc_queue_has_ended(q, j->other))
        return true;
    if (!nc_queue_is_announced(q, control, 1))
        return false;
    /* 1 and no more: a reader that has ended this operation meanwhile may announce there in a later
     * one. But if it has made an offer, it does not before this rank has ended the operation, too
     */
    if (!nc_queue_has_announced(q, control, 1) || !nc_queue_is_of_call(q, control, j->other))
        return true;
    accept(t, j, control);
    return false;
}

/* Waits until one of the readers makes an offer, or ends the operation, or a stranger comes. */
static void await_any(const struct nc_transfer *t, const struct nc_joint *joint, int n)
{
    struct nc_queue *q = t->queue;

    t->awaited[2 * n] = nc_queue_announced(q, nc_queue_recv_control(q, q->rank), 1);
    for (int k = 0; k < n; k++) {
        t->awaited[2 * k] = nc_queue_announced(q, nc_queue_send_control(q, joint[k].other), 1);
        t->awaited[2 * k + 1] = nc_queue_ending(q, joint[k].other);
    }
    nc_wait_any(t->awaited, 2 * n + 1, q->waiter);
}

void nc_joint_help_all(const struct nc_transfer *t, struct nc_joint *joint, int n)
{
    struct nc_queue *q = t->queue;

    /* nobody announces to a root, but one that believes to be another root of the same call: it
     * waits for an offer as this rank does, so one has to leave */
    while (n > 0 && !nc_queue_is_announced(q, nc_queue_recv_control(q, q->rank), 1)) {
        bool any = false;
        int kept = 0;
        for (int k = 0; k < n; k++) {
            struct nc_joint *j = &joint[k];
            if (ends_alone(t, j) || (j->offer && !help(t, j)))
                continue;
            any |= j->offer != NULL;
            joint[kept++] = *j;
        }
        n = kept;
        if (n > 0 && !any)
            await_any(t, joint, n);
    }
}
