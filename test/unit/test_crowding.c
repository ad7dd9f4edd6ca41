/* core/nc_crowding.c: what oversubscribes ranks: masks, a quota that they share, both or none. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>

#include "core/nc_crowding.h"

enum { RANKS = 4 };
static const struct nc_cpus on0 = {{1}}, on1 = {{2}}, on2 = {{4}}, on3 = {{8}}, unknown = {{0}};
static struct nc_cpus masks[RANKS];
static const struct nc_masks all_masks = {NC_CPUS_WORDS, masks[0].word};
static struct nc_quota quotas[RANKS];

static enum nc_crowding found(int n)
{
    return nc_crowding_find(&all_masks, quotas, NULL, n);
}

#define MASKS(a, b, c, d) (masks[0] = a, masks[1] = b, masks[2] = c, masks[3] = d)

/* Gives each rank a quota of so many thousandths of a processor, in a cgroup. */
static void share(int rank, int millicpus, uint64_t id)
{
    quotas[rank] = (struct nc_quota){millicpus, id};
}

static int clear(void **state)
{
    (void) state;
    MASKS(on0, on1, on2, on3);
    for (int i = 0; i < RANKS; i++)
        share(i, 0, 0);
    return 0;
}

static void by_masks(void **state)
{
    (void) state;
    assert_int_equal(found(4), NC_CROWDING_NONE);
    MASKS(on0, on1, on2, on0);
    assert_int_equal(found(3), NC_CROWDING_NONE);
    assert_int_equal(found(4), NC_CROWDING_MASKS);
}

static void by_quota(void **state)
{
    (void) state;
    for (int i = 0; i < RANKS; i++)
        share(i, 3000, 77);
    assert_int_equal(found(3), NC_CROWDING_NONE);
    assert_int_equal(found(4), NC_CROWDING_QUOTA);
    for (int i = 0; i < RANKS; i++)
        share(i, 3999, 77);
    assert_int_equal(found(4), NC_CROWDING_QUOTA);
    for (int i = 0; i < RANKS; i++)
        share(i, INT_MAX, 77);
    assert_int_equal(found(4), NC_CROWDING_NONE);
    /* the quota limits ranks whose masks are unknown, too */
    MASKS(unknown, unknown, unknown, unknown);
    assert_int_equal(found(4), NC_CROWDING_NONE);
    share(3, 999, 77);
    assert_int_equal(found(4), NC_CROWDING_QUOTA);
}

/* Only ranks of one cgroup add up; ranks without a quota have no cgroup, whatever their id. */
static void by_one_of_the_quotas(void **state)
{
    (void) state;
    share(0, 2000, 1);
    share(1, 2000, UINT64_MAX);
    share(2, 2000, 1);
    share(3, 2000, UINT64_MAX);
    assert_int_equal(found(4), NC_CROWDING_NONE);
    share(1, 1999, UINT64_MAX);
    share(3, 1999, UINT64_MAX);
    assert_int_equal(found(4), NC_CROWDING_QUOTA);
    assert_int_equal(found(3), NC_CROWDING_NONE);
    share(1, 0, 1);
    share(3, 0, 1);
    assert_int_equal(found(4), NC_CROWDING_NONE);
}

static void by_both(void **state)
{
    (void) state;
    MASKS(on0, on0, on0, on0);
    for (int i = 0; i < RANKS; i++)
        share(i, 1000, 5);
    assert_int_equal(found(4), NC_CROWDING_MASKS);
    assert_int_equal(found(1), NC_CROWDING_NONE);
}

static void some_ranks(void **state)
{
    (void) state;
    MASKS(on0, on0, on1, on2);
    share(2, 1500, 5);
    share(3, 1500, 5);
    assert_int_equal(nc_crowding_find(&all_masks, quotas, (int[]){3, 0}, 2), NC_CROWDING_NONE);
    assert_int_equal(nc_crowding_find(&all_masks, quotas, (int[]){1, 2, 0}, 3), NC_CROWDING_MASKS);
    assert_int_equal(nc_crowding_find(&all_masks, quotas, (int[]){3, 0, 2}, 3), NC_CROWDING_QUOTA);
    assert_int_equal(nc_crowding_find(&all_masks, quotas, (int[]){3, 2}, 2), NC_CROWDING_QUOTA);
    assert_int_equal(nc_crowding_find(&all_masks, quotas, NULL, 0), NC_CROWDING_NONE);
}

#define TEST(f) cmocka_unit_test_setup(f, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(by_masks), TEST(by_quota), TEST(by_one_of_the_quotas),
                                       TEST(by_both), TEST(some_ranks)};
    return cmocka_run_group_tests_name("crowding", tests, NULL, NULL);
}
