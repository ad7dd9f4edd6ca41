/* core/nc_pace.c: the writer finds the faster kind of stores, notices soon when the other kind
 * becomes faster, and tries the slower one seldom. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_pace.h"

/* Whether the next fragment that is no trial is copied by streaming stores. */
static bool streams(const struct nc_pace *p)
{
    struct nc_pace settled = *p;

    settled.left = 1;
    return nc_pace_streams(&settled);
}

/* Copies n fragments of 8 KiB. ordinary, streaming: time of a fragment. Every `noise`-th fragment
 * takes a hundred times as long, as if the process had lost its processor; 0: none. Returns how
 * many were copied by streaming stores. */
static int copy(struct nc_pace *p, int n, uint64_t ordinary, uint64_t streaming, int noise)
{
    int streamed = 0;

    for (int i = 0; i < n; i++) {
        bool kind = nc_pace_streams(p);
        uint64_t time = kind ? streaming : ordinary;
        if (noise && i % noise == noise - 1)
            time *= 100;
        nc_pace_note(p, kind, 8192, time);
        streamed += kind;
    }
    return streamed;
}

static void finds_the_faster(void **state)
{
    struct nc_pace p = {.left = 0};

    (void) state;
    copy(&p, 20, 1000, 6000, 0);
    assert_false(streams(&p));
    p = (struct nc_pace){.left = 0};
    copy(&p, 20, 6000, 1000, 0);
    assert_true(streams(&p));
}

/* In the long run, of every 257 fragments one. */
static void tries_seldom(void **state)
{
    struct nc_pace p = {.left = 0};

    (void) state;
    copy(&p, 2000, 1000, 6000, 0);
    assert_in_range(copy(&p, 25700, 1000, 6000, 0), 99, 101);
}

static void notices_a_change(void **state)
{
    struct nc_pace p = {.left = 0};

    (void) state;
    copy(&p, 5000, 1000, 1200, 0);
    assert_false(streams(&p));
    copy(&p, 2 * (NC_PACE_MOST + 1), 6000, 1200, 0);
    assert_true(streams(&p));
    copy(&p, 5000, 6000, 1200, 0);
    copy(&p, 4 * (NC_PACE_MOST + 1), 800, 1200, 0);
    assert_false(streams(&p));
}

/* Not for a difference that is smaller than the noise. */
static void stays(void **state)
{
    struct nc_pace p = {.left = 0};

    (void) state;
    copy(&p, 100, 1000, 6000, 0);
    copy(&p, 5000, 1000, 900, 0);
    assert_false(streams(&p));
}

static void bears_interruptions(void **state)
{
    struct nc_pace p = {.left = 0};

    (void) state;
    copy(&p, 1000, 1000, 3000, 50);
    for (int i = 0; i < 100; i++) {
        copy(&p, 100, 1000, 3000, 50);
        assert_false(streams(&p));
    }
}

/* Times of clocks of any resolution, fragments of any length. */
static void any_unit(void **state)
{
    static const uint64_t times[] = {0, 1, 1000, UINT64_MAX >> 20};

    (void) state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        for (size_t bytes = 64; bytes <= 16 << 20; bytes *= 8) {
            struct nc_pace p = {.left = 0};
            for (int k = 0; k < 1000; k++)
                nc_pace_note(&p, nc_pace_streams(&p), bytes, times[i]);
            assert_false(streams(&p));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_faster),    cmocka_unit_test(tries_seldom),
        cmocka_unit_test(notices_a_change),    cmocka_unit_test(stays),
        cmocka_unit_test(bears_interruptions), cmocka_unit_test(any_unit)};
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
