/* core/nc_layout.c: the parts of a segment do not overlap and are aligned, with ordinary pages of
 * the sizes that kernels have, and with huge pages; sets of slots; and the size of the default
 * segment of 64 ranks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_layout.h"

enum { PAGE = 4096 };

/* Bytes of an ordinary page: x86-64; aarch64 by its kernel's configuration; ppc64. */
static const uint32_t pages[] = {PAGE, 16 << 10, 64 << 10};
enum { PAGES = sizeof pages / sizeof *pages };

static void nothing_overlaps_in_pages_of(uint32_t page)
{
    for (uint32_t s = 1; s <= 32; s *= 2) {
        for (uint32_t f = 1; f < 20000; f += 977) {
            struct nc_geometry g = nc_geometry_make(4, s, f, 2, 0, page);
            if (f % 2)
                nc_geometry_lengthen(&g);
            struct nc_layout l = nc_layout_make(&g);
            assert_int_equal(g.send_controls, f % 2 ? NC_MOST_SEND_CONTROLS : NC_SEND_CONTROLS);
            assert_true(l.recv_controls >= l.ack + NC_LINE);
            assert_true(l.send_controls >= l.recv_controls + g.recv_controls * NC_CONTROL_BYTES &&
                        l.send_controls % NC_LINE == 0);
            assert_true(l.flags >= l.send_controls + g.send_controls * NC_CONTROL_BYTES &&
                        l.flags % NC_LINE == 0);
            assert_true(l.send >= l.flags + nc_flags_bytes(4));
            assert_true(l.slot_stride >= f && l.slot_stride % NC_LINE == 0);
            assert_true(l.recv >= l.send + s * l.slot_stride);
            assert_true(l.region >= l.recv + l.recv_slots * l.slot_stride);
            assert_int_equal(l.send % (s * l.slot_stride < NC_RING_ALIGN ? NC_LINE : NC_RING_ALIGN),
                             0);
            assert_int_equal(l.recv % (s * l.slot_stride < NC_RING_ALIGN ? NC_LINE : NC_RING_ALIGN),
                             0);
            assert_int_equal(l.region % page, 0);
            assert_true(l.region - (l.recv + l.recv_slots * l.slot_stride) < page);
        }
    }
}

static void nothing_overlaps(void **state)
{
    (void) state;
    for (int i = 0; i < PAGES; i++)
        nothing_overlaps_in_pages_of(pages[i]);
}

/* Whether header, parking and row end before the first region does begin. */
static void front_has_room(void **state)
{
    (void) state;
    for (int i = 0; i < PAGES; i++) {
        for (uint32_t p = 1; p <= 2 * NC_PARKING_RANKS; p++) {
            struct nc_geometry g = nc_geometry_make(p, 8, 8192, 2, 0, pages[i]);
            size_t parking = NC_BUCKETS_BYTES + (p <= NC_PARKING_RANKS ? p * NC_PLACE_BYTES : 0);
            size_t front = nc_layout_front_bytes(&g), row = nc_layout_row(p);
            assert_int_equal(front % pages[i], 0);
            assert_true(row >= NC_HEADER_BYTES + parking && row % NC_LINE == 0);
            assert_true(front >= row + p * NC_LINE && front - (row + p * NC_LINE) < pages[i]);
        }
    }
}

/* The kernel places whole pages: of each page only one rank's region has bytes, and none has header
 * or parking, so that each rank can have its pages on its own NUMA node. */
static void no_page_of_two_ranks(void **state)
{
    static const int numa[7] = {5, 0, 5, 2, 0, 5, 2};

    (void) state;
    for (int i = 0; i < PAGES; i++) {
        struct nc_geometry g = nc_geometry_make(7, 3, 5000, 2, 0, pages[i]);
        size_t at[7], end = nc_layout_front_bytes(&g), region = nc_layout_make(&g).region;
        size_t bytes = nc_layout_offsets(&g, numa, g.page, at);
        for (int r = 0; r < 7; r++) {
            assert_int_equal(at[r] % pages[i], 0);
            assert_int_equal(at[r], end);
            end += region;
        }
        assert_int_equal(bytes, end);
    }
}

/* The longer rings of send control slots, and what they cost together. */
static void more_send_controls(void **state)
{
    (void) state;
    for (uint32_t p = 2; p <= 1024; p++) {
        struct nc_geometry g = nc_geometry_make(p, 8, 8192, 2, 0, PAGE);
        nc_geometry_lengthen(&g);
        assert_true(g.send_controls >= NC_SEND_CONTROLS &&
                    g.send_controls <= NC_MOST_SEND_CONTROLS);
        assert_int_equal(g.send_controls & (g.send_controls - 1), 0);
        assert_true(g.send_controls == NC_SEND_CONTROLS ||
                    g.send_controls * p <= NC_SEND_CONTROLS_TOGETHER);
    }
}

/* Regions of one NUMA node side by side, other nodes on pages of their own, nothing twice. */
static void regions_by_numa_node(void **state)
{
    static const int one[7] = {3, 3, 3, 3, 3, 3, 3}, three[7] = {5, 0, 5, 2, 0, 5, 2};
    struct nc_geometry g = nc_geometry_make(7, 8, 8192, 2, 0, PAGE);
    size_t at[7], huge = 2u << 20, r = nc_layout_make(&g).region;
    size_t front = nc_layout_front_bytes(&g);

    (void) state;
    assert_int_equal(nc_layout_offsets(&g, one, PAGE, at), front + 7 * r);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(at[i], front + i * r);
    assert_int_equal(nc_layout_offsets(&g, one, huge, at), huge);
    assert_int_equal(at[0], front);
    assert_int_equal(nc_layout_offsets(&g, three, PAGE, at), front + 7 * r);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(at[i], front + i * r);
    assert_int_equal(nc_layout_offsets(&g, three, huge, at), 3 * huge);
    const size_t wanted[7] = {front,    huge,          front + r,   2 * huge,
                              huge + r, front + 2 * r, 2 * huge + r};
    assert_memory_equal(at, wanted, sizeof wanted);
    /* more than one page of a node */
    assert_int_equal(nc_layout_offsets(&g, three, 128 << 10, at) % (128 << 10), 0);
    assert_int_equal(at[1], 3 * (128 << 10));
    assert_true(at[5] + r <= at[1]);
}

static void sets(void **state)
{
    (void) state;
    assert_int_equal(nc_geometry_make(2, 8, 4096, 2, 0, PAGE).set_slots, 4);
    assert_int_equal(nc_geometry_make(2, 8, 4096, 1, 0, PAGE).set_slots, 8);
    assert_int_equal(nc_geometry_make(2, 7, 4096, 2, 0, PAGE).set_slots, 3);
    assert_int_equal(nc_geometry_make(2, 1, 4096, 2, 0, PAGE).set_slots, 1);
    assert_int_equal(nc_geometry_make(2, 3, 4096, 64, 0, PAGE).set_slots, 1);
}

static void in_rings(void **state)
{
    static const uint32_t slots[5] = {1, 2, 3, 8, 8}, sets[5] = {1, 1, 2, 2, 1};
    static const uint32_t recv_slots[5] = {1, 1, 1, 4, 4}, recv_set[5] = {1, 1, 1, 2, 4};

    (void) state;
    for (int i = 0; i < 5; i++) {
        struct nc_geometry g = nc_geometry_make(2, slots[i], 4096, sets[i], 0, PAGE);
        assert_int_equal(nc_layout_make(&g).recv_slots, recv_slots[i]);
        assert_int_equal(nc_layout_make(&g).recv_set, recv_set[i]);
    }
}

/* A narrow segment of 64 ranks: less than 8 MiB, and with larger pages little more. */
static void memory_of_64_ranks(void **state)
{
    static const size_t most[PAGES] = {8u << 20, (8u << 20) + (32 << 10), (8u << 20) + (64 << 10)};
    static const int numa[64] = {0};

    (void) state;
    for (int i = 0; i < PAGES; i++) {
        struct nc_geometry g = nc_geometry_make(64, 8, 8192, 2, 0, pages[i]);
        size_t at[64];
        assert_true(nc_layout_offsets(&g, numa, g.page, at) <= most[i]);
    }
}

/* Shortening takes first what is wide: slots above 8, then bytes of a slot above 8 KiB; then slots.
 * It keeps the sets, so that a writer can fill one while readers are at another. */
static void shorter_rings(void **state)
{
    enum { STEPS = 8 };
    static const uint32_t slots[STEPS] = {24, 12, 8, 8, 8, 4, 2, 1},
                          kib[STEPS] = {32, 32, 32, 16, 8, 8, 8, 8},
                          set_slots[][STEPS] = {{24, 12, 8, 8, 8, 4, 2, 1}, /* one set */
                                                {12, 6, 4, 4, 4, 2, 1, 1},  /* two */
                                                {6, 3, 2, 2, 2, 1, 1, 1}};  /* four */

    (void) state;
    for (uint32_t k = 0; k < 3; k++) {
        struct nc_geometry g = nc_geometry_make(4, 24, 32768, 1u << k, 0, PAGE), narrow;
        nc_geometry_lengthen(&g);
        narrow = nc_geometry_narrow(&g);
        for (int i = 0; i < STEPS; i++) {
            assert_int_equal(g.slots, slots[i]);
            assert_int_equal(g.slot_bytes, kib[i] << 10);
            assert_int_equal(g.set_slots, set_slots[k][i]);
            assert_int_equal(nc_geometry_is_wide(&g), i < 4);
            assert_int_equal(g.send_controls, i <= 4 ? NC_MOST_SEND_CONTROLS : NC_SEND_CONTROLS);
            if (i == 4)
                assert_memory_equal(&g, &narrow, sizeof g);
            assert_int_equal(nc_geometry_shorten(&g), i + 1 < STEPS);
        }
    }
}

/* What the settings leave open: rings as long as the cache, within bounds. */
static void open_settings(void **state)
{
    static const struct {
        int length, fragment;
        size_t cache;
        uint32_t slots, slot_bytes;
    } wanted[] = {{0, -1, 0, 24, 32768},        {0, -1, 1 << 20, 24, 32768},
                  {0, -1, 1, 8, 32768},         {0, -1, 512 << 10, 12, 32768},
                  {0, -1, SIZE_MAX, 48, 32768}, {0, 0, 1 << 20, 96, 8192},
                  {0, 1, 1 << 20, 256, 1},      {0, 1 << 20, 1 << 20, 8, 1 << 20},
                  {3, -1, 1 << 20, 3, 32768},   {3, 1001, 1 << 20, 3, 1001}};

    (void) state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct nc_geometry g = nc_geometry_make(4, wanted[i].length, wanted[i].fragment, 2,
                                                wanted[i].cache, PAGE);
        assert_int_equal(g.slots, wanted[i].slots);
        assert_int_equal(g.slot_bytes, wanted[i].slot_bytes);
        assert_int_equal(g.set_slots, wanted[i].slots / 2);
    }
}

static void shares_of_the_budget(void **state)
{
    struct nc_geometry narrow = nc_geometry_make(4, NC_SLOTS, NC_SLOT_BYTES, 2, 0, PAGE),
                       longer = nc_geometry_make(4, NC_SLOTS + 1, NC_SLOT_BYTES, 2, 0, PAGE),
                       wider = nc_geometry_make(4, 1, NC_SLOT_BYTES + 1, 2, 0, PAGE);

    (void) state;
    assert_int_equal(nc_geometry_share(&narrow, true, 64), 64);
    assert_int_equal(nc_geometry_share(&narrow, false, 64), 32);
    assert_int_equal(nc_geometry_share(&longer, false, 64), 16);
    assert_int_equal(nc_geometry_share(&wider, false, 64), 16);
    assert_int_equal(nc_geometry_at_once(64), 4);
}

/* With pages of ordinary size a segment is as long as its regions and its front. */
static void bytes_of_a_segment(void **state)
{
    static const int numa[64] = {0};

    (void) state;
    for (uint32_t p = 1; p <= 64; p++) {
        struct nc_geometry g = nc_geometry_make(p, 8, 8192, 2, 0, PAGE);
        size_t at[64];
        assert_int_equal(nc_layout_bytes(&g), nc_layout_offsets(&g, numa, PAGE, at));
    }
}

/* In the second half of the default budget, 64 MiB, is room for so many small segments. */
static void small_segments(void **state)
{
    static const struct {
        uint32_t ranks;
        size_t segments;
    } wanted[] = {{64, 60}, {128, 30}, {512, 7}};
    static const int numa[512] = {0};

    (void) state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct nc_geometry full = nc_geometry_make(wanted[i].ranks, 8, 8192, 2, 0, PAGE), g;
        size_t at[512];
        g = nc_geometry_small(&full);
        assert_int_equal(nc_layout_make(&g).region, 2 * PAGE);
        assert_true(wanted[i].segments * nc_layout_offsets(&g, numa, PAGE, at) <= 32u << 20);
        assert_true(nc_geometry_small(&g).slots == g.slots);
    }
}

/* A region for nonblocking operations takes two pages. One of the small segment, which is made
 * where that does not fit the budget, takes one. */
static void nonblocking_segments(void **state)
{
    (void) state;
    for (uint32_t ranks = 2; ranks <= 512; ranks++) {
        struct nc_geometry g = nc_geometry_nonblocking(ranks, PAGE), small = nc_geometry_small(&g);
        assert_int_equal(nc_layout_make(&g).region, 2 * PAGE);
        assert_int_equal(nc_layout_make(&small).region, PAGE);
        assert_false(nc_geometry_is_wide(&g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_overlaps),
                                       cmocka_unit_test(nonblocking_segments),
                                       cmocka_unit_test(front_has_room),
                                       cmocka_unit_test(no_page_of_two_ranks),
                                       cmocka_unit_test(more_send_controls),
                                       cmocka_unit_test(regions_by_numa_node),
                                       cmocka_unit_test(sets),
                                       cmocka_unit_test(in_rings),
                                       cmocka_unit_test(memory_of_64_ranks),
                                       cmocka_unit_test(shorter_rings),
                                       cmocka_unit_test(open_settings),
                                       cmocka_unit_test(shares_of_the_budget),
                                       cmocka_unit_test(bytes_of_a_segment),
                                       cmocka_unit_test(small_segments)};
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
