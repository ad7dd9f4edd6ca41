/* tools/bench/counts.c: names, and blocks that follow each other, in whole units, within the bytes
 * that equal blocks have. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/counts.h"

static void test_names(void **state)
{
    enum counts counts;

    (void) state;
    assert_true(counts_parse("even", &counts) && counts == COUNTS_EVEN);
    assert_true(counts_parse("linear", &counts) && counts == COUNTS_LINEAR);
    assert_true(counts_parse("one", &counts) && counts == COUNTS_ONE);
    assert_false(counts_parse("", &counts));
    assert_false(counts_parse("two", &counts));
}

static void test_known(void **state)
{
    (void) state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(counts_length(COUNTS_EVEN, 24, 8, i, 4), 24);
        assert_int_equal(counts_length(COUNTS_LINEAR, 24, 8, i, 4), 16 * i);
        assert_int_equal(counts_length(COUNTS_ONE, 24, 8, i, 4), i == 3 ? 96 : 0);
    }
    assert_int_equal(counts_length(COUNTS_LINEAR, 5, 1, 1, 4), 3);  /* 10/3 */
    assert_int_equal(counts_length(COUNTS_LINEAR, 24, 8, 1, 6), 8); /* 48/5 */
}

static void test_blocks(void **state)
{
    (void) state;
    for (enum counts counts = COUNTS_EVEN; counts <= COUNTS_ONE; counts++) {
        for (int n = 2; n < 20; n++) {
            for (size_t m = 0; m < 200; m++) {
                size_t unit = m % 8 == 0 ? 8 : m % 4 == 0 ? 4 : 1, longest = 0, end = 0;
                for (int i = 0; i < n; i++) {
                    size_t length = counts_length(counts, m, unit, i, n);
                    assert_int_equal(counts_offset(counts, m, unit, i, n), end);
                    assert_int_equal(length % unit, 0);
                    longest = length > longest ? length : longest;
                    end += length;
                }
                assert_int_equal(longest, counts_longest(counts, m, n));
                assert_true(end <= m * (size_t) n);
                assert_true(end == m * (size_t) n || counts == COUNTS_LINEAR);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
