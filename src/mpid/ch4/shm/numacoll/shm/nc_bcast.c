#include "nc_bcast.h"

#include <string.h>

/* A rank's part in a call. Those I lead, and those I hand on to, read my ring; in a flat group that
 * I do not lead my children read what I read. */
struct part {
    struct nc_position place;
    int source;  /* whose ring the fragments are in for me; of the root -1 */
    int beside;  /* children, the first, that read there too */
    bool relays; /* others read my ring, so I take the fragments into it */
};

static void find_part(struct part *p, const struct nc_bcast *b, int root)
{
    int own;

    nc_position_find(&p->place, &b->route, root);
    own = p->place.levels - 1;
    p->source = p->place.parent;
    p->beside = 0;
    if (p->place.parent >= 0 && b->route.level[own].flat) {
        p->source = p->place.leader;
        p->beside = p->place.level[own].children;
    }
    p->relays = p->beside < p->place.children;
}

static int child(const struct part *p, int i)
{
    return nc_position_child(&p->place, i);
}

/* The readers of my ring: those I lead, and in a group that I do not lead those I hand on to. */
static struct nc_readers readers_of(const struct nc_bcast *b, const struct part *p)
{
    struct nc_readers r = {.rank = {b->route.led, NULL}, .count = {b->route.all, 0}};
    int own = p->place.levels - 1;

    if (p->place.parent >= 0)
        r.count[0] = b->route.level[own].below;
    if (p->place.parent >= 0 && !b->route.level[own].flat) {
        r.rank[1] = p->place.level[own].child;
        r.count[1] = p->place.level[own].children;
    }
    return r;
}

/* ---- telling: children from .. to - 1 ---- */

/* Hands header and, of an inline message, payload to each, as the announcement of the first
 * fragment. */
static int tell_first(struct nc_bcast *b, const struct part *p, int from, int to,
                      const struct nc_control_header *header, const char *payload)
{
    struct nc_queue *q = b->transfer.queue;

    for (int i = from; i < to; i++) {
        struct nc_control *control;
        int error = nc_queue_take_recv_control(q, child(p, i), &control);
        if (error)
            return error;
        control->header = *header;
        if (header->fragment == 0)
            memcpy(control->payload, payload, header->total);
        nc_queue_announce(q, control, 1);
    }
    return 0;
}

static int tell(struct nc_bcast *b, const struct part *p, int from, int to, uint64_t n)
{
    struct nc_queue *q = b->transfer.queue;

    for (int i = from; i < to; i++)
        nc_queue_announce(q, nc_queue_recv_control(q, child(p, i)), n);
    return 0;
}

static int tell_fragment(struct nc_bcast *b, const struct part *p, int from, int to,
                         const struct nc_control_header *header, uint64_t i)
{
    return i == 0 ? tell_first(b, p, from, to, header, NULL) : tell(b, p, from, to, i + 1);
}

/* ---- the root ---- */

static int write_inline(struct nc_bcast *b, const struct part *p, struct nc_stream *stream)
{
    struct nc_control_header header = {.total = nc_stream_rest(stream), .fragment = 0};
    char payload[NC_INLINE_BYTES];
    int copied, told;

    /* both may be far away, and the stores to a control slot would wait for the load of the data */
    for (int i = 0; i < p->place.children; i++)
        nc_queue_prefetch_recv_control(b->transfer.queue, child(p, i), header.total);
    copied = nc_copy_in(stream, payload, header.total, 0, b->transfer.traffic);
    told = tell_first(b, p, 0, p->place.children, &header, payload);
    return told ? told : copied;
}

static int write_fragments(struct nc_bcast *b, const struct part *p, struct nc_stream *stream)
{
    struct nc_queue *q = b->transfer.queue;
    struct nc_readers readers = readers_of(b, p);
    struct nc_flow flow;

    nc_transfer_begin(&b->transfer, &flow, stream, q->rank);
    flow.header.first_slot = nc_queue_position(q);
    for (uint64_t i = 0; i < flow.fragments; i++) {
        char *slot;
        int error = nc_queue_take_slot(q, nc_clock_at(q->operation, i + 1), &readers, &slot);
        if (error)
            return error;
        nc_transfer_into(&b->transfer, &flow, i, slot);
        error = tell_fragment(b, p, 0, p->place.children, &flow.header, i);
        if (error)
            return error;
    }
    return flow.copied;
}

/* ---- everybody else ---- */

/* A message on its way: its fragments are in the source's ring, and, with a relay, also in mine. */
struct message {
    struct nc_flow flow;
    struct nc_control_header relayed;
};

static int read_fragment(struct nc_bcast *b, const struct part *p, struct message *m, uint64_t i)
{
    int error = tell_fragment(b, p, 0, p->place.children, &m->flow.header, i);

    if (!error)
        nc_transfer_out(&b->transfer, &m->flow, i, nc_transfer_source(&b->transfer, &m->flow, i));
    return error;
}

/* Once over from the source's ring into my slot; from there to its readers, and to my user. */
static int relay_fragment(struct nc_bcast *b, const struct part *p, struct message *m,
                          const struct nc_readers *readers, uint64_t i)
{
    struct nc_queue *q = b->transfer.queue;
    size_t bytes = nc_frag_bytes(m->flow.header.total, m->flow.header.fragment, i);
    char *slot;
    int error = tell_fragment(b, p, 0, p->beside, &m->flow.header, i);

    if (!error)
        error = nc_queue_take_slot(q, nc_clock_at(q->operation, i + 1), readers, &slot);
    if (error)
        return error;
    struct nc_stream into_slot = {.bytes = slot, .length = bytes};
    nc_copy_out(&into_slot, nc_transfer_source(&b->transfer, &m->flow, i), bytes,
                nc_transfer_remote(&b->transfer, m->flow.rank), b->transfer.traffic);
    error = tell_fragment(b, p, p->beside, p->place.children, &m->relayed, i);
    if (!error)
        nc_transfer_out(&b->transfer, &m->flow, i, slot);
    return error;
}

static int read_fragments(struct nc_bcast *b, const struct part *p, struct message *m)
{
    struct nc_queue *q = b->transfer.queue;
    struct nc_readers readers = readers_of(b, p);

    m->relayed = m->flow.header;
    m->relayed.first_slot = nc_queue_position(q);
    if (p->relays)
        m->flow.how &= ~NC_COPY_REMOTE; /* to the user it comes from my own ring */
    for (uint64_t i = 0; i < m->flow.fragments; i++) {
        int error = nc_queue_await(q, m->flow.control, i + 1);
        if (!error)
            error = p->relays ? relay_fragment(b, p, m, &readers, i) : read_fragment(b, p, m, i);
        if (error)
            return error;
        nc_transfer_acknowledge(&b->transfer, i + 1, i + 1 < m->flow.fragments,
                                q->geometry.set_slots);
    }
    return m->flow.copied;
}

static int read_message(struct nc_bcast *b, const struct part *p, struct nc_stream *stream,
                        size_t *sent)
{
    struct nc_queue *q = b->transfer.queue;
    struct message m;
    int error;

    nc_copy_prefetch_out(stream);
    error = nc_transfer_meet(&b->transfer, &m.flow, nc_queue_recv_control(q, q->rank), stream,
                             p->source, 1);

    if (error)
        return error;
    *sent = m.flow.header.total;
    if (m.flow.fragments)
        return read_fragments(b, p, &m);
    error = tell_first(b, p, 0, p->place.children, &m.flow.header, m.flow.control->payload);
    nc_transfer_payload(&b->transfer, &m.flow, 0);
    return error ? error : m.flow.copied;
}

int nc_bcast_node(struct nc_bcast *b, int root, struct nc_stream *stream, size_t *sent)
{
    struct part p;
    int error;

    find_part(&p, b, root);
    *sent = nc_stream_rest(stream);
    if (b->transfer.queue->rank != root)
        error = read_message(b, &p, stream, sent);
    else if (p.place.children == 0)
        error = 0;
    else if (nc_transfer_is_inline(stream))
        error = write_inline(b, &p, stream);
    else
        error = write_fragments(b, &p, stream);
    nc_queue_end(b->transfer.queue);
    return error;
}
