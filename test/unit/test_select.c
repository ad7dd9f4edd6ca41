#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_select.h"

static enum nc_barrier_kind barrier(int ranks, bool numa_nodes, bool crowded)
{
    struct nc_situation s = {.ranks = ranks,.numa_nodes = numa_nodes,.crowded = crowded };
    return nc_select_barrier(&s);
}

static void barriers(void **state)
{
    (void) state;
    assert_int_equal(barrier(1, false, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(2, true, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(2, false, true), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(3, true, false), NC_BARRIER_HIERARCHICAL);
    assert_int_equal(barrier(16, false, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(17, false, false), NC_BARRIER_COMBINING);
    assert_int_equal(barrier(100000, false, false), NC_BARRIER_COMBINING);
    for (int ranks = 3; ranks < 300; ranks++) {
        assert_int_equal(barrier(ranks, true, true), NC_BARRIER_CENTRAL);
        assert_int_equal(barrier(ranks, false, true), NC_BARRIER_CENTRAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(barriers) };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
