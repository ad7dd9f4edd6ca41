/* shm/nc_copy.c: a stream divided into fragments of any size gives the same bytes, also if the
 * function that moves a datatype stops between elements; and which copies bypass the cache or are
 * counted as traffic. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "shm/nc_copy.h"

enum { LENGTH = 5000 };

/* A user buffer of elements of 12, 1 and 32 bytes in turn, apart in memory; moves whole elements
 * only. */
struct sparse {
    unsigned char memory[2 * LENGTH];
};

static const size_t element[3] = {12, 1, 32};

static int move(struct sparse *s, size_t offset, unsigned char *packed, size_t max, size_t *moved,
                int out)
{
    size_t at = 0, n = 0;

    for (int i = 0; at < LENGTH; at += element[i++ % 3]) {
        size_t e = element[i % 3] < LENGTH - at ? element[i % 3] : LENGTH - at;
        if (at < offset)
            continue;
        assert_int_equal(at, offset + n); /* never asked to start inside an element */
        if (n + e > max)
            break;
        if (out)
            memcpy(s->memory + 2 * at, packed + n, e);
        else
            memcpy(packed + n, s->memory + 2 * at, e);
        n += e;
    }
    *moved = n;
    return 0;
}

static int pack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) how;
    return move(user, offset, packed, max, moved, 0);
}

static int unpack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) how;
    return move(user, offset, packed, max, moved, 1);
}

static struct nc_stream stream_of(struct sparse *s)
{
    struct nc_stream stream = {
        .bytes = NULL, .pack = pack, .unpack = unpack, .user = s, .length = LENGTH};
    return stream;
}

static void typed_streams(void **state)
{
    unsigned char plain[LENGTH];
    struct nc_traffic traffic = {.local = 0};

    (void) state;
    for (int i = 0; i < LENGTH; i++)
        plain[i] = (unsigned char) (i * 7 + i / 256);
    for (size_t f = 1; f <= 130; f++) {
        static struct sparse a, b;
        struct nc_stream to = stream_of(&a), from = stream_of(&a), back = stream_of(&b);
        unsigned char fragment[130], packed[LENGTH];

        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        for (size_t at = 0; at < LENGTH; at += f) {
            size_t n = LENGTH - at < f ? LENGTH - at : f;
            assert_int_equal(nc_copy_out(&to, plain + at, n, 0, &traffic), 0);
        }
        for (size_t at = 0; at < LENGTH; at += f) {
            size_t n = LENGTH - at < f ? LENGTH - at : f;
            assert_int_equal(nc_copy_in(&from, fragment, n, 0, &traffic), 0);
            memcpy(packed + at, fragment, n);
            assert_int_equal(nc_copy_out(&back, fragment, n, NC_COPY_REMOTE, &traffic), 0);
        }
        assert_memory_equal(packed, plain, LENGTH);
        assert_memory_equal(a.memory, b.memory, sizeof a.memory);
    }
    assert_int_equal(traffic.local, 2 * 130 * LENGTH);
    assert_int_equal(traffic.remote, 130 * LENGTH);
}

static void too_much_is_dropped(void **state)
{
    char to[10 + 4] = "0123456789abc", from[64];
    struct nc_traffic traffic = {.local = 0};

    (void) state;
    memset(from, 'x', sizeof from);
    for (int how = 0; how <= NC_COPY_STREAMING; how++) {
        struct nc_stream s = {.bytes = to, .length = 10};
        assert_int_equal(nc_copy_out(&s, from, 7, how, &traffic), 0);
        assert_int_equal(nc_copy_out(&s, from, 64, how, &traffic), 0);
        assert_string_equal(to, "xxxxxxxxxxabc");
    }
    assert_int_equal(traffic.local, 20);
}

static void streaming_stores(void **state)
{
    static char from[9000], to[9200];
    struct nc_traffic traffic = {.local = 0};

    (void) state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char) (i * 13);
    for (size_t shift = 0; shift < 70; shift++) {
        for (size_t n = 1; n < 9000; n = n * 2 + 1) {
            struct nc_stream s = {.bytes = to + shift, .length = n};
            memset(to, 0x55, sizeof to);
            assert_int_equal(
                nc_copy_out(&s, from + 3, n < 8990 ? n : 8990, NC_COPY_STREAMING, &traffic), 0);
            assert_memory_equal(to + shift, from + 3, n < 8990 ? n : 8990);
            assert_int_equal(to[shift + n], 0x55);
            s = (struct nc_stream){.bytes = from + 5, .length = n};
            memset(to, 0x55, sizeof to);
            assert_int_equal(nc_copy_in(&s, to + shift, n, NC_COPY_STREAMING, &traffic), 0);
            assert_memory_equal(to + shift, from + 5, n);
            assert_int_equal(to[shift + n], 0x55);
        }
    }
}

/* Every length up to some lines more than the shortest copy that streams, from several places and
 * to every place in a cache line: all bytes arrive, and none before or behind them changes. */
static void streaming_stores_of_any_length(void **state)
{
    enum { LINE = 64, LONGEST = 600 };
    static const size_t places[] = {0, 1, 8, 31, 63};
    static _Alignas(LINE) unsigned char from[LINE + LONGEST], to[LINE + LINE + LONGEST + LINE];
    unsigned char untouched[LINE];

    (void) state;
    memset(untouched, 0x55, sizeof untouched);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char) (i * 13 + i / 256);
    for (size_t shift = 0; shift < LINE; shift++) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            for (size_t n = 1; n <= LONGEST; n++) {
                unsigned char *at = to + LINE + shift;
                memset(at - LINE, 0x55, LINE + n + LINE);
                nc_copy_bytes(at, from + places[i], n, NC_COPY_STREAMING);
                assert_memory_equal(at, from + places[i], n);
                assert_memory_equal(at - LINE, untouched, LINE);
                assert_memory_equal(at + n, untouched, LINE);
            }
        }
    }
}

static void not_counted(void **state)
{
    char from[] = "numbers", shared[8], to[8];
    struct nc_stream in = {.bytes = from, .length = 8}, out = {.bytes = to, .length = 8};

    (void) state;
    assert_int_equal(nc_copy_in(&in, shared, 8, NC_COPY_REMOTE, NULL), 0);
    assert_int_equal(nc_copy_out(&out, shared, 8, 0, NULL), 0);
    assert_string_equal(to, "numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_streams), cmocka_unit_test(too_much_is_dropped),
        cmocka_unit_test(streaming_stores), cmocka_unit_test(streaming_stores_of_any_length),
        cmocka_unit_test(not_counted)};
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
