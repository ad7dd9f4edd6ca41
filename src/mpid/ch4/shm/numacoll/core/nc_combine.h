/* The op kernels of the component: functions that reduce arrays of numbers, result := a op b.
 * coll/reduction.c looks up the kernel of an operation and a datatype; where there is none, MPICH's
 * functions reduce. */

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

/* nc_number_bytes and the tables of nc_combine.c rely on this order: four signed integers by
 * length, four unsigned ones by length, then the floating-point types. */
_Static_assert(NC_INT8 == 0 && NC_INT64 == 3 && NC_UINT8 == 4 && NC_UINT64 == 7 && NC_FLOAT == 8,
               "whole numbers by sign and length, before the others");

/* Bytes of one element. */
static inline size_t nc_number_bytes(enum nc_number number)
{
    return number == NC_DOUBLE ? 8 : number == NC_FLOAT ? 4 : (size_t) 1 << number % 4;
}

/* result[i] := a[i] op b[i] for n elements. None of the three arrays needs to be aligned. The
 * result may be one of the operands; it must not overlap an operand in any other way. Signed
 * integers wrap. MAX and MIN yield the element of a if the two elements are equal or one of them is
 * a NaN. */
typedef void nc_combine(void *result, const void *a, const void *b, size_t n);

enum nc_combine_kind {
    NC_COMBINE_NARROW, /* for every processor */
    NC_COMBINE_WIDE,   /* by the widest vector registers of this processor */
    /* as wide, and the result is written by streaming stores, past the caches, where this processor
     * can and the result is aligned as its elements are. It must not be one of the operands, or
     * nothing is gained: that operand is in the cache already */
    NC_COMBINE_STREAMING,
    NC_COMBINE_KINDS
};

/* The kernel for an operation on a type of numbers; NULL if there is none. */
nc_combine *nc_combine_find(enum nc_op op, enum nc_number number, enum nc_combine_kind kind);

#endif
