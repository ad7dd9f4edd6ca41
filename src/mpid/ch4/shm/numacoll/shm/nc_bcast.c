/* Bcast inside a node: the root writes, all others read, and relays copy what they read into their
 * own send ring for others. The bodies in coll/ call nc_bcast_node; the steps are nc_transfer's.
 * Numbers are those of PROTOCOLS.md, section 3.1. */

#include "nc_bcast.h"

#include "nc_joint.h"

/* A rank's part in a call: whose ring it reads, and which children read the same ring. Such
 * children exist in a flat group that this rank does not lead. The ranks it leads, and its children
 * in a group that is not flat, read its own ring. */
struct part {
    struct nc_transfer *transfer;
    struct nc_route *route;
    const struct nc_position *place;
    int source;  /* the rank whose ring this rank reads; -1 at the root */
    int beside;  /* the first `beside` children read that ring too */
    bool relays; /* other ranks read this rank's ring, so it copies the fragments into it */
};

static void find_part(struct part *p, struct nc_transfer *transfer, struct nc_route *route,
                      int root)
{
    int own;

    p->transfer = transfer;
    p->route = route;
    p->place = nc_route_position(route, root);
    own = p->place->levels - 1;
    p->source = p->place->parent;
    p->beside = 0;
    if (p->place->parent >= 0 && p->route->level[own].flat) {
        p->source = p->place->leader;
        p->beside = p->place->level[own].children;
    }
    p->relays = p->beside < p->place->children;
}

static struct nc_children children(const struct part *p, int from, int to)
{
    return (struct nc_children){p->place, from, to};
}

/* The readers of my ring: the ranks that read it in the groups I lead, and, if the group that I do
 * not lead is not flat, my children in that group. The groups I lead are on the levels below it. */
static struct nc_readers readers_of(const struct part *p)
{
    struct nc_readers r = {.rank = {p->route->led, NULL}, .count = {p->route->all, 0}};
    int own = p->place->levels - 1;

    if (p->place->parent >= 0)
        r.count[0] = p->route->level[own].below;
    if (p->place->parent >= 0 && !p->route->level[own].flat) {
        r.rank[1] = p->place->level[own].child;
        r.count[1] = p->place->level[own].children;
    }
    return r;
}

/* Takes my send control slot, if the ranks that read my ring find the announcements there. NULL:
 * each child finds them in its own receive control slot. */
static struct nc_control *take_control(const struct part *p)
{
    struct nc_readers readers;

    if (!p->route->at_once)
        return NULL;
    readers = readers_of(p);
    return nc_queue_take_send_control(p->transfer->queue, &readers);
}

/* ---- the root ---- */

static int write_inline(const struct part *p, struct nc_stream *stream)
{
    struct nc_children all = children(p, 0, p->place->children);
    struct nc_control *control = take_control(p);

    if (control)
        return nc_transfer_inline(p->transfer, control, stream, 0);
    return nc_transfer_inline_to_children(p->transfer, &all, stream);
}

/* Whether a message that stays where it is may be copied by its writer and its reader together: if
 * there are more readers, most of the work is spread already. */
static bool is_for_two(const struct part *p)
{
    return p->transfer->queue->geometry.ranks == 2;
}

/* As write_inline, for a message that stays where it is: all ranks read it there. */
static void write_origin(const struct part *p, struct nc_stream *stream,
                         const struct nc_origin *origin)
{
    struct nc_queue *q = p->transfer->queue;
    struct nc_children all = children(p, 0, p->place->children);
    struct nc_control *control = take_control(p);
    int other = nc_queue_next(q, q->rank);
    struct nc_joint joint;
    bool together = is_for_two(p) &&
                    nc_joint_begin(&joint, origin, other,
                                   control ? control : nc_queue_recv_control(q, other));

    if (control)
        nc_transfer_point(p->transfer, control, stream, origin);
    else
        nc_transfer_point_children(p->transfer, &all, stream, origin);
    if (together)
        nc_joint_help_all(p->transfer, &joint, 1);
}

static int write_fragments(const struct part *p, struct nc_stream *stream)
{
    struct nc_readers readers = readers_of(p);
    struct nc_children all = children(p, 0, p->place->children);
    struct nc_flow flow;

    nc_transfer_begin(p->transfer, &flow, stream, p->transfer->queue->rank);
    flow.control = take_control(p);
    flow.children = &all;
    for (uint64_t i = 0; i < flow.fragments; i++)
        nc_transfer_send(p->transfer, &flow, &readers, i);
    return flow.copied;
}

/* ---- the other ranks ---- */

/* The message as a rank other than the root has it: in the source's ring, and, if this rank relays,
 * also in its own ring. */
struct message {
    struct nc_flow flow;
    struct nc_control_header relayed; /* announces the fragments in my own ring */
    struct nc_control *control;       /* of take_control */
};

/* Announces fragment i to the children from .. to - 1. */
static void tell(const struct part *p, int from, int to, const struct nc_control_header *header,
                 uint64_t i)
{
    struct nc_children some = children(p, from, to);

    if (from < to)
        nc_transfer_announce_to_children(p->transfer, &some, header, i);
}

/* 6, 7: announces a fragment to the children, which read where I read, and copies it to the user.
 */
static void read_fragment(const struct part *p, struct message *m, uint64_t i)
{
    tell(p, 0, p->place->children, &m->flow.header, i);
    nc_transfer_out(p->transfer, &m->flow, i, nc_transfer_source(p->transfer, &m->flow, i));
}

/* B1 to B3: copies a fragment from the source's ring into a slot of mine, announces that, and
 * copies it from my slot to the user. */
static void relay_fragment(const struct part *p, struct message *m,
                           const struct nc_readers *readers, uint64_t i)
{
    char *slot;

    tell(p, 0, p->beside, &m->flow.header, i);
    slot = nc_transfer_take_slot(p->transfer, readers, i);
    nc_transfer_relay(p->transfer, &m->flow, i, slot);
    if (m->control)
        nc_transfer_announce(p->transfer, m->control, &m->relayed, i);
    else
        tell(p, p->beside, p->place->children, &m->relayed, i);
    nc_transfer_out(p->transfer, &m->flow, i, slot);
    nc_transfer_demote_slot(p->transfer, &m->relayed, i, slot);
}

static int read_fragments(const struct part *p, struct message *m)
{
    struct nc_queue *q = p->transfer->queue;
    struct nc_readers readers = readers_of(p);

    m->relayed = m->flow.header;
    m->relayed.first_slot = nc_queue_position(q) & NC_FIRST_SLOT_MASK;
    if (p->relays)
        m->flow.how &= ~NC_COPY_REMOTE; /* the copy to the user reads my own ring */
    if (p->relays)
        m->control = take_control(p);
    for (uint64_t i = 0; i < m->flow.fragments; i++) {
        nc_queue_await(q, m->flow.control, i + 1);
        if (p->relays)
            relay_fragment(p, m, &readers, i);
        else
            read_fragment(p, m, i);
        nc_transfer_acknowledge(p->transfer, i + 1, i + 1 < m->flow.fragments,
                                q->geometry.set_slots);
    }
    return m->flow.copied;
}

/* Where I find the announcements. */
static struct nc_control *announced_in(const struct part *p)
{
    struct nc_queue *q = p->transfer->queue;

    return p->route->at_once ? nc_queue_send_control(q, p->source)
                             : nc_queue_recv_control(q, q->rank);
}

/* Passes an inline message on to all children, whatever their group. */
static void pass_on(const struct part *p, const struct nc_flow *flow)
{
    struct nc_children all = children(p, 0, p->place->children);
    const char *payload = flow->control->payload;
    struct nc_control *control;

    if (p->place->children == 0)
        return;
    control = take_control(p);
    if (control)
        nc_transfer_put(p->transfer, control, &flow->header, payload);
    else
        nc_transfer_pass_on(p->transfer, &all, &flow->header, payload);
}

static int read_message(const struct part *p, struct nc_stream *stream, size_t *sent)
{
    struct message m;

    nc_copy_prefetch_out(stream);
    nc_transfer_meet(p->transfer, &m.flow, announced_in(p), stream, p->source, 1);
    *sent = m.flow.header.total;
    if (m.flow.fragments)
        return read_fragments(p, &m);
    pass_on(p, &m.flow);
    if (!is_for_two(p) || !nc_joint_receive(p->transfer, &m.flow, p->source))
        nc_transfer_payload(p->transfer, &m.flow, 0);
    return m.flow.copied;
}

/* The root's part. Returns whether others read its stream until they end the operation. */
static bool write_message(const struct part *p, struct nc_stream *stream, int *copied)
{
    struct nc_origin origin;
    bool direct = nc_transfer_is_direct(p->transfer, stream, &origin);

    if (direct)
        write_origin(p, stream, &origin);
    else
        *copied = nc_transfer_is_inline(stream) ? write_inline(p, stream)
                                                : write_fragments(p, stream);
    return direct;
}

int nc_bcast_node(struct nc_transfer *t, struct nc_route *route, int root, struct nc_stream *stream,
                  size_t *sent)
{
    struct nc_queue *q = t->queue;
    struct part p;
    bool direct = false;
    int copied = 0;

    find_part(&p, t, route, root);
    *sent = nc_stream_rest(stream);
    if (q->rank != root)
        copied = read_message(&p, stream, sent);
    else if (p.place->children > 0)
        direct = write_message(&p, stream, &copied);
    nc_queue_end(q);
    if (direct) {
        struct nc_team all = nc_queue_everybody(q);
        struct nc_readers readers = nc_queue_team(&all);
        nc_queue_await_ended(q, &readers);
    }
    return copied;
}
