/* Tests what a writer demotes, and when: the lines of a short message, each once, after it is
 * announced; in a control slot all but the clock's line; nothing of a longer message. And for whom:
 * nc_select_demotes_most. Built with NC_ATOMIC_OBSERVED. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_select.h"
#include "shm/nc_transfer.h"

enum { RANKS = 2, LONGEST = 4096, MOST_LINES = 128 };

/* ---- what is observed ---- */

static const char *lines[MOST_LINES];
static const struct nc_atomic *released; /* the word that was stored last */
static int demoted;

void nc_observe_load(const struct nc_atomic *a)
{
    (void) a;
}

void nc_observe_store(const struct nc_atomic *a)
{
    assert_int_equal(demoted, 0); /* a store after it would be the announcement */
    released = a;
}

void nc_observe_demote(const void *line)
{
    assert_true(demoted < MOST_LINES);
    lines[demoted++] = line;
}

/* n lines from `first` on were demoted, after `word` was released. */
static void expect(const char *first, int n, const struct nc_atomic *word)
{
    assert_int_equal(demoted, n);
    for (int i = 0; i < n; i++)
        assert_ptr_equal(lines[i], first + i * 64);
    assert_ptr_equal(released, word);
    demoted = 0;
}

/* ---- a queue of two ranks, of which rank 0 writes ---- */

static struct nc_waiter waiter;
static struct nc_traffic traffic;
static struct nc_queue queue;
static struct nc_transfer transfer;
static char *region[RANKS], message[LONGEST];

static int make(void **state)
{
    struct nc_geometry geometry = nc_geometry_make(RANKS, 4, LONGEST, 1, 0, 4096);
    struct nc_layout layout = nc_layout_make(&geometry);
    static struct nc_pace pace[RANKS];
    static const int numa[RANKS];

    (void) state;
    for (int r = 0; r < RANKS; r++) {
        region[r] = aligned_alloc(4096, layout.region);
        memset(region[r], 0, layout.region);
    }
    nc_queue_init(&queue, region, &geometry, 0, malloc(nc_queue_private_bytes(&geometry)), &waiter);
    transfer = (struct nc_transfer){.queue = &queue,
                                    .rule = NC_FRAG_FIXED,
                                    .largest_fragment = LONGEST,
                                    .streams_above = SIZE_MAX,
                                    .paces_above = SIZE_MAX,
                                    .demotes_most = 1000,
                                    .pace = pace,
                                    .numa = numa,
                                    .traffic = &traffic};
    return 0;
}

static int drop(void **state)
{
    (void) state;
    free(queue.slot_use);
    for (int r = 0; r < RANKS; r++)
        free(region[r]);
    return 0;
}

static void inline_message(size_t bytes, int n)
{
    struct nc_stream stream = {.bytes = message, .length = bytes};
    struct nc_control *control = nc_queue_recv_control(&queue, 1);

    assert_int_equal(nc_transfer_inline(&transfer, control, &stream, 0), 0);
    expect((const char *) control + 64, n, &control->clock);
}

static void test_payload(void **state)
{
    (void) state;
    inline_message(0, 0);
    inline_message(32, 0); /* in the clock's line */
    inline_message(33, 1);
    inline_message(96, 1);
    inline_message(97, 2);
    inline_message(NC_INLINE_BYTES, 5);
    transfer.demotes_most = 99;
    inline_message(99, 2);
    inline_message(100, 0);
    transfer.demotes_most = 0;
    inline_message(100, 0);
    transfer.demotes_most = 1000;
}

static void slot_message(size_t bytes, int n)
{
    struct nc_stream stream = {.bytes = message, .length = bytes};
    struct nc_control *control = nc_queue_recv_control(&queue, 1);
    char *slot = nc_queue_slot(&queue, 0, 1);
    struct nc_flow flow;

    nc_transfer_begin(&transfer, &flow, &stream, 0);
    flow.control = control;
    nc_transfer_write(&transfer, &flow, 0, slot);
    expect(slot, n, &control->clock);
}

static void test_slot(void **state)
{
    (void) state;
    slot_message(1, 1);
    slot_message(64, 1);
    slot_message(65, 2);
    slot_message(1000, 16);
    slot_message(1001, 0);
    slot_message(LONGEST, 0);
}

/* Every NC_SIBLING_EVERYth short message is measured; what a reader on the same core is to read is
 * not demoted. */
static void test_sibling(void **state)
{
    struct nc_sibling sibling = {.found = false};

    (void) state;
    for (int i = 1; i < NC_SIBLING_EVERY; i++)
        assert_false(nc_sibling_is_due(&sibling));
    assert_true(nc_sibling_is_due(&sibling));
    assert_false(nc_sibling_is_due(&sibling));
    nc_sibling_note(&sibling, NC_SIBLING_TICKS);
    assert_false(sibling.found);
    nc_sibling_note(&sibling, NC_SIBLING_TICKS - 1);
    transfer.sibling = &sibling;
    inline_message(100, 0);
    slot_message(1000, 0);
    sibling = (struct nc_sibling){.found = false};
    inline_message(100, 2);
    slot_message(1001, 0);
    slot_message(1000, 16);
    assert_int_equal(sibling.announced, 2); /* the long one does not count */
    /* nobody else looks at these lines; one measure may be interrupted */
    for (int i = 0; nc_copy_can_demote() && i < 1000 && !sibling.found; i++) {
        sibling.announced = NC_SIBLING_EVERY - 1;
        inline_message(1, 0);
    }
    assert_int_equal(sibling.found, nc_copy_can_demote());
    transfer.sibling = NULL;
}

static void test_for_whom(void **state)
{
    struct nc_situation free = {.ranks = 8}, crowded = {.ranks = 8, .oversubscribed = true};

    (void) state;
    assert_int_equal(nc_select_demotes_most(&free, 1), NC_DEMOTES_MOST);
    assert_int_equal(nc_select_demotes_most(&free, 2), 0);
    assert_int_equal(nc_select_demotes_most(&crowded, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_payload), cmocka_unit_test(test_slot),
                                       cmocka_unit_test(test_sibling),
                                       cmocka_unit_test(test_for_whom)};

    return cmocka_run_group_tests(tests, make, drop);
}
