/* core/nc_arena.h: the sizes that are measured, and that the arrays carved from a block of this
 * size are aligned and do not overlap. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_arena.h"

enum { LINE = 64 };

struct arrays {
    char *text;
    uint64_t *number;
    int *rank;
    char *lines;
    size_t texts, numbers, ranks, line_bytes;
};

static void take_arrays(struct arrays *a, struct nc_arena *arena)
{
    a->text = NC_ARENA_TAKE(arena, a->texts, char);
    a->number = NC_ARENA_TAKE(arena, a->numbers, uint64_t);
    a->rank = NC_ARENA_TAKE(arena, a->ranks, int);
    a->lines = nc_arena_take(arena, 2, a->line_bytes, LINE);
}

static size_t measure(struct arrays *a)
{
    struct nc_arena arena = {.base = NULL};

    take_arrays(a, &arena);
    return arena.bytes;
}

static void no_array_while_measuring(void **state)
{
    struct arrays a = {.texts = 3, .numbers = 2, .ranks = 1, .line_bytes = LINE};

    (void) state;
    measure(&a);
    assert_null(a.text);
    assert_null(a.number);
    assert_null(a.rank);
    assert_null(a.lines);
}

static void sizes_by_hand(void **state)
{
    struct arrays a = {.texts = 3, .numbers = 2, .ranks = 1, .line_bytes = LINE};

    (void) state;
    /* 3, up to 8, 16, 4, up to 64, 2 * 64 */
    assert_int_equal(measure(&a), 64 + 2 * LINE);
    a.texts = 41; /* up to 48, 16, 4, up to 128 */
    assert_int_equal(measure(&a), 128 + 2 * LINE);
    a = (struct arrays){.texts = 5};
    assert_int_equal(measure(&a), LINE); /* an array without elements is aligned all the same */
    a = (struct arrays){.texts = 0};
    assert_int_equal(measure(&a), 0);
}

/* Fills every array with a value of its own; AddressSanitizer sees what goes beyond the block. */
static void fill(const struct arrays *a)
{
    memset(a->text, 1, a->texts);
    memset(a->number, 2, a->numbers * sizeof *a->number);
    memset(a->rank, 3, a->ranks * sizeof *a->rank);
    memset(a->lines, 4, 2 * a->line_bytes);
}

static void assert_filled(const void *array, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(((const char *) array)[i], value);
}

static void check(struct arrays *a)
{
    struct nc_arena arena = {.base = NULL};
    size_t bytes = measure(a);

    /* the block ends where the last array does: no bytes are left over for a fault to hide in */
    arena.base = aligned_alloc(LINE, bytes);
    take_arrays(a, &arena);
    assert_int_equal(arena.bytes, bytes);
    assert_int_equal((uintptr_t) a->number % _Alignof(uint64_t), 0);
    assert_int_equal((uintptr_t) a->rank % _Alignof(int), 0);
    assert_int_equal((uintptr_t) a->lines % LINE, 0);
    assert_ptr_equal(a->lines + 2 * a->line_bytes, arena.base + bytes);
    fill(a);
    assert_filled(a->text, a->texts, 1);
    assert_filled(a->number, a->numbers * sizeof *a->number, 2);
    assert_filled(a->rank, a->ranks * sizeof *a->rank, 3);
    assert_filled(a->lines, 2 * a->line_bytes, 4);
    free(arena.base);
}

static void carved_as_measured(void **state)
{
    (void) state;
    for (int i = 0; i < 10 * 10 * 10; i++) {
        struct arrays a = {.texts = (size_t) (i % 10),
                           .numbers = (size_t) (i / 10 % 10),
                           .ranks = (size_t) (i / 100),
                           .line_bytes = LINE};
        check(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_array_while_measuring),
                                       cmocka_unit_test(sizes_by_hand),
                                       cmocka_unit_test(carved_as_measured)};
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
