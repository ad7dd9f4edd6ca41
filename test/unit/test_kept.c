/* Tests core/nc_kept: which one is taken, the bounds, and random use against a list. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_kept.h"

enum { MEGABYTE = 1 << 20 };

static void add(struct nc_kept_set *s, const int *key, int ints, int context, int number,
                void *thing)
{
    struct nc_kept kept = {.key = key,
                           .ints = ints,
                           .context = context,
                           .number = number,
                           .bytes = MEGABYTE,
                           .thing = thing};

    assert_true(nc_kept_has_room(s, MEGABYTE, NC_KEPT_MOST, SIZE_MAX));
    nc_kept_add(s, &kept);
}

static void takes_by_key_context_and_number(void **state)
{
    struct nc_kept_set s = {.count = 0};
    const int pair[] = {0, 1}, reversed[] = {1, 0}, three[] = {0, 1, 2};
    char a, b, c, d, e;

    (void) state;
    assert_null(nc_kept_take(&s, pair, 2, 7));
    add(&s, pair, 2, 7, 12, &a);
    add(&s, pair, 2, 8, 11, &b);
    add(&s, reversed, 2, 7, 3, &c);
    add(&s, three, 3, 7, 2, &d);
    add(&s, pair, 2, 9, 10, &e);
    assert_ptr_equal(nc_kept_take(&s, pair, 2, 8), &b); /* by its context */
    assert_ptr_equal(nc_kept_take(&s, pair, 2, 8), &e); /* by the lowest number */
    assert_ptr_equal(nc_kept_take(&s, pair, 2, 8), &a);
    assert_null(nc_kept_take(&s, pair, 2, 7));
    assert_ptr_equal(nc_kept_take(&s, reversed, 2, 1), &c);
    assert_ptr_equal(nc_kept_take(&s, three, 3, 1), &d);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.bytes, 0);
}

/* Two processes that have added the same things in different orders take the same ones. */
static void order_does_not_matter(void **state)
{
    struct nc_kept_set one = {.count = 0}, other = {.count = 0};
    const int key[] = {4, 5, 6};
    char thing[6];

    (void) state;
    for (int i = 0; i < 6; i++) { /* two each of a context */
        add(&one, key, 3, 100 + i / 2, 1 + i, &thing[i]);
        add(&other, key, 3, 100 + (5 - i) / 2, 6 - i, &thing[5 - i]);
    }
    assert_ptr_equal(nc_kept_take(&one, key, 3, 102), &thing[4]);
    assert_ptr_equal(nc_kept_take(&other, key, 3, 102), &thing[4]);
    for (int context = 99; context < 104; context++)
        assert_ptr_equal(nc_kept_take(&one, key, 3, context),
                         nc_kept_take(&other, key, 3, context));
    assert_int_equal(one.count, 0);
}

static void room(void **state)
{
    struct nc_kept_set s = {.count = 0};
    const int key[] = {0};
    char thing;

    (void) state;
    assert_false(nc_kept_has_room(&s, MEGABYTE, 0, SIZE_MAX));
    assert_false(nc_kept_has_room(&s, MEGABYTE, 1, MEGABYTE - 1));
    assert_true(nc_kept_has_room(&s, MEGABYTE, 1, MEGABYTE));
    add(&s, key, 1, 0, 1, &thing);
    assert_false(nc_kept_has_room(&s, MEGABYTE, 1, SIZE_MAX));
    assert_true(nc_kept_has_room(&s, MEGABYTE, 2, 2 * MEGABYTE));
    assert_false(nc_kept_has_room(&s, MEGABYTE + 1, 2, 2 * MEGABYTE));
    assert_false(nc_kept_has_room(&s, SIZE_MAX, 2, SIZE_MAX));
    for (int i = 1; i < NC_KEPT_MOST; i++)
        add(&s, key, 1, 0, 1 + i, &thing);
    assert_false(nc_kept_has_room(&s, 0, 2 * NC_KEPT_MOST, SIZE_MAX));
}

static bool is_odd(const void *thing)
{
    return *(const int *) thing % 2 == 1;
}

static void takes_the_oldest(void **state)
{
    struct nc_kept_set s = {.count = 0};
    const int key[] = {0};
    int thing[] = {0, 1, 2, 3};

    (void) state;
    for (int i = 0; i < 4; i++)
        add(&s, key, 1, 0, 9 - i, &thing[i]);
    assert_ptr_equal(nc_kept_take_first(&s, is_odd), &thing[1]);
    assert_ptr_equal(nc_kept_take_first(&s, NULL), &thing[0]);
    assert_ptr_equal(nc_kept_take_first(&s, is_odd), &thing[3]);
    assert_null(nc_kept_take_first(&s, is_odd));
    assert_ptr_equal(nc_kept_take_first(&s, NULL), &thing[2]);
    assert_null(nc_kept_take_first(&s, NULL));
}

/* A thing for random_use, which knows whether it is in the set. */
struct known {
    int key[2], context, number;
    size_t bytes;
    bool in;
};

/* The one that nc_kept_take has to find; NULL: none. */
static struct known *expected(struct known *all, int n, const int *key, int context)
{
    struct known *best = NULL, *match = NULL;

    for (int i = 0; i < n; i++) {
        if (!all[i].in || memcmp(all[i].key, key, sizeof all[i].key))
            continue;
        if (all[i].context == context && (!match || all[i].number < match->number))
            match = &all[i];
        if (!best || all[i].number < best->number)
            best = &all[i];
    }
    return match ? match : best;
}

static void random_use(void **state)
{
    enum { THINGS = 100, MOST = 20, MOST_BYTES = 10 * MEGABYTE };
    struct known all[THINGS], *found;
    struct nc_kept_set s = {.count = 0};
    size_t bytes = 0;
    int count = 0;

    (void) state;
    srand(1);
    for (int i = 0; i < THINGS; i++)
        all[i] = (struct known){
            .key = {i % 3, i % 2}, .context = i / 7, .number = 1 + i * 37 % THINGS};
    for (int i = 0; i < 100000; i++) {
        struct known *one = &all[rand() % THINGS];
        if (rand() % 2 && !one->in) {
            one->bytes = (size_t) rand() % MEGABYTE;
            assert_int_equal(nc_kept_has_room(&s, one->bytes, MOST, MOST_BYTES),
                             count < MOST && bytes + one->bytes <= MOST_BYTES);
            if (!nc_kept_has_room(&s, one->bytes, MOST, MOST_BYTES))
                continue;
            nc_kept_add(&s, &(struct nc_kept){.key = one->key,
                                              .ints = 2,
                                              .context = one->context,
                                              .number = one->number,
                                              .bytes = one->bytes,
                                              .thing = one});
            one->in = true;
            count++;
            bytes += one->bytes;
        } else {
            int context = rand() % (THINGS / 7);
            found = expected(all, THINGS, one->key, context);
            assert_ptr_equal(nc_kept_take(&s, one->key, 2, context), found);
            if (!found)
                continue;
            found->in = false;
            count--;
            bytes -= found->bytes;
        }
        assert_int_equal(s.count, count);
        assert_int_equal(s.bytes, bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_by_key_context_and_number), cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(room), cmocka_unit_test(takes_the_oldest), cmocka_unit_test(random_use)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
