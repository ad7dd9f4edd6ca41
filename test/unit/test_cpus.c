/* core/nc_cpus.c: which sets of affinity masks are oversubscribed: with unbound ranks, bound ranks,
 * masks that overlap, unknown masks; of some of the ranks; and, for random masks, the same answer
 * as by trying everything. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "core/nc_cpus.h"

enum { LAST = NC_CPUS_WORDS * 64 - 1 };

static bool oversubscribed(const struct nc_cpus *m, const int *rank, int n)
{
    struct nc_masks masks = {NC_CPUS_WORDS, (uint64_t *) m->word};

    return nc_cpus_oversubscribed(&masks, rank, n);
}

static struct nc_cpus range(int first, int last)
{
    struct nc_cpus set = {{0}};
    for (int i = first; i <= last; i++)
        set.word[i / 64] |= (uint64_t) 1 << i % 64;
    return set;
}

static struct nc_cpus two(int a, int b)
{
    struct nc_cpus set = range(a, a);
    set.word[b / 64] |= (uint64_t) 1 << b % 64;
    return set;
}

static void unbound(void **state)
{
    struct nc_cpus m[3] = {range(0, 1), range(0, 1), range(0, 1)};

    (void) state;
    assert_false(oversubscribed(m, NULL, 0));
    assert_false(oversubscribed(m, NULL, 1));
    assert_false(oversubscribed(m, NULL, 2));
    assert_true(oversubscribed(m, NULL, 3));
}

static void bound(void **state)
{
    struct nc_cpus apart[4] = {range(0, 0), range(1, 1), range(64, 64), range(LAST, LAST)};
    struct nc_cpus same[4] = {range(0, 0), range(1, 1), range(1, 1), range(3, 3)};
    struct nc_cpus nested[3] = {range(0, 3), range(2, 2), range(2, 3)};

    (void) state;
    assert_false(oversubscribed(apart, NULL, 4));
    assert_true(oversubscribed(same, NULL, 4));
    assert_false(oversubscribed(nested, NULL, 3));
}

/* Masks that overlap in a ring: in no mask lie more masks than it has processors, but all four have
 * only three processors. */
static void ring(void **state)
{
    struct nc_cpus m[4] = {two(0, 100), two(100, LAST), two(0, LAST), two(0, 100)};

    (void) state;
    assert_false(oversubscribed(m, NULL, 3));
    assert_true(oversubscribed(m, NULL, 4));
    m[3] = two(100, 101);
    assert_false(oversubscribed(m, NULL, 4));
}

/* Each rank but the last has taken the first of its two processors, which the last rank needs: all
 * of them move. */
static void chain(void **state)
{
    enum { RANKS = 128 };
    struct nc_cpus *m = malloc(sizeof *m * (RANKS + 1));

    (void) state;
    for (int i = 0; i < RANKS; i++)
        m[i] = range(i, i + 1);
    m[RANKS] = range(0, 0);
    assert_false(oversubscribed(m, NULL, RANKS + 1));
    m[RANKS - 1] = range(RANKS - 2, RANKS - 1);
    assert_true(oversubscribed(m, NULL, RANKS + 1));
    free(m);
}

static void unknown(void **state)
{
    struct nc_cpus m[4] = {{{0}}, range(0, 0), {{0}}, range(1, 1)};

    (void) state;
    assert_false(oversubscribed(m, NULL, 1));
    assert_false(oversubscribed(m, NULL, 4));
    m[3] = range(0, 0);
    assert_true(oversubscribed(m, NULL, 4));
}

static void some_ranks(void **state)
{
    struct nc_cpus m[4] = {range(5, 5), range(5, 5), range(5, 6), range(7, 7)};

    (void) state;
    assert_true(oversubscribed(m, NULL, 4));
    assert_false(oversubscribed(m, (int[]){3, 2, 1}, 3));
    assert_true(oversubscribed(m, (int[]){1, 0}, 2));
    assert_false(oversubscribed(m, (int[]){1, 0}, 1));
    assert_false(oversubscribed(m, (int[]){2, 0}, 2));
}

/* ---- random masks ---- */

enum { CPUS = 6, RANKS = 6 };
static const int cpu[CPUS] = {65, 63, 0, LAST, 64, 1000};

/* Whether ranks `first` and following can have processors of their own, without those in `used`. */
static bool fit(const unsigned *bits, int first, int ranks, unsigned used)
{
    if (first == ranks)
        return true;
    if (bits[first] == 0)
        return fit(bits, first + 1, ranks, used);
    for (unsigned i = 0; i < CPUS; i++) {
        if (bits[first] & ~used & 1u << i && fit(bits, first + 1, ranks, used | 1u << i))
            return true;
    }
    return false;
}

/* Only so many words of each mask as the longest has. */
static void few_words(void **state)
{
    uint64_t word[3] = {1, 2, 2};
    struct nc_masks masks = {1, word};

    (void) state;
    assert_false(nc_cpus_oversubscribed(&masks, NULL, 2));
    assert_true(nc_cpus_oversubscribed(&masks, NULL, 3));
}

static void random_masks(void **state)
{
    int crowded = 0, draws = 20000;

    (void) state;
    srand(1);
    for (int draw = 0; draw < draws; draw++) {
        struct nc_cpus m[RANKS] = {{{0}}};
        unsigned bits[RANKS];
        int ranks = 1 + rand() % RANKS;
        for (int r = 0; r < ranks; r++) {
            bits[r] = (unsigned) rand() & (unsigned) rand() & ((1u << CPUS) - 1);
            for (int i = 0; i < CPUS; i++)
                m[r].word[cpu[i] / 64] |= (uint64_t) (bits[r] >> i & 1) << cpu[i] % 64;
        }
        assert_int_equal(oversubscribed(m, NULL, ranks), !fit(bits, 0, ranks, 0));
        crowded += !fit(bits, 0, ranks, 0);
    }
    assert_in_range(crowded, draws / 10, draws * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unbound),   cmocka_unit_test(bound),       cmocka_unit_test(ring),
        cmocka_unit_test(chain),     cmocka_unit_test(some_ranks),  cmocka_unit_test(unknown),
        cmocka_unit_test(few_words), cmocka_unit_test(random_masks)};
    return cmocka_run_group_tests_name("cpus", tests, NULL, NULL);
}
