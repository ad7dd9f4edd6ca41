/* Reduce, allreduce, reduce_scatter, scan and exscan with checked data, for all_random, all_reduce
 * and programs of their own: many kinds of elements and operations, with and without gaps. Bytes
 * around and between the elements have the value NC_UNTOUCHED and must keep it. Each rank computes
 * the expected result itself. A collective that reduces is a row of nc_reducers. */

#ifndef REDUCTIONS_H_INCLUDED
#define REDUCTIONS_H_INCLUDED

#include "blocks.h"

/* ---- kinds of elements, and an operation on them ---- */

/* A kind of element with an operation. An element is `pairs` pairs of ints, or single ints,
 * `stride` bytes apart. */
struct nc_numbers {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Aint extent;
    int pairs, stride;
    int first, second; /* offsets of a pair's ints, bytes; second NC_SINGLE: a single int */
    int real;          /* the first of a pair is a double */
    void (*join)(const char *a, char *b); /* the operation on one pair: b := a op b */
};

enum { NC_SINGLE = -100, NC_MODULUS = 10007 };

static inline int *nc_int(char *p, int at)
{
    return (int *) (void *) (p + at);
}

static inline int nc_value(const char *p, int at)
{
    return *(const int *) (const void *) (p + at);
}

static inline double nc_real(const char *p)
{
    return *(const double *) (const void *) p;
}

static inline void nc_join_sum(const char *a, char *b)
{
    *nc_int(b, 0) += nc_value(a, 0);
}

static inline void nc_join_max(const char *a, char *b)
{
    *nc_int(b, 0) = nc_value(a, 0) > nc_value(b, 0) ? nc_value(a, 0) : nc_value(b, 0);
}

static inline void nc_join_bxor(const char *a, char *b)
{
    *nc_int(b, 0) ^= nc_value(a, 0);
}

static inline int nc_product(int a, int b)
{
    return (int) ((long long) a * b % NC_MODULUS);
}

static inline void nc_join_product(const char *a, char *b)
{
    *nc_int(b, 0) = nc_product(nc_value(a, 0), nc_value(b, 0));
}

/* A pair (c, d) is a map x -> c x + d; the result is map a after map b. Associative, but not
 * commutative. c and d are offsets in bytes. */
static inline void nc_compose(const char *a, char *b, int c, int d)
{
    *nc_int(b, d) = (nc_product(nc_value(a, c), nc_value(b, d)) + nc_value(a, d)) % NC_MODULUS;
    *nc_int(b, c) = nc_product(nc_value(a, c), nc_value(b, c));
}

static inline void nc_join_affine(const char *a, char *b)
{
    nc_compose(a, b, 0, 4);
}

static inline void nc_join_affine_gaps(const char *a, char *b)
{
    nc_compose(a, b, 4, 12);
}

static inline void nc_join_affine_low(const char *a, char *b)
{
    nc_compose(a, b, 4, -8);
}

static inline void nc_join_product_gaps(const char *a, char *b)
{
    *nc_int(b, 4) = nc_product(nc_value(a, 4), nc_value(b, 4));
    *nc_int(b, 12) = nc_product(nc_value(a, 12), nc_value(b, 12));
}

/* MINLOC, MAXLOC: takes pair a if its value is better; of equal values the lower place, at `at`. */
static inline void nc_take_place(int better, int equal, const char *a, char *b, int at)
{
    if (better || (equal && nc_value(a, at) < nc_value(b, at)))
        memcpy(b, a, (size_t) at + sizeof(int));
}

static inline void nc_join_minloc(const char *a, char *b)
{
    nc_take_place(nc_value(a, 0) < nc_value(b, 0), nc_value(a, 0) == nc_value(b, 0), a, b, 4);
}

static inline void nc_join_maxloc(const char *a, char *b)
{
    nc_take_place(nc_value(a, 0) > nc_value(b, 0), nc_value(a, 0) == nc_value(b, 0), a, b, 4);
}

static inline void nc_join_minloc_real(const char *a, char *b)
{
    nc_take_place(nc_real(a) < nc_real(b), nc_real(a) == nc_real(b), a, b, 8);
}

static inline void nc_join_maxloc_real(const char *a, char *b)
{
    nc_take_place(nc_real(a) > nc_real(b), nc_real(a) == nc_real(b), a, b, 8);
}

/* Whether the user's operations write into their first operand, too, once it is combined. */
static int nc_spoils;

/* Defines nc_op_<name>, a user's MPI operation on elements of one or many pairs. */
#define NC_USER_OP(name, stride, bytes) \
    static inline void nc_op_##name(void *in, void *inout, int *n, MPI_Datatype *type) \
    { \
        int size; \
        MPI_Type_size(*type, &size); \
        for (MPI_Aint i = 0; i < (MPI_Aint) *n * (size / (bytes)); i++) \
            nc_join_##name((char *) in + i * (stride), (char *) inout + i * (stride)); \
        for (MPI_Aint i = 0; nc_spoils && i < (MPI_Aint) *n * (size / (bytes)); i++) \
            *nc_int((char *) in + i * (stride), (stride) == 20 ? 4 : 0) = -1; \
    }
/* *INDENT-OFF* */
NC_USER_OP(product, 4, 4)
NC_USER_OP(affine, 8, 8)
NC_USER_OP(affine_gaps, 20, 8)
NC_USER_OP(affine_low, 20, 8)
NC_USER_OP(product_gaps, 20, 8)
/* *INDENT-ON* */

enum {
    NC_KIND_SUM,
    NC_KIND_MAX,
    NC_KIND_BXOR,
    NC_KIND_PRODUCT,
    NC_KIND_AFFINE,
    NC_KIND_MINLOC,
    NC_KIND_MAXLOC,
    NC_KIND_MINLOC_REAL,
    NC_KIND_MAXLOC_REAL,
    NC_KIND_AFFINE_GAPS,
    NC_KIND_AFFINE_LOW,
    NC_KIND_PRODUCT_GAPS,
    NC_KINDS
};

static struct nc_numbers nc_kinds[NC_KINDS];

/* A datatype of `pairs` pairs of ints, each with lower bound lb and extent `stride`. */
static inline MPI_Datatype nc_pairs_type(int pairs, int stride, int first, int second, MPI_Aint lb)
{
    int one[2] = {1, 1};
    MPI_Aint at[2] = {first, second};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT}, raw, pair, type;

    MPI_Type_create_struct(2, one, at, ints, &raw);
    MPI_Type_create_resized(raw, lb, stride, &pair);
    MPI_Type_contiguous(pairs, pair, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&raw);
    MPI_Type_free(&pair);
    return type;
}

static inline struct nc_numbers nc_kind_ints(const char *name, MPI_Op op,
                                             void (*join)(const char *, char *))
{
    return (struct nc_numbers){.name = name,
                               .type = MPI_INT,
                               .op = op,
                               .extent = sizeof(int),
                               .pairs = 1,
                               .stride = sizeof(int),
                               .second = NC_SINGLE,
                               .join = join};
}

static inline struct nc_numbers nc_kind_places(const char *name, MPI_Op op, int real,
                                               void (*join)(const char *, char *))
{
    int extent = real ? 16 : 8;

    return (struct nc_numbers){.name = name,
                               .type = real ? MPI_DOUBLE_INT : MPI_2INT,
                               .op = op,
                               .extent = extent,
                               .pairs = 1,
                               .stride = extent,
                               .second = real ? 8 : 4,
                               .real = real,
                               .join = join};
}

/* A kind with a user's operation, on pairs at offsets `first` and `second`. */
static inline struct nc_numbers nc_kind_pairs(const char *name, MPI_User_function *function,
                                              int commutes, int pairs, int stride, int first,
                                              int second, void (*join)(const char *, char *))
{
    struct nc_numbers k = {.name = name,
                           .extent = (MPI_Aint) pairs * stride,
                           .pairs = pairs,
                           .stride = stride,
                           .first = first,
                           .second = second,
                           .join = join};

    k.type = nc_pairs_type(pairs, stride, first, second, second < 0 ? second : 0);
    MPI_Op_create(function, commutes, &k.op);
    return k;
}

/* A kind whose elements have so many pairs, without gaps or with; the operation does not commute.
 */
static inline struct nc_numbers nc_kind_affine(const char *name, int pairs, int gaps)
{
    return gaps ? nc_kind_pairs(name, nc_op_affine_gaps, 0, pairs, 20, 4, 12, nc_join_affine_gaps)
                : nc_kind_pairs(name, nc_op_affine, 0, pairs, 8, 0, 4, nc_join_affine);
}

static inline void nc_kinds_make(void)
{
    MPI_Op product;

    MPI_Op_create(nc_op_product, 1, &product);
    nc_kinds[NC_KIND_SUM] = nc_kind_ints("sum", MPI_SUM, nc_join_sum);
    nc_kinds[NC_KIND_MAX] = nc_kind_ints("max", MPI_MAX, nc_join_max);
    nc_kinds[NC_KIND_BXOR] = nc_kind_ints("bxor", MPI_BXOR, nc_join_bxor);
    nc_kinds[NC_KIND_PRODUCT] = nc_kind_ints("product", product, nc_join_product);
    nc_kinds[NC_KIND_AFFINE] = nc_kind_affine("affine", 1, 0);
    nc_kinds[NC_KIND_MINLOC] = nc_kind_places("minloc", MPI_MINLOC, 0, nc_join_minloc);
    nc_kinds[NC_KIND_MAXLOC] = nc_kind_places("maxloc", MPI_MAXLOC, 0, nc_join_maxloc);
    nc_kinds[NC_KIND_MINLOC_REAL] = nc_kind_places("minloc of doubles", MPI_MINLOC, 1,
                                                   nc_join_minloc_real);
    nc_kinds[NC_KIND_MAXLOC_REAL] = nc_kind_places("maxloc of doubles", MPI_MAXLOC, 1,
                                                   nc_join_maxloc_real);
    nc_kinds[NC_KIND_AFFINE_GAPS] = nc_kind_affine("affine with gaps", 1, 1);
    nc_kinds[NC_KIND_AFFINE_LOW] = nc_kind_pairs("affine, lower bound -8", nc_op_affine_low, 0, 1,
                                                 20, 4, -8, nc_join_affine_low);
    nc_kinds[NC_KIND_PRODUCT_GAPS] = nc_kind_pairs("product with gaps", nc_op_product_gaps, 1, 1,
                                                   20, 4, 12, nc_join_product_gaps);
}

static inline void nc_kind_free(struct nc_numbers *k)
{
    MPI_Type_free(&k->type);
    MPI_Op_free(&k->op);
}

static inline void nc_kinds_free(void)
{
    MPI_Op_free(&nc_kinds[NC_KIND_PRODUCT].op);
    nc_kind_free(&nc_kinds[NC_KIND_AFFINE]);
    for (int i = NC_KIND_AFFINE_GAPS; i < NC_KINDS; i++)
        nc_kind_free(&nc_kinds[i]);
}

/* ---- rows of elements ---- */

/* A number that looks random, the same on all ranks. */
static inline uint32_t nc_mixed(uint32_t seed, uint32_t i)
{
    uint32_t x = (seed * 0x9e3779b9u) ^ (i * 0x85ebca6bu + 0x165667b1u);

    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    return x ^ (x >> 13);
}

/* Writes a pair. For MINLOC and MAXLOC the values are few, so that many are equal. */
static inline void nc_set_pair(const struct nc_numbers *k, char *p, uint32_t x)
{
    if (k->real)
        *(double *) (void *) p = (x >> 16) % 50 / 4.0;
    else
        *nc_int(p, k->first) = (int) (k->join == nc_join_minloc || k->join == nc_join_maxloc
                                          ? (x >> 16) % 50
                                          : x % NC_MODULUS);
    if (k->second != NC_SINGLE)
        *nc_int(p, k->second) = (int) ((x >> 8) % NC_MODULUS);
}

/* Allocates `count` elements between guards. They are the operand of a rank in call `number`; rank
 * -1: all bytes are untouched. */
static inline char *nc_row_make(const struct nc_numbers *k, MPI_Count count, int number, int rank)
{
    size_t bytes = (size_t) (count * k->extent);
    char *memory = malloc(bytes + 2 * NC_GUARD);

    memset(memory, NC_UNTOUCHED, bytes + 2 * NC_GUARD);
    for (MPI_Count i = 0; i < count * k->pairs && rank >= 0; i++)
        nc_set_pair(k, memory + NC_GUARD + i * k->stride,
                    nc_mixed((uint32_t) (number * 64 + rank), (uint32_t) i));
    return memory;
}

/* The expected result: the operands of all ranks, combined in the order of ranks. */
static inline char *nc_row_expected(const struct nc_numbers *k, MPI_Count count, int number,
                                    int size)
{
    char *result = nc_row_make(k, count, number, size - 1);

    for (int rank = size - 2; rank >= 0; rank--) {
        char *row = nc_row_make(k, count, number, rank);
        for (MPI_Count i = 0; i < count * k->pairs; i++)
            k->join(row + NC_GUARD + i * k->stride, result + NC_GUARD + i * k->stride);
        free(row);
    }
    return result;
}

/* Compares two rows with their guards, and frees both. */
static inline void nc_row_compare(const struct nc_numbers *k, MPI_Count count, char *row,
                                  char *expected, const char *what)
{
    size_t bytes = (size_t) (count * k->extent) + 2 * NC_GUARD;

    for (size_t i = 0; i < bytes; i++) {
        if (row[i] != expected[i]) {
            nc_fail_now(what, (long) i - NC_GUARD, (long) bytes - 2 * NC_GUARD);
            break;
        }
    }
    free(row);
    free(expected);
}

/* ---- the collectives that reduce ---- */

/* What a rank gets of the result: all of it, or a block, of which all have equal ones or not. */
enum nc_share { NC_ALL, NC_EQUAL_BLOCK, NC_BLOCK };

/* One call. */
struct nc_reduction {
    const struct nc_reducer *how;
    MPI_Comm comm;
    int root; /* if it has one */
    const struct nc_numbers *kind;
    MPI_Count count; /* elements of the operand; where all blocks are equal, as many of them as can
                        be divided */
    int in_place;    /* MPI_IN_PLACE at the ranks that may use it */
    int large;       /* the _c binding: counts are MPI_Count */
    MPI_Count blocks[NC_MOST_RANKS]; /* elements of each, if the result is scattered; nc_divide */
};

static inline int nc_call_to_root(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;

    return r->large ? MPI_Reduce_c(from, to, r->count, k->type, k->op, r->root, r->comm)
                    : MPI_Reduce(from, to, (int) r->count, k->type, k->op, r->root, r->comm);
}

static inline int nc_call_to_all(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;

    return r->large ? MPI_Allreduce_c(from, to, r->count, k->type, k->op, r->comm)
                    : MPI_Allreduce(from, to, (int) r->count, k->type, k->op, r->comm);
}

static inline int nc_call_to_blocks(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;
    int counts[NC_MOST_RANKS];

    for (int i = 0; i < NC_MOST_RANKS; i++)
        counts[i] = (int) r->blocks[i];
    return r->large ? MPI_Reduce_scatter_c(from, to, r->blocks, k->type, k->op, r->comm)
                    : MPI_Reduce_scatter(from, to, counts, k->type, k->op, r->comm);
}

static inline int nc_call_to_equal_blocks(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;

    return r->large
               ? MPI_Reduce_scatter_block_c(from, to, r->blocks[0], k->type, k->op, r->comm)
               : MPI_Reduce_scatter_block(from, to, (int) r->blocks[0], k->type, k->op, r->comm);
}

static inline int nc_call_scan(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;

    return r->large ? MPI_Scan_c(from, to, r->count, k->type, k->op, r->comm)
                    : MPI_Scan(from, to, (int) r->count, k->type, k->op, r->comm);
}

static inline int nc_call_exscan(const struct nc_reduction *r, const void *from, void *to)
{
    const struct nc_numbers *k = r->kind;

    return r->large ? MPI_Exscan_c(from, to, r->count, k->type, k->op, r->comm)
                    : MPI_Exscan(from, to, (int) r->count, k->type, k->op, r->comm);
}

/* Whose operands are in a rank's result. */
enum nc_joined { NC_OF_ALL, NC_UP_TO_ME, NC_BEFORE_ME };

/* One row for each collective that reduces; all_random and all_reduce test all rows. */
static const struct nc_reducer {
    int collective;
    int has_root;     /* only the root has a result; else all ranks have it, or a block of it */
    int is_done_of_0; /* with no elements, or empty blocks, MPICH calls no algorithm */
    int (*call)(const struct nc_reduction *r, const void *from, void *to);
    enum nc_share share;
    enum nc_joined joined;
} nc_reducers[] = {
    {NC_REDUCE, 1, 1, nc_call_to_root, NC_ALL, NC_OF_ALL},
    {NC_ALLREDUCE, 0, 0, nc_call_to_all, NC_ALL, NC_OF_ALL},
    {NC_REDUCE_SCATTER, 0, 0, nc_call_to_blocks, NC_BLOCK, NC_OF_ALL},
    {NC_REDUCE_SCATTER_BLOCK, 0, 1, nc_call_to_equal_blocks, NC_EQUAL_BLOCK, NC_OF_ALL},
    {NC_SCAN, 0, 1, nc_call_scan, NC_ALL, NC_UP_TO_ME},
    {NC_EXSCAN, 0, 1, nc_call_exscan, NC_ALL, NC_BEFORE_ME},
};

enum { NC_REDUCERS = sizeof nc_reducers / sizeof *nc_reducers };

static inline const struct nc_reducer *nc_reducer_of(int collective)
{
    int i = 0;

    while (nc_reducers[i].collective != collective)
        i++;
    return &nc_reducers[i];
}

/* Divides the elements into a block for each rank, if the result is scattered; blocks that need not
 * be equal are drawn: some are empty, some are long. */
static inline void nc_divide(struct nc_reduction *r, int number)
{
    MPI_Count left = r->count;
    int size;

    MPI_Comm_size(r->comm, &size);
    if (r->how->share == NC_EQUAL_BLOCK)
        r->count -= r->count % size;
    for (int i = 0; i < size; i++) {
        uint32_t x = nc_mixed((uint32_t) number, (uint32_t) i);
        MPI_Count most = 2 * left / (size - i);
        r->blocks[i] = x % 4 == 0 ? 0 : (x >> 8) % (uint32_t) (most + 1);
        if (i == size - 1 || r->blocks[i] > left)
            r->blocks[i] = left;
        if (r->how->share == NC_EQUAL_BLOCK)
            r->blocks[i] = r->count / size;
        left -= r->blocks[i];
    }
}

/* Makes the call, and counts it if MPICH calls an algorithm. A result that is scattered must have
 * been divided. */
static inline int nc_call_reduce(const struct nc_reduction *r, const void *from, void *to)
{
    if (r->count > 0 || !r->how->is_done_of_0)
        nc_count(r->how->collective, r->comm);
    return r->how->call(r, from, to);
}

/* Whether a rank has a buffer for a result; rank 0 of an exclusive scan has one that stays as it
 * is. */
static inline int nc_gets(const struct nc_reduction *r, int rank)
{
    return !r->how->has_root || rank == r->root;
}

/* How many ranks, from rank 0 on, are in a rank's result. */
static inline int nc_joined(const struct nc_reduction *r, int rank, int size)
{
    return r->how->joined == NC_OF_ALL ? size : r->how->joined == NC_UP_TO_ME ? rank + 1 : rank;
}

/* The elements of a rank's result; *first: the number of the first one. */
static inline MPI_Count nc_result_of(const struct nc_reduction *r, int rank, MPI_Count *first)
{
    int has_result = nc_gets(r, rank) && nc_joined(r, rank, nc_size) > 0;

    *first = 0;
    if (!has_result || r->how->share == NC_ALL)
        return has_result ? r->count : 0;
    for (int i = 0; i < rank; i++)
        *first += r->blocks[i];
    return r->blocks[rank];
}

static inline const char *nc_reducer_name(const struct nc_reduction *r)
{
    return nc_names[r->how->collective];
}

/* Copies the numbers of some pairs, not what is between them. */
static inline void nc_copy_pairs(const struct nc_numbers *k, MPI_Count pairs, char *to,
                                 const char *from)
{
    for (MPI_Count i = 0; i < pairs; i++, to += k->stride, from += k->stride) {
        memcpy(to + k->first, from + k->first, k->real ? sizeof(double) : sizeof(int));
        if (k->second != NC_SINGLE)
            memcpy(to + k->second, from + k->second, sizeof(int));
    }
}

/* What must be in a result buffer with room for `room` elements: what was there, if no rank is in
 * the result. Elements behind a result, which there are in place, may have any numbers: they are
 * taken from `found`. */
static inline char *nc_result_expected(const struct nc_reduction *r, int number, int in_place,
                                       MPI_Count room, const char *found)
{
    const struct nc_numbers *k = r->kind;
    int rank, size, joined;
    MPI_Count first, n;
    char *expected, *all;

    MPI_Comm_rank(r->comm, &rank);
    MPI_Comm_size(r->comm, &size);
    joined = nc_joined(r, rank, size);
    if (joined == 0)
        return nc_row_make(k, room, number, in_place ? rank : -1);
    expected = nc_row_make(k, room, number, -1);
    n = nc_result_of(r, rank, &first);
    all = nc_row_expected(k, r->count, number, joined);
    nc_copy_pairs(k, n * k->pairs, expected + NC_GUARD, all + NC_GUARD + first * k->extent);
    nc_copy_pairs(k, (room - n) * k->pairs, expected + NC_GUARD + n * k->extent,
                  found + NC_GUARD + n * k->extent);
    free(all);
    return expected;
}

/* Makes a call with data that depend on `number`, and checks the result, and that the operand has
 * not changed. A result that is scattered is divided. */
static inline void nc_reduce_divided(const struct nc_reduction *r, int number)
{
    const struct nc_numbers *k = r->kind;
    int rank, error, gets, in_place;
    MPI_Count first, room;
    char *from, *to = NULL;

    MPI_Comm_rank(r->comm, &rank);
    gets = nc_gets(r, rank);
    in_place = r->in_place && gets;
    room = in_place || (gets && r->how->share == NC_ALL) ? r->count : nc_result_of(r, rank, &first);
    from = nc_row_make(k, r->count, number, rank);
    if (gets)
        to = in_place ? from : nc_row_make(k, room, number, -1);
    error = nc_call_reduce(r, in_place ? MPI_IN_PLACE : from + NC_GUARD,
                           gets ? to + NC_GUARD : NULL);
    if (error)
        nc_fail_now("error code", error, rank);
    if (gets)
        nc_row_compare(k, room, to, nc_result_expected(r, number, in_place, room, to),
                       "wrong result: byte, of");
    if (!in_place)
        nc_row_compare(k, r->count, from, nc_row_make(k, r->count, number, rank),
                       "changed what was sent: byte, of");
}

static inline void nc_reduce(const struct nc_reduction *r, int number)
{
    struct nc_reduction divided = *r;

    nc_divide(&divided, number);
    nc_reduce_divided(&divided, number);
}

#endif
