/* core/nc_combine.c: the kernel of every operation on every type of numbers, compared with a
 * computation of each element in another way. The result is separate or one of the operands, and no
 * array is aligned. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/nc_combine.h"

/* elements: bytes, which are the smallest, fill a cache line of the result wherever it begins */
enum { MOST = 150, ROOM = MOST * 8 + 128 };

/* Every byte of every operand, also numbers that are none: their payload is the processor's affair.
 */
static void fill(unsigned char *bytes, size_t n)
{
    static unsigned state = 1;

    for (size_t i = 0; i < n; i++) {
        state = state * 1103515245u + 12345u;
        bytes[i] = (unsigned char) (state >> 16);
    }
}

static uint64_t load(const unsigned char *from, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t) from[i] << 8 * i;
    return value;
}

/* By other means than the functions: 64 bits, of which the lowest count. */
static uint64_t whole(enum nc_op op, enum nc_number number, uint64_t a, uint64_t b)
{
    unsigned unused = 64 - 8 * (unsigned) nc_number_bytes(number);
    bool is_signed = number < NC_UINT8;
    bool less = is_signed ? (int64_t) (a << unused) < (int64_t) (b << unused) : a < b;

    switch (op) {
        case NC_SUM:
            return a + b;
        case NC_PROD:
            return a * b;
        case NC_MAX:
            return less ? b : a;
        case NC_MIN:
            return less ? a : b;
        case NC_BAND:
            return a & b;
        case NC_BOR:
            return a | b;
        default:
            return a ^ b;
    }
}

static double real(enum nc_op op, double a, double b)
{
    return op == NC_SUM    ? a + b
           : op == NC_PROD ? a * b
           : op == NC_MAX  ? (b > a ? b : a)
           : b < a         ? b
                           : a;
}

static bool is_real(enum nc_number number)
{
    return number == NC_FLOAT || number == NC_DOUBLE;
}

static bool right(enum nc_op op, enum nc_number number, const unsigned char *a,
                  const unsigned char *b, const unsigned char *result)
{
    size_t bytes = nc_number_bytes(number);

    if (number == NC_FLOAT) {
        float x, y, z, expected;
        memcpy(&x, a, bytes);
        memcpy(&y, b, bytes);
        memcpy(&z, result, bytes);
        expected = (float) real(op, (double) x, (double) y);
        return memcmp(&z, &expected, bytes) == 0 || (isnan(z) && isnan(expected));
    }
    if (number == NC_DOUBLE) {
        double x, y, z, expected;
        memcpy(&x, a, bytes);
        memcpy(&y, b, bytes);
        memcpy(&z, result, bytes);
        expected = real(op, x, y);
        return memcmp(&z, &expected, bytes) == 0 || (isnan(z) && isnan(expected));
    }
    return load(result, bytes) ==
           (whole(op, number, load(a, bytes), load(b, bytes)) & UINT64_MAX >> (64 - 8 * bytes));
}

/* n numbers at odd places; the result is a, or b, as `place` says, or apart, at any place of a
 * line. */
static void check_row(nc_combine *combine, enum nc_op op, enum nc_number number, size_t n,
                      int place)
{
    unsigned char a[ROOM], b[ROOM], apart[ROOM], old_a[ROOM], old_b[ROOM];
    unsigned char *rows[] = {apart + 1 + n * 5 % 64, a + 7, b + 6}, *result = rows[place];
    size_t bytes = n * nc_number_bytes(number);

    fill(a, ROOM);
    fill(b, ROOM);
    memset(apart, 0xee, ROOM);
    memcpy(old_a, a, ROOM);
    memcpy(old_b, b, ROOM);
    combine(result, a + 7, b + 6, n);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * nc_number_bytes(number);
        assert_true(right(op, number, old_a + 7 + at, old_b + 6 + at, result + at));
    }
    if (place == 0) {
        assert_int_equal(result[-1], 0xee);
        assert_int_equal(result[bytes], 0xee);
    }
}

static void check_table(enum nc_combine_kind kind)
{
    int functions = 0;

    for (int op = 0; op < NC_OPS; op++) {
        for (int number = 0; number < NC_NUMBERS; number++) {
            nc_combine *combine = nc_combine_find(op, number, kind);
            assert_true((combine == NULL) == (op >= NC_BAND && is_real(number)));
            for (size_t n = 0; combine && n <= MOST; n++) {
                for (int place = 0; place < 3; place++)
                    check_row(combine, op, number, n, place);
            }
            functions += combine != NULL;
        }
    }
    assert_int_equal(functions, 4 * 10 + 3 * 8);
}

static void plain(void **state)
{
    (void) state;
    check_table(NC_COMBINE_NARROW);
}

static void wide(void **state)
{
    (void) state;
    check_table(NC_COMBINE_WIDE);
}

static void streaming(void **state)
{
    (void) state;
    check_table(NC_COMBINE_STREAMING);
}

static void what_is_not_a_number_comes_first(void **state)
{
    (void) state;
    for (int kind = 0; kind < NC_COMBINE_KINDS; kind++) {
        double a = NAN, b = 1, result;
        nc_combine_find(NC_MAX, NC_DOUBLE, kind)(&result, &a, &b, 1);
        assert_true(isnan(result));
        nc_combine_find(NC_MAX, NC_DOUBLE, kind)(&result, &b, &a, 1);
        assert_true(result == 1);
    }
}

static void sizes(void **state)
{
    static const size_t bytes[NC_NUMBERS] = {1, 2, 4, 8, 1, 2, 4, 8, sizeof(float), sizeof(double)};

    (void) state;
    for (int number = 0; number < NC_NUMBERS; number++)
        assert_int_equal(nc_number_bytes(number), bytes[number]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),     cmocka_unit_test(wide),
        cmocka_unit_test(streaming), cmocka_unit_test(what_is_not_a_number_comes_first),
        cmocka_unit_test(sizes),
    };

    return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
