#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_layout.h"

static void nothing_overlaps(void **state)
{
    (void) state;
    for (uint32_t s = 1; s <= 32; s *= 2) {
        for (uint32_t f = 1; f < 20000; f += 977) {
            struct nc_geometry g = nc_geometry_make(5, s, f, 2);
            struct nc_layout l = nc_layout_make(&g);
            assert_true(l.posts >= l.done + NC_LINE);
            assert_true(l.out >= l.posts + NC_POSTS * NC_POST_BYTES);
            assert_true(l.slot_stride >= f && l.slot_stride % NC_LINE == 0);
            assert_true(l.region >= l.out + s * l.slot_stride);
            assert_int_equal(l.out % NC_PAGE, 0);
            assert_int_equal(l.region % NC_PAGE, 0);
            assert_int_equal(nc_layout_region(&l, 0), NC_PAGE);
            assert_int_equal(nc_layout_region(&l, 5), l.total);
        }
    }
}

static void sets(void **state)
{
    (void) state;
    assert_int_equal(nc_geometry_make(2, 8, 4096, 2).set_slots, 4);
    assert_int_equal(nc_geometry_make(2, 8, 4096, 1).set_slots, 8);
    assert_int_equal(nc_geometry_make(2, 7, 4096, 2).set_slots, 3);
    assert_int_equal(nc_geometry_make(2, 1, 4096, 2).set_slots, 1);
    assert_int_equal(nc_geometry_make(2, 3, 4096, 64).set_slots, 1);
}

static void defaults_fit_64_ranks_in_8_mb(void **state)
{
    struct nc_geometry g = nc_geometry_make(64, 8, 8192, 2);

    (void) state;
    assert_true(nc_layout_make(&g).total <= 8u << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_overlaps), cmocka_unit_test(sets), cmocka_unit_test(defaults_fit_64_ranks_in_8_mb)
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
