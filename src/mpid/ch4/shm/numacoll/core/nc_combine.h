/* MPI's arithmetic on rows of numbers, from two operands to a third. */

#ifndef NC_COMBINE_H_INCLUDED
#define NC_COMBINE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum nc_op { NC_SUM, NC_PROD, NC_MAX, NC_MIN, NC_BAND, NC_BOR, NC_BXOR, NC_OPS };

enum nc_number {
    NC_INT8,
    NC_INT16,
    NC_INT32,
    NC_INT64,
    NC_UINT8,
    NC_UINT16,
    NC_UINT32,
    NC_UINT64,
    NC_FLOAT,
    NC_DOUBLE,
    NC_NUMBERS
};

/* Whole numbers are in two rows of four, by their length: so says nc_number_bytes, and so are the
 * tables of nc_combine.c written. */
_Static_assert(NC_INT8 == 0 && NC_INT64 == 3 && NC_UINT8 == 4 && NC_UINT64 == 7 && NC_FLOAT == 8,
               "whole numbers by sign and length, before the others");

static inline size_t nc_number_bytes(enum nc_number number)
{
    return number == NC_DOUBLE ? 8 : number == NC_FLOAT ? 4 : (size_t) 1 << number % 4;
}

/* result[i] := a[i] op b[i], for n elements, which need not be aligned. The result may be an
 * operand, but not overlap with one in another way. Signed numbers wrap. Where a and b are equal,
 * or one is not a number, MAX and MIN yield a. */
typedef void nc_combine(void *result, const void *a, const void *b, size_t n);

/* The function for an operation on a kind of numbers; NULL where there is none. wide: by the widest
 * registers of this processor. */
nc_combine *nc_combine_find(enum nc_op op, enum nc_number number, bool wide);

#endif
