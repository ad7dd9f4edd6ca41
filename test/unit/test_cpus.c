/* core/nc_cpus.c: which sets of affinity masks are oversubscribed, with unbound and with bound
 * ranks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_cpus.h"

static struct nc_cpus range(int first, int last)
{
    struct nc_cpus set = {{0}};
    for (int i = first; i <= last; i++)
        set.word[i / 64] |= (uint64_t) 1 << i % 64;
    return set;
}

static void unbound(void **state)
{
    struct nc_cpus m[3] = {range(0, 1), range(0, 1), range(0, 1)};

    (void) state;
    assert_false(nc_cpus_oversubscribed(m, 1));
    assert_false(nc_cpus_oversubscribed(m, 2));
    assert_true(nc_cpus_oversubscribed(m, 3));
}

static void bound(void **state)
{
    struct nc_cpus apart[4] = {range(0, 0), range(1, 1), range(64, 64), range(1023, 1023)};
    struct nc_cpus same[4] = {range(0, 0), range(1, 1), range(1, 1), range(3, 3)};
    struct nc_cpus nested[3] = {range(0, 3), range(2, 2), range(2, 3)};

    (void) state;
    assert_false(nc_cpus_oversubscribed(apart, 4));
    assert_true(nc_cpus_oversubscribed(same, 4));
    assert_false(nc_cpus_oversubscribed(nested, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unbound), cmocka_unit_test(bound)};
    return cmocka_run_group_tests_name("cpus", tests, NULL, NULL);
}
