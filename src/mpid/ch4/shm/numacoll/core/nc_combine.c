/* The op kernels: one loop per operation and type, written by macros, and the tables
 * nc_combine_find looks them up in. See nc_combine.h. */

#include "nc_combine.h"

#include <stdint.h>

/* -O2 may not vectorize a loop of unknown length. And the compiler must assume that iterations
 * depend on each other, since the result may be an operand; INDEPENDENT says that they do not. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define ROLLED
#elif defined __GNUC__
#pragma GCC optimize("O3")
#define INDEPENDENT _Pragma("GCC ivdep")
/* GCC unrolls a short loop before it vectorizes it, and then finds less */
#define ROLLED      _Pragma("GCC unroll 1")
#else
#define INDEPENDENT
#endif

#define LOOP(attributes, name, T, expression) \
    attributes static void name(void *result, const void *packed, const void *other, size_t n) \
    { \
        T##_there *to = result; \
        const T##_there *from_a = packed, *from_b = other; \
        INDEPENDENT \
        for (size_t i = 0; i < n; i++) { \
            T a = from_a[i], b = from_b[i]; \
            to[i] = (T) (expression); \
        } \
    }

/* The library is compiled for every x86-64 processor. Each kernel has two more versions for those
 * with AVX2, which nc_combine_find chooses at run time. The streaming one combines a cache line at
 * a time, which the compiler keeps in registers, and stores it whole: a line of which only a part
 * is streamed costs as much as several. ThreadSanitizer does not see streaming stores. */
#if defined __x86_64__ && defined __GNUC__
#define HAVE_WIDE
#define WIDE __attribute__((target("avx2"), noinline))
#ifdef __SANITIZE_THREAD__
#define STREAMING(name, T, expression) LOOP(WIDE, name##_streaming, T, expression)
#else
#include <immintrin.h>

#define LINE 64 /* bytes */

#define STREAMING(name, T, expression) \
    WIDE static void name##_streaming(void *result, const void *packed, const void *other, \
                                      size_t n) \
    { \
        enum { PER_LINE = LINE / sizeof(T) }; \
        T##_there *to = result; \
        const T##_there *from_a = packed, *from_b = other; \
        size_t head = (-(uintptr_t) result & (LINE - 1)) / sizeof(T); \
        if ((uintptr_t) result % sizeof(T) || n < head + PER_LINE) { \
            name##_wide(result, packed, other, n); \
            return; \
        } \
        name##_wide(to, from_a, from_b, head); \
        for (; head + PER_LINE <= n; head += PER_LINE) { \
            _Alignas(LINE) T line[PER_LINE]; \
            INDEPENDENT \
            ROLLED \
            for (size_t i = 0; i < PER_LINE; i++) { \
                T a = from_a[head + i], b = from_b[head + i]; \
                line[i] = (T) (expression); \
            } \
            _mm256_stream_si256((__m256i *) (to + head), ((const __m256i *) line)[0]); \
            _mm256_stream_si256((__m256i *) (to + head) + 1, ((const __m256i *) line)[1]); \
        } \
        name##_wide(to + head, from_a + head, from_b + head, n - head); \
        _mm_sfence(); /* a release does not order streaming stores */ \
    }
#endif
#define FUNCTION(name, T, expression) \
    LOOP(, name, T, expression) \
    LOOP(WIDE, name##_wide, T, expression) \
    STREAMING(name, T, expression)
#else
#define FUNCTION(name, T, expression) LOOP(, name, T, expression)
#endif

/* The types of numbers in a user's buffer: with any alignment, and allowed to alias the type that
 * the user's code has for them. */
#define THERE(T) typedef T T##_there __attribute__((may_alias, aligned(1)));
THERE(int8_t)
THERE(int16_t)
THERE(int32_t)
THERE(int64_t)
THERE(uint8_t)
THERE(uint16_t)
THERE(uint32_t)
THERE(uint64_t)
THERE(float)
THERE(double)

/* W: the type a product is computed in. Without it, C promotes the narrow types to int, and a
 * product of two of them may overflow the int. */
#define NUMBERS(name, T, W) \
    FUNCTION(sum_##name, T, a + b) \
    FUNCTION(prod_##name, T, (W) a *(W) b)

#define BITS(name, T) \
    FUNCTION(band_##name, T, a &b) \
    FUNCTION(bor_##name, T, a | b) \
    FUNCTION(bxor_##name, T, a ^ b)

#define ORDERED(name, T) \
    FUNCTION(max_##name, T, b > a ? b : a) \
    FUNCTION(min_##name, T, b < a ? b : a)

NUMBERS(uint8, uint8_t, uint32_t)
NUMBERS(uint16, uint16_t, uint32_t)
NUMBERS(uint32, uint32_t, uint32_t)
NUMBERS(uint64, uint64_t, uint64_t)
NUMBERS(float, float, float)
NUMBERS(double, double, double)
BITS(uint8, uint8_t)
BITS(uint16, uint16_t)
BITS(uint32, uint32_t)
BITS(uint64, uint64_t)
ORDERED(int8, int8_t)
ORDERED(int16, int16_t)
ORDERED(int32, int32_t)
ORDERED(int64, int64_t)
ORDERED(uint8, uint8_t)
ORDERED(uint16, uint16_t)
ORDERED(uint32, uint32_t)
ORDERED(uint64, uint64_t)
ORDERED(float, float)
ORDERED(double, double)

/* Only MAX and MIN differ between signed and unsigned integers; the other operations use the
 * unsigned kernels for both. */
#define WHOLE(op, wide)    UNSIGNED(op, wide), UNSIGNED(op, wide)
#define SIGNED(op, wide)   op##_int8##wide, op##_int16##wide, op##_int32##wide, op##_int64##wide
#define UNSIGNED(op, wide) op##_uint8##wide, op##_uint16##wide, op##_uint32##wide, op##_uint64##wide
#define REAL(op, wide)     op##_float##wide, op##_double##wide

#define TABLE(wide) \
    [NC_SUM] = {WHOLE(sum, wide), REAL(sum, wide)}, \
    [NC_PROD] = {WHOLE(prod, wide), REAL(prod, wide)}, \
    [NC_MAX] = {SIGNED(max, wide), UNSIGNED(max, wide), REAL(max, wide)}, \
    [NC_MIN] = {SIGNED(min, wide), UNSIGNED(min, wide), REAL(min, wide)}, \
    [NC_BAND] = {WHOLE(band, wide)}, [NC_BOR] = {WHOLE(bor, wide)}, \
    [NC_BXOR] = {WHOLE(bxor, wide)}

static nc_combine *const function[][NC_OPS][NC_NUMBERS] = {
    [NC_COMBINE_NARROW] = {TABLE()},
#ifdef HAVE_WIDE
    [NC_COMBINE_WIDE] = {TABLE(_wide)},
    [NC_COMBINE_STREAMING] = {TABLE(_streaming)},
#endif
};

nc_combine *nc_combine_find(enum nc_op op, enum nc_number number, enum nc_combine_kind kind)
{
#ifdef HAVE_WIDE
    if (!__builtin_cpu_supports("avx2"))
        kind = NC_COMBINE_NARROW;
#else
    kind = NC_COMBINE_NARROW;
#endif
    return function[kind][op][number];
}
