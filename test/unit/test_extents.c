/* Tests core/nc_extents: first fit, and random takes and gives against a map of bytes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_extents.h"

enum { ROOM = 40, END = 1000 };

struct range {
    struct nc_extent extent[ROOM];
    struct nc_extents extents;
};

static void make(struct range *r, uint64_t first)
{
    r->extents = (struct nc_extents){.first = first, .end = END, .extent = r->extent, .room = ROOM};
}

static void first_fit(void **state)
{
    struct range r;
    uint64_t at;

    (void) state;
    make(&r, 100);
    for (int i = 0; i < 9; i++) {
        assert_true(nc_extents_take(&r.extents, 100, &at));
        assert_int_equal(at, 100 + 100 * i);
    }
    assert_false(nc_extents_take(&r.extents, 1, &at));
    assert_int_equal(nc_extents_find(&r.extents, 300), 100);
    assert_int_equal(nc_extents_find(&r.extents, 299), 0);
    assert_int_equal(nc_extents_find(&r.extents, 999), 0);
    assert_int_equal(nc_extents_give(&r.extents, 300), 100);
    assert_int_equal(nc_extents_find(&r.extents, 300), 0);
    assert_int_equal(nc_extents_give(&r.extents, 300), 0);
    assert_int_equal(nc_extents_give(&r.extents, 350), 0);
    assert_int_equal(nc_extents_give(&r.extents, 700), 100);
    assert_int_equal(nc_extents_give(&r.extents, 800), 100);
    assert_false(nc_extents_take(&r.extents, 201, &at));
    assert_true(nc_extents_take(&r.extents, 200, &at)); /* the two that are neighbours */
    assert_int_equal(at, 700);
    assert_true(nc_extents_take(&r.extents, 60, &at));
    assert_int_equal(at, 300);
    assert_true(nc_extents_take(&r.extents, 40, &at));
    assert_int_equal(at, 360);
}

static void ends(void **state)
{
    struct range r;
    uint64_t at;

    (void) state;
    make(&r, 0);
    assert_false(nc_extents_take(&r.extents, END + 1, &at));
    assert_false(nc_extents_take(&r.extents, UINT64_MAX, &at));
    assert_true(nc_extents_take(&r.extents, END, &at));
    assert_int_equal(at, 0);
    assert_int_equal(nc_extents_give(&r.extents, 0), END);
    for (int i = 0; i < ROOM; i++)
        assert_true(nc_extents_take(&r.extents, 1, &at));
    assert_false(nc_extents_take(&r.extents, 1, &at)); /* the list is full */
}

static void random_takes(void **state)
{
    struct range r;
    char taken[END] = {0}, none[END] = {0};
    uint64_t start[ROOM], bytes[ROOM];
    int n = 0;

    (void) state;
    srand(1);
    make(&r, 10);
    for (int i = 0; i < 20000; i++) {
        if (n < ROOM && rand() % 2) {
            bytes[n] = 1 + (uint64_t) rand() % 80;
            if (!nc_extents_take(&r.extents, bytes[n], &start[n])) {
                /* there is really no gap of so many bytes */
                for (uint64_t at = 10; at + bytes[n] <= END; at++)
                    assert_memory_not_equal(taken + at, none, bytes[n]);
                continue;
            }
            assert_true(start[n] >= 10 && start[n] + bytes[n] <= END);
            assert_memory_equal(taken + start[n], none, bytes[n]);
            memset(taken + start[n], 1, bytes[n]);
            n++;
        } else if (n > 0) {
            int k = rand() % n;
            assert_int_equal(nc_extents_give(&r.extents, start[k]), bytes[k]);
            memset(taken + start[k], 0, bytes[k]);
            n--;
            start[k] = start[n];
            bytes[k] = bytes[n];
        }
        assert_int_equal(r.extents.count, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_fit), cmocka_unit_test(ends),
                                       cmocka_unit_test(random_takes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
