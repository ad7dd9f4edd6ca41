/* Tests numacoll_counts.h: short arrays are not allocated, long ones are allocated once and freed
 * once, and both are aligned; no memory is NULL, which may be freed. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "numacoll_counts.h"
#include "numacoll_counts_end.h" /* and a second time, as in a file with several functions */
#include "numacoll_counts.h"

/* As MPICH's files do: two arrays at a time, of n elements each. */
static void use(size_t n, bool on_stack)
{
    int before = allocated, freed_before = freed;
    int64_t *one, *other;

    do {
        one = MPL_malloc(n * sizeof *one, MPL_MEM_OTHER);
    } while (0);
    other = MPL_malloc(n * sizeof *other, MPL_MEM_OTHER);
    assert_int_equal((uintptr_t) one % _Alignof(max_align_t), 0);
    assert_int_equal((uintptr_t) other % _Alignof(max_align_t), 0);
    memset(one, 1, n * sizeof *one);
    memset(other, 2, n * sizeof *other);
    for (size_t i = 0; i < n; i++)
        assert_true(one[i] == 0x0101010101010101 && other[i] == 0x0202020202020202);
    assert_int_equal(allocated - before, on_stack ? 0 : 2);
    MPL_free(one);
    MPL_free(other);
    assert_int_equal(freed - freed_before, on_stack ? 0 : 2);
}

static void test_where(void **state)
{
    size_t most = MPIR_NUMACOLL_COUNTS_ON_STACK / sizeof(int64_t);

    (void) state;
    use(0, true);
    use(1, true);
    use(most, true);
    use(most + 1, false);
    use(100000, false);
}

static void test_no_memory(void **state)
{
    void *counts;
    int before = freed;

    (void) state;
    is_full = true;
    counts = MPL_malloc(MPIR_NUMACOLL_COUNTS_ON_STACK + 1, MPL_MEM_OTHER);
    is_full = false;
    assert_null(counts);
    MPL_free(counts);
    assert_int_equal(freed, before);
}

#include "numacoll_counts_end.h"

static void test_end(void **state)
{
    int before = allocated, freed_before = freed;

    (void) state;
    MPL_free(MPL_malloc(1, MPL_MEM_OTHER));
    assert_int_equal(allocated - before, 1);
    assert_int_equal(freed - freed_before, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
