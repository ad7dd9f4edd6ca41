/* tools/bench/skew.c: what is taken as an arrival pattern, and when ranks arrive. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "bench/skew.h"

static void test_parse(void **state)
{
    static const char *const wrong[] = {"",        "linear",   "linear:",   "linear:0", "late:-1",
                                        "late:1x", "late:nan", "late:inf",  "flat:3",   "None",
                                        "random5", "late:1e7", "random:5,6"};
    struct skew skew;

    (void) state;
    assert_true(skew_parse("none", &skew) && skew.kind == SKEW_NONE);
    assert_true(skew_parse("linear:10", &skew) && skew.kind == SKEW_LINEAR && skew.us == 10);
    assert_true(skew_parse("random:0.5", &skew) && skew.kind == SKEW_RANDOM && skew.us == 0.5);
    assert_true(skew_parse("late:1e6", &skew) && skew.kind == SKEW_LATE && skew.us == 1e6);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (skew_parse(wrong[i], &skew))
            fail_msg("\"%s\" passes", wrong[i]);
    }
}

static void test_regular(void **state)
{
    const struct skew none = {SKEW_NONE, 0}, linear = {SKEW_LINEAR, 30}, late = {SKEW_LATE, 7};

    (void) state;
    for (int rank = 0; rank < 4; rank++) {
        assert_true(skew_delay(&none, 5, rank, 4) == 0);
        assert_true(fabs(skew_delay(&linear, 5, rank, 4) - 10 * rank) < 1e-12);
        assert_true(skew_delay(&late, 5, rank, 4) == (rank == 2 ? 7 : 0));
    }
    assert_true(skew_last(&none, 5, 4) == 0);
    assert_true(fabs(skew_last(&linear, 5, 4) - 30) < 1e-12);
    assert_true(skew_last(&late, 6, 4) == 7);
}

/* A root that moves on by one in each call meets every late rank. */
static void test_late_and_roots(void **state)
{
    const struct skew late = {SKEW_LATE, 7};
    bool met[4] = {false};

    (void) state;
    for (uint64_t call = 0; call < 16; call++) {
        for (int rank = 0; rank < 4; rank++)
            met[(rank + 4 - (int) (call % 4)) % 4] |= skew_delay(&late, call, rank, 4) > 0;
    }
    assert_true(met[0] && met[1] && met[2] && met[3]);
}

/* Each rank in each call at another time, all over the range; none after the last. */
static void test_random(void **state)
{
    const struct skew skew = {SKEW_RANDOM, 100};
    double sum = 0, low = 100, high = 0;
    enum { CALLS = 1000, RANKS = 4 };

    (void) state;
    for (uint64_t call = 0; call < CALLS; call++) {
        double most = 0;
        for (int rank = 0; rank < RANKS; rank++) {
            double delay = skew_delay(&skew, call, rank, RANKS);
            assert_true(delay >= 0 && delay < 100);
            assert_true(rank == 0 || delay != skew_delay(&skew, call, rank - 1, RANKS));
            sum += delay / (CALLS * RANKS);
            most = fmax(most, delay);
            low = fmin(low, delay);
            high = fmax(high, delay);
        }
        assert_true(most == skew_last(&skew, call, RANKS));
    }
    assert_true(low < 1 && high > 99 && fabs(sum - 50) < 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_regular),
        cmocka_unit_test(test_late_and_roots),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
