#include "nc_transfer.h"

void nc_transfer_begin(const struct nc_transfer *m, struct nc_flow *flow, struct nc_stream *stream,
                       int rank)
{
    size_t bytes = nc_stream_rest(stream);
    uint64_t f = nc_frag_choose(bytes, m->largest_fragment, m->sqrt_rule);

    *flow = (struct nc_flow){.header = {.total = bytes, .fragment = (uint32_t) f},
                             .stream = stream,
                             .fragments = nc_frag_count(bytes, f),
                             .rank = rank,
                             .how = nc_transfer_remote(m, rank)};
}

void nc_transfer_fill_slots(const struct nc_transfer *m, struct nc_flow *flow)
{
    flow->header.fragment = m->largest_fragment;
    flow->fragments = nc_frag_count(flow->header.total, flow->header.fragment);
}

int nc_transfer_inline(const struct nc_transfer *m, struct nc_control *control,
                       struct nc_stream *stream, int how)
{
    int error;

    control->header.total = nc_stream_rest(stream);
    control->header.fragment = 0;
    error = nc_copy_in(stream, control->payload, nc_stream_rest(stream), how, m->traffic);
    nc_queue_announce(m->queue, control, 1);
    return error;
}

static size_t fragment_bytes(const struct nc_flow *flow, uint64_t i)
{
    return nc_frag_bytes(flow->header.total, flow->header.fragment, i);
}

void nc_transfer_into(const struct nc_transfer *m, struct nc_flow *flow, uint64_t i, char *slot)
{
    if (!flow->copied)
        flow->copied = nc_copy_in(flow->stream, slot, fragment_bytes(flow, i), flow->how,
                                  m->traffic);
}

void nc_transfer_announce(const struct nc_transfer *m, struct nc_flow *flow, uint64_t i, char *slot)
{
    nc_transfer_into(m, flow, i, slot);
    if (i == 0)
        flow->control->header = flow->header;
    nc_queue_announce(m->queue, flow->control, i + 1);
}

int nc_transfer_meet(const struct nc_transfer *m, struct nc_flow *flow, struct nc_control *control,
                     struct nc_stream *stream, int rank, int alike)
{
    int error;

    error = nc_queue_await(m->queue, control, 1);
    if (error)
        return error;
    flow->control = control;
    flow->header = control->header;
    flow->stream = stream;
    flow->fragments = 0;
    if (flow->header.fragment)
        flow->fragments = nc_frag_count(flow->header.total, flow->header.fragment);
    flow->rank = rank;
    flow->how = nc_transfer_remote(m, rank);
    if (flow->header.total * (uint64_t) alike > m->cache_bytes)
        flow->how |= NC_COPY_BESIDE_CACHE;
    flow->copied = 0;
    return 0;
}

void nc_transfer_payload(const struct nc_transfer *m, struct nc_flow *flow, int how)
{
    flow->copied = nc_copy_out(flow->stream, flow->control->payload, flow->header.total, how,
                               m->traffic);
}

void nc_transfer_out(const struct nc_transfer *m, struct nc_flow *flow, uint64_t i,
                     const char *slot)
{
    if (!flow->copied)
        flow->copied = nc_copy_out(flow->stream, slot, fragment_bytes(flow, i), flow->how,
                                   m->traffic);
}
