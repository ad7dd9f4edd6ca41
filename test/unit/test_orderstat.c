/* tools/bench/orderstat.c: quantiles, the ranks and ends of the interval of a median, and what
 * counts as a change. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "bench/orderstat.h"

static void near(double is, double wanted)
{
    if (!(fabs(is - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", is, wanted);
}

static void test_quantiles(void **state)
{
    double values[] = {5, 1, 4, 2, 3}, even[] = {40, 10, 30, 20}, one[] = {7};

    (void) state;
    near(order_quantile(values, 5, 0.5), 3);
    near(order_quantile(values, 5, 0), 1);
    near(order_quantile(values, 5, 1), 5);
    near(order_quantile(values, 5, 0.9), 4.6);
    near(order_quantile(even, 4, 0.5), 25);
    near(order_quantile(one, 1, 0.99), 7);
}

/* The ranks are those of the two-sided sign test at 5 %, as printed in tables. */
static void test_ranks(void **state)
{
    static const struct {
        int n, rank;
    } known[] = {{1, 0},  {2, 0},  {5, 0},  {6, 1},   {7, 1},   {8, 1},   {9, 2},   {10, 2},
                 {11, 2}, {12, 3}, {13, 3}, {14, 3},  {15, 4},  {16, 4},  {17, 5},  {18, 5},
                 {19, 5}, {20, 6}, {25, 8}, {30, 10}, {40, 14}, {50, 18}, {100, 40}};

    (void) state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (order_interval_rank(known[i].n) != known[i].rank)
            fail_msg("n=%d: %d instead of %d", known[i].n, order_interval_rank(known[i].n),
                     known[i].rank);
    }
    /* where 2^-n is no number any more: about n/2 - 0.98 sqrt(n) */
    assert_int_equal(order_interval_rank(10000), 4902);
}

static void interval_is(const struct interval *i, double median, double low, double high)
{
    near(i->median, median);
    near(i->low, low);
    near(i->high, high);
}

static void test_intervals(void **state)
{
    double ten[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, six[] = {6, 1, 5, 2, 4, 3},
           five[] = {1, 2, 3, 4, 50}, one[] = {7};
    struct interval i = order_interval(ten, 10);

    (void) state;
    interval_is(&i, 5.5, 2, 9);
    near(order_error(&i), 3.5 / 5.5);
    i = order_interval(six, 6);
    interval_is(&i, 3.5, 1, 6);
    i = order_interval(five, 5);
    interval_is(&i, 3, 1, 50);
    near(order_error(&i), 47.0 / 3);
    i = order_interval(one, 1);
    interval_is(&i, 7, 7, 7);
}

static void test_late(void **state)
{
    double times[] = {1, 2, 3, 4, 5};
    static const unsigned char none[5], two[5] = {1, 0, 0, 1, 0}, three[5] = {1, 0, 1, 1, 0};

    (void) state;
    assert_int_equal(order_late(two, 5), 2);
    assert_false(order_leaves_out(three, 5));
    assert_true(order_leaves_out(two, 4));
    assert_false(order_leaves_out(two, 1));
    assert_int_equal(order_counted(times, none, 5, times), 5);
    assert_int_equal(order_counted(times, three, 5, times), 5);
    assert_int_equal(order_counted(times, two, 5, times), 3);
    assert_true(times[0] == 2 && times[1] == 3 && times[2] == 5);
}

static void test_changes(void **state)
{
    const struct interval before = {10, 9, 11}, apart = {12, 11.5, 13}, overlaps = {12, 11, 13},
                          little = {11.4, 11.2, 11.6}, faster = {8, 7, 8.9};

    (void) state;
    assert_int_equal(order_change(&before, &apart, 0.05), CHANGE_SLOWER);
    assert_int_equal(order_change(&apart, &before, 0.05), CHANGE_FASTER);
    assert_int_equal(order_change(&before, &overlaps, 0.05), CHANGE_NONE);
    assert_int_equal(order_change(&before, &little, 0.05), CHANGE_SLOWER);
    assert_int_equal(order_change(&before, &little, 0.15), CHANGE_NONE);
    assert_int_equal(order_change(&little, &before, 0.15), CHANGE_NONE);
    assert_int_equal(order_change(&before, &faster, 0.2), CHANGE_FASTER);
    assert_int_equal(order_change(&before, &faster, 0.25), CHANGE_NONE);
    assert_int_equal(order_change(&before, &before, 0), CHANGE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles), cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_intervals), cmocka_unit_test(test_late),
        cmocka_unit_test(test_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
