/* Computes the offsets in a segment and its size; touches no memory of the segment. See
 * nc_layout.h. */

#include "nc_layout.h"

static uint32_t half(uint32_t n)
{
    return n > 1 ? n / 2 : 1;
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

static size_t up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

void nc_geometry_lengthen(struct nc_geometry *g)
{
    while (g->send_controls < NC_MOST_SEND_CONTROLS &&
           2 * g->send_controls * g->ranks <= NC_SEND_CONTROLS_TOGETHER)
        g->send_controls *= 2;
}

/* Slots of so many bytes for a ring of three quarters of an L2 cache. */
static uint32_t slots_for(size_t l2_bytes, uint32_t slot_bytes)
{
    static const size_t least = 256 << 10, usual = 1 << 20, most = 2 << 20;
    size_t cache = l2_bytes == 0 ? usual : l2_bytes < least ? least : l2_bytes;
    size_t slots = (cache < most ? cache : most) / 4 * 3 / slot_bytes;

    if (slots > NC_MOST_SLOTS)
        return NC_MOST_SLOTS;
    return slots > NC_SLOTS ? (uint32_t) slots : NC_SLOTS;
}

struct nc_geometry nc_geometry_make(uint32_t p, int length, int fragment, uint32_t q,
                                    size_t l2_bytes, uint32_t page)
{
    uint32_t f = fragment > 0    ? (uint32_t) fragment
                 : fragment == 0 ? NC_SLOT_BYTES
                                 : NC_WIDE_SLOT_BYTES;
    uint32_t s = length > 0 ? (uint32_t) length : slots_for(l2_bytes, f);

    return (struct nc_geometry){.ranks = p,
                                .slots = s,
                                .slot_bytes = f,
                                .set_slots = s / (q > s ? s : q),
                                .recv_controls = NC_RECV_CONTROLS,
                                .send_controls = NC_SEND_CONTROLS,
                                .page = page};
}

/* So many slots, and as many sets as before, or one for each slot. */
static void set_slots(struct nc_geometry *g, uint32_t slots)
{
    uint32_t sets = g->slots / g->set_slots;

    g->slots = slots;
    g->set_slots = slots > sets ? slots / sets : 1;
}

bool nc_geometry_shorten(struct nc_geometry *g)
{
    if (g->slots > NC_SLOTS) {
        set_slots(g, g->slots > 2 * NC_SLOTS ? g->slots / 2 : NC_SLOTS);
    } else if (g->slot_bytes > NC_SLOT_BYTES) {
        g->slot_bytes = g->slot_bytes > 2 * NC_SLOT_BYTES ? g->slot_bytes / 2 : NC_SLOT_BYTES;
    } else if (g->slots > 1) {
        set_slots(g, g->slots / 2);
        g->send_controls = NC_SEND_CONTROLS;
    } else {
        return false;
    }
    return true;
}

struct nc_geometry nc_geometry_narrow(const struct nc_geometry *full)
{
    struct nc_geometry g = *full;

    while (nc_geometry_is_wide(&g))
        nc_geometry_shorten(&g);
    return g;
}

struct nc_geometry nc_geometry_small(const struct nc_geometry *full)
{
    enum { SLOTS = 2, SLOT_BYTES = 512, RECV_CONTROLS = 8, SEND_CONTROLS = 4 };
    struct nc_geometry g = *full;

    g.slots = at_most(g.slots, SLOTS);
    g.slot_bytes = at_most(g.slot_bytes, SLOT_BYTES);
    g.set_slots = half(g.slots);
    g.recv_controls = at_most(g.recv_controls, RECV_CONTROLS);
    g.send_controls = at_most(g.send_controls, SEND_CONTROLS);
    return g;
}

struct nc_geometry nc_geometry_nonblocking(uint32_t p, uint32_t page)
{
    return (struct nc_geometry){.ranks = p,
                                .slots = 1,
                                .slot_bytes = NC_LINE,
                                .set_slots = 1,
                                .send_controls = NC_SEND_CONTROLS,
                                .page = page};
}

uint64_t nc_geometry_share(const struct nc_geometry *g, bool small, uint64_t budget)
{
    return small ? budget : nc_geometry_is_wide(g) ? budget / 4 : budget / 2;
}

/* Where a ring may begin: one that is shorter than a page need not begin at one. */
static size_t ring_align(size_t bytes)
{
    return bytes < NC_RING_ALIGN ? NC_LINE : NC_RING_ALIGN;
}

struct nc_layout nc_layout_make(const struct nc_geometry *g)
{
    struct nc_layout l;
    size_t align;

    l.ack = 0;
    l.recv_controls = NC_LINE;
    l.send_controls = l.recv_controls + (size_t) g->recv_controls * NC_CONTROL_BYTES;
    l.flags = l.send_controls + (size_t) g->send_controls * NC_CONTROL_BYTES;
    /* a slot starts at a line of its own, as its neighbour may be read while it is written */
    l.slot_stride = up(g->slot_bytes, NC_LINE);
    align = ring_align(g->slots * l.slot_stride);
    l.send = up(l.flags + nc_flags_bytes(g->ranks), align);
    l.recv_slots = nc_geometry_is_wide(g) ? g->slots : half(g->slots);
    l.recv_set = nc_geometry_is_wide(g) ? g->set_slots : half(g->set_slots);
    l.recv = up(l.send + g->slots * l.slot_stride, align);
    l.region = up(l.recv + l.recv_slots * l.slot_stride, g->page);
    return l;
}

size_t nc_layout_row(uint32_t ranks)
{
    size_t places = ranks <= NC_PARKING_RANKS ? (size_t) ranks * NC_PLACE_BYTES : 0;

    return up(NC_HEADER_BYTES + NC_BUCKETS_BYTES + places, NC_LINE);
}

size_t nc_layout_front_bytes(const struct nc_geometry *g)
{
    return up(nc_layout_row(g->ranks) + (size_t) g->ranks * NC_LINE, g->page);
}

size_t nc_layout_bytes(const struct nc_geometry *g)
{
    return nc_layout_front_bytes(g) + g->ranks * nc_layout_make(g).region;
}

size_t nc_layout_offsets(const struct nc_geometry *g, const int *numa, size_t page, size_t *offset)
{
    size_t at = 0, region = nc_layout_make(g).region;
    int ranks = (int) g->ranks;

    for (int i = 0; i < ranks; i++)
        offset[i] = 0;
    for (int first = 0; first < ranks; first++) {
        if (offset[first])
            continue;
        at = first == 0 ? nc_layout_front_bytes(g) : up(at, page);
        for (int i = first; i < ranks; i++) {
            if (page == g->page || numa[i] == numa[first]) {
                offset[i] = at;
                at += region;
            }
        }
    }
    return up(at, page);
}
