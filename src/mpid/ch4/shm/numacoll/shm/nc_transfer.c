/* The steps of a message between a stream and shared memory that are not inline in nc_transfer.h:
 * announcing to children, writing and reading fragments. The collectives of this folder call them;
 * nc_queue waits for slots and control slots, nc_copy copies. Numbers: PROTOCOLS.md, section 3. */

#include "nc_transfer.h"

#include <string.h>

/* ---- memory that the ranks share ---- */

uint64_t nc_transfer_place(const struct nc_transfer *t, const char *bytes, size_t n)
{
    const struct nc_direct *d = t->direct;
    int me = t->queue->rank;
    uint64_t offset;

    if (!d->shared)
        return 0;
    offset = (uint64_t) ((uintptr_t) bytes - (uintptr_t) d->shared[me]);
    if (offset < d->shared_bytes[me])
        return n <= d->shared_bytes[me] - offset ? offset : 0;
    return d->window_place ? d->window_place(d->ranks, bytes, n) : 0;
}

char *nc_transfer_at(const struct nc_transfer *t, int rank, uint64_t place)
{
    const struct nc_direct *d = t->direct;

    return place & NC_IN_WINDOW ? d->window_bytes(place) : d->shared[rank] + place;
}

/* ---- the writer ---- */

/* A store would not wait for the line. One message of NC_SIBLING_EVERY comes later for it. */
void nc_transfer_look_for_sibling(const struct nc_transfer *t, struct nc_control *control)
{
    uint64_t before = nc_copy_clock();

    nc_atomic_take_line(&control->clock);
    nc_sibling_note(t->sibling, nc_copy_clock_after() - before);
}

/* Announces fragment i to children. payload: the bytes of an inline message, or NULL if the
 * fragment is in a slot. */
static inline void tell(const struct nc_transfer *t, const struct nc_children *children,
                        const struct nc_control_header *header, const char *payload, uint64_t i)
{
    struct nc_queue *q = t->queue;

    for (int c = children->from; c < children->to; c++) {
        int child = nc_position_child(children->parent, c);
        struct nc_control *control = i == 0 ? nc_queue_take_recv_control(q, child)
                                            : nc_queue_recv_control(q, child);
        if (payload)
            nc_transfer_put(t, control, header, payload);
        else
            nc_transfer_announce(t, control, header, i);
    }
}

/* Not in the header: where gcc 12 sees that a length is at most NC_INLINE_BYTES, it copies by
 * `rep movsq`, which is slow to begin, instead of calling memcpy. */
int nc_transfer_inline(const struct nc_transfer *t, struct nc_control *control,
                       struct nc_stream *stream, int how)
{
    const struct nc_control_header header = {.total = nc_stream_rest(stream)};
    const char *payload;
    int copied = nc_copy_find(stream, header.total, how, t->traffic, control->payload, &payload);

    nc_transfer_put(t, control, &header, payload);
    return copied;
}

void nc_transfer_pass_on(const struct nc_transfer *t, const struct nc_children *children,
                         const struct nc_control_header *header, const char *payload)
{
    tell(t, children, header, payload, 0);
}

int nc_transfer_inline_to_children(const struct nc_transfer *t, const struct nc_children *children,
                                   struct nc_stream *stream)
{
    const struct nc_control_header header = {.total = nc_stream_rest(stream)};
    /* Packed here, and not in the first child's control slot to be read back from there: once that
     * child has the announcement, it may end the operation, and the root of a later operation may
     * write the control slot again. */
    char packed[NC_INLINE_BYTES];
    const char *payload;
    int copied;

    copied = nc_copy_find(stream, header.total, 0, t->traffic, packed, &payload);
    nc_transfer_pass_on(t, children, &header, payload);
    return copied;
}

struct nc_origin nc_transfer_origin(const struct nc_transfer *t, const struct nc_stream *stream)
{
    const char *bytes = stream->bytes + stream->at;

    return (struct nc_origin){.bytes = bytes,
                              .rank = t->queue->rank,
                              .place = nc_transfer_place(t, bytes, nc_stream_rest(stream))};
}

/* The header of a message that stays where it is: the rest of a stream, which then counts as sent.
 */
static struct nc_control_header point_to(struct nc_stream *stream)
{
    struct nc_control_header header = {.total = nc_stream_rest(stream), .direct = 1};

    stream->at = stream->length;
    return header;
}

void nc_transfer_point(const struct nc_transfer *t, struct nc_control *control,
                       struct nc_stream *stream, const struct nc_origin *origin)
{
    struct nc_control_header header = point_to(stream);

    nc_transfer_put(t, control, &header, (const char *) origin);
}

void nc_transfer_point_children(const struct nc_transfer *t, const struct nc_children *children,
                                struct nc_stream *stream, const struct nc_origin *origin)
{
    struct nc_control_header header = point_to(stream);

    nc_transfer_pass_on(t, children, &header, (const char *) origin);
}

void nc_transfer_announce_to_children(const struct nc_transfer *t,
                                      const struct nc_children *children,
                                      const struct nc_control_header *header, uint64_t i)
{
    tell(t, children, header, NULL, i);
}

void nc_transfer_begin(const struct nc_transfer *t, struct nc_flow *flow, struct nc_stream *stream,
                       int rank)
{
    size_t bytes = nc_stream_rest(stream);
    bool own = rank == t->queue->rank;
    uint64_t f = own ? nc_frag_choose(bytes, t->largest_fragment, t->rule)
                     : nc_frag_choose_scatter(bytes, t->largest_fragment, t->rule);

    *flow = (struct nc_flow){
        .header = {.total = bytes,
                   .fragment = (uint32_t) f,
                   .first_slot = own ? nc_queue_position(t->queue) & NC_FIRST_SLOT_MASK : 0},
        .stream = stream,
        .fragments = nc_frag_count(bytes, f),
        .rank = rank,
        .how = nc_transfer_remote(t, rank)};
}

void nc_transfer_fill_slots(const struct nc_transfer *t, struct nc_flow *flow)
{
    flow->header.fragment = t->largest_fragment;
    flow->fragments = nc_frag_count(flow->header.total, flow->header.fragment);
}

/* How far byte `at` of the message is in fragment i, of n bytes: 0 if it is before, n if behind. */
static size_t place_in(const struct nc_flow *flow, uint64_t i, size_t n, size_t at)
{
    size_t first = i * flow->header.fragment;

    return at < first ? 0 : at - first < n ? at - first : n;
}

/* Copies fragment i from the stream into a slot, but for what the rank keeps. Where elements have
 * to be packed, it is the packing function that stores, by ordinary stores. */
static int copy_in(const struct nc_transfer *t, const struct nc_flow *flow, uint64_t i, char *slot)
{
    size_t n = nc_transfer_bytes(flow, i), before = place_in(flow, i, n, flow->kept_first),
           behind = n - place_in(flow, i, n, flow->kept_end);
    struct nc_paced paced = {.how = 0};
    int error = 0;

    if (flow->stream->bytes || flow->stream->can_stream)
        paced = nc_transfer_begin_copy(t, flow, before + behind);
    if (before > 0)
        error = nc_copy_in(flow->stream, slot, before, flow->how | paced.how, t->traffic);
    if (behind > 0 && !error)
        error = nc_copy_in(flow->stream, slot + n - behind, behind, flow->how | paced.how,
                           t->traffic);
    nc_transfer_end_copy(&paced);
    return error;
}

void nc_transfer_write(const struct nc_transfer *t, struct nc_flow *flow, uint64_t i, char *slot)
{
    if (!flow->copied)
        flow->copied = copy_in(t, flow, i, slot);
    if (flow->control)
        nc_transfer_announce(t, flow->control, &flow->header, i);
    else
        nc_transfer_announce_to_children(t, flow->children, &flow->header, i);
    nc_transfer_demote_slot(t, &flow->header, i, slot);
}

void nc_transfer_send(const struct nc_transfer *t, struct nc_flow *flow,
                      const struct nc_readers *readers, uint64_t i)
{
    nc_transfer_write(t, flow, i, nc_transfer_take_slot(t, readers, i));
}

/* ---- the reader ---- */

void nc_transfer_meet(const struct nc_transfer *t, struct nc_flow *flow, struct nc_control *control,
                      struct nc_stream *stream, int rank, int alike)
{
    nc_queue_await(t->queue, control, 1);
    flow->control = control;
    flow->header = control->header;
    if (!nc_queue_is_of_call(t->queue, control, rank))
        flow->header = (struct nc_control_header){.total = 0};
    flow->stream = stream;
    flow->fragments = 0;
    if (flow->header.fragment)
        flow->fragments = nc_frag_count(flow->header.total, flow->header.fragment);
    flow->rank = rank;
    flow->how = nc_transfer_remote(t, rank) | nc_transfer_streams(t, flow->header.total, alike);
    flow->copied = 0;
}

/* Copies n bytes of `origin` to a stream that has to unpack them, in parts. Not inline: its caller
 * would have the room for a part on the stack for any stream. */
__attribute__((noinline)) static int fetch_in_parts(const struct nc_direct *d,
                                                    struct nc_stream *stream,
                                                    struct nc_origin origin, size_t n)
{
    enum { PART = 32768 };
    char part[PART];
    int error = 0;

    for (size_t bytes; n > 0 && !error; n -= bytes, origin.bytes += bytes) {
        bytes = n < PART ? n : PART;
        error = d->fetch(d->context, part, &origin, bytes);
        if (!error)
            error = nc_copy_out(stream, part, bytes, 0, NULL);
    }
    return error;
}

/* Copies n bytes of `origin` to the stream. */
static int fetch(const struct nc_direct *d, struct nc_stream *stream, struct nc_origin origin,
                 size_t n)
{
    int error;

    if (!stream->bytes)
        return fetch_in_parts(d, stream, origin, n);
    error = d->fetch(d->context, stream->bytes + stream->at, &origin, n);
    stream->at += n;
    return error;
}

/* The same out of memory that the ranks share; in parts of a size that whoever unpacks may keep in
 * an int. */
static int read_shared(const struct nc_transfer *t, const struct nc_flow *flow,
                       struct nc_origin origin, size_t n)
{
    const size_t most = (size_t) 1 << 30;
    const char *from = nc_transfer_at(t, origin.rank, origin.place);
    int error = 0;

    for (size_t bytes; n > 0 && !error; n -= bytes, from += bytes) {
        bytes = n < most ? n : most;
        error = nc_copy_out(flow->stream, from, bytes, flow->how, NULL);
    }
    return error;
}

void nc_transfer_fetch(const struct nc_transfer *t, struct nc_flow *flow)
{
    size_t n = nc_stream_rest(flow->stream);
    struct nc_origin origin;

    memcpy(&origin, flow->control->payload, sizeof origin);
    if (n > flow->header.total)
        n = flow->header.total;
    if (origin.place) {
        flow->copied = read_shared(t, flow, origin, n);
        t->traffic->shared += n;
    } else {
        flow->copied = fetch(t->direct, flow->stream, origin, n);
        t->traffic->fetched += n;
    }
}

void nc_transfer_out(const struct nc_transfer *t, struct nc_flow *flow, uint64_t i,
                     const char *slot)
{
    if (!flow->copied)
        flow->copied = nc_copy_out(flow->stream, slot, nc_transfer_bytes(flow, i), flow->how,
                                   t->traffic);
}

void nc_transfer_relay(const struct nc_transfer *t, const struct nc_flow *flow, uint64_t i,
                       char *slot)
{
    size_t bytes = nc_transfer_bytes(flow, i);
    const struct nc_flow mine = {.header = flow->header, .rank = t->queue->rank};
    struct nc_paced paced = nc_transfer_begin_copy(t, &mine, bytes);

    nc_copy_bytes(slot, nc_transfer_source(t, flow, i), bytes, paced.how);
    nc_transfer_end_copy(&paced);
    nc_copy_count(t->traffic, bytes, nc_transfer_remote(t, flow->rank));
}
