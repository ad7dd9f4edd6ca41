/* core/nc_frag.h and core/nc_clock.h: fragments add up to the message, the size of a fragment is
 * within its limits, and clocks are compared by their difference. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_clock.h"
#include "core/nc_frag.h"

static void fragments_make_the_message(void **state)
{
    (void) state;
    for (uint64_t m = 0; m < 3000; m += 7) {
        for (uint64_t f = 1; f < 1100; f += 13) {
            uint64_t sum = 0, n = nc_frag_count(m, f);
            assert_true(n >= 1);
            for (uint64_t i = 0; i < n; i++) {
                assert_true(nc_frag_bytes(m, f, i) <= f);
                assert_true(nc_frag_bytes(m, f, i) > 0 || m == 0);
                sum += nc_frag_bytes(m, f, i);
            }
            assert_int_equal(sum, m);
            assert_int_equal(nc_frag_bytes(m, f, n), 0);
        }
    }
}

static void beyond_32_bits(void **state)
{
    uint64_t m = ((uint64_t) 1 << 40) + 5;

    (void) state;
    assert_int_equal(nc_frag_count(m, 8192), (m + 8191) / 8192);
    assert_int_equal(nc_frag_bytes(m, 8192, nc_frag_count(m, 8192) - 1), 5);
    assert_true(nc_frag_count(UINT64_MAX, 8192) == (uint64_t) 1 << 51);
}

static void sqrt_rule(void **state)
{
    (void) state;
    assert_int_equal(nc_frag_sqrt_rule(0), 4096);
    assert_int_equal(nc_frag_sqrt_rule(4u << 20), 4096);
    assert_int_equal(nc_frag_sqrt_rule(16u << 20), 4096);
    assert_int_equal(nc_frag_sqrt_rule((16u << 20) + 1), 8192);
    assert_int_equal(nc_frag_sqrt_rule((uint64_t) 1 << 40), 1 << 20);
}

static void choice_is_within_the_slot(void **state)
{
    (void) state;
    for (uint64_t m = 1; m < (uint64_t) 1 << 40; m *= 3) {
        for (uint64_t slot = 1; slot <= 1 << 20; slot *= 4) {
            for (enum nc_frag_rule rule = 0; rule <= NC_FRAG_SQRT; rule++) {
                uint64_t f = nc_frag_choose(m, slot, rule);
                uint64_t of_scatter = nc_frag_choose_scatter(m, slot, rule);
                assert_true(f <= slot && f > 0);
                assert_true(of_scatter <= slot && of_scatter >= f);
            }
        }
    }
}

static void rules(void **state)
{
    (void) state;
    assert_int_equal(nc_frag_choose(100000, 32768, NC_FRAG_QUARTER), 25024);
    assert_int_equal(nc_frag_choose(8000, 32768, NC_FRAG_QUARTER), 4096);
    assert_int_equal(nc_frag_choose(1 << 20, 32768, NC_FRAG_QUARTER), 32768);
    assert_int_equal(nc_frag_choose(400, 32768, NC_FRAG_FIXED), 32768);
    assert_int_equal(nc_frag_choose(1 << 30, 1001, NC_FRAG_FIXED), 1001);
    assert_int_equal(nc_frag_choose(20u << 20, 32768, NC_FRAG_SQRT), 8192);
    assert_int_equal(nc_frag_choose_scatter(30000, 32768, NC_FRAG_QUARTER), 15040);
    assert_int_equal(nc_frag_choose_scatter(8000, 32768, NC_FRAG_QUARTER), 4096);
    assert_int_equal(nc_frag_choose_scatter(400, 32768, NC_FRAG_FIXED), 32768);
    assert_int_equal(nc_frag_choose_scatter(20u << 20, 32768, NC_FRAG_SQRT), 8192);
}

static void clocks_compare_by_difference(void **state)
{
    (void) state;
    assert_true(nc_clock_reached(nc_clock_at(3, 0), nc_clock_at(2, 99)));
    assert_false(nc_clock_reached(nc_clock_at(2, 99), nc_clock_at(3, 0)));
    assert_true(nc_clock_reached(nc_clock_at(2, 5), nc_clock_at(2, 5)));
    /* operations are counted modulo 2^24 in a clock */
    assert_true(nc_clock_reached(nc_clock_at((1 << 24) + 1, 0), nc_clock_at((1 << 24) - 1, 7)));
    assert_true(nc_clock_reached(0, nc_clock_at((uint64_t) 0 - 31, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fragments_make_the_message),
                                       cmocka_unit_test(beyond_32_bits),
                                       cmocka_unit_test(sqrt_rule),
                                       cmocka_unit_test(choice_is_within_the_slot),
                                       cmocka_unit_test(rules),
                                       cmocka_unit_test(clocks_compare_by_difference)};
    return cmocka_run_group_tests_name("frag", tests, NULL, NULL);
}
