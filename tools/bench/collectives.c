/* The collectives numacoll-bench can time: for each a row in a table, with functions that make a
 * call, fill its inputs and verify its outputs. measure.c calls them. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char pattern(size_t i, unsigned seed)
{
    return (unsigned char) (i * 31 + (i >> 8) + seed);
}

static void fill_block(unsigned char *block, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++)
        block[i] = pattern(i, seed);
}

static bool block_is(const unsigned char *block, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++) {
        if (block[i] != pattern(i, seed))
            return false;
    }
    return true;
}

/* Bytes of the longest numbers that a block of m bytes can be divided into. */
static size_t number_bytes(size_t m)
{
    return m % sizeof(double) == 0 ? sizeof(double) : m % sizeof(float) == 0 ? sizeof(float) : 1;
}

/* ---- bcast ---- */

static int bcast(const struct call *c)
{
    return MPI_Bcast(c->in, (int) c->m, MPI_BYTE, c->root, c->comm);
}

static void bcast_fill(const struct call *c)
{
    fill_block(c->in, c->m, c->rank == c->root ? c->seed : c->seed + 1);
}

static bool bcast_verify(const struct call *c)
{
    return block_is(c->in, c->m, c->seed);
}

/* ---- scatter, gather, allgather: block i belongs to rank i ---- */

/* Counts, displacements and types of blocks, for the v and w forms and MPI_Reduce_scatter. */
static struct {
    struct call of; /* of its m, ranks and counts */
    size_t unit;
    int shift, *counts, *displs;
    MPI_Datatype *types;
} made;

/* Bytes of block i. */
static size_t length_of(const struct call *c, int i)
{
    return counts_length(c->counts, c->m, number_bytes(c->m), i % c->ranks, c->ranks);
}

/* In units of so many bytes. Block i has the length of block i + shift. */
static void make_blocks(const struct call *c, size_t unit, int shift)
{
    size_t ranks = (size_t) c->ranks;
    int displacement = 0;

    if (made.of.m == c->m && made.of.ranks == c->ranks && made.of.counts == c->counts &&
        made.unit == unit && made.shift == shift)
        return;
    free(made.counts);
    free(made.displs);
    free(made.types);
    made.counts = malloc(sizeof *made.counts * ranks);
    made.displs = malloc(sizeof *made.displs * ranks);
    made.types = malloc(sizeof *made.types * ranks);
    if (!made.counts || !made.displs || !made.types) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < c->ranks; i++) {
        made.counts[i] = (int) (length_of(c, i + shift) / unit);
        made.displs[i] = displacement;
        made.types[i] = MPI_BYTE;
        displacement += made.counts[i];
    }
    made.of = *c;
    made.unit = unit;
    made.shift = shift;
}

static int scatter(const struct call *c)
{
    return MPI_Scatter(c->in, (int) c->m, MPI_BYTE, c->out, (int) c->m, MPI_BYTE, c->root, c->comm);
}

static int scatterv(const struct call *c)
{
    make_blocks(c, 1, 0);
    return MPI_Scatterv(c->in, made.counts, made.displs, MPI_BYTE, c->out, made.counts[c->rank],
                        MPI_BYTE, c->root, c->comm);
}

static int gather(const struct call *c)
{
    return MPI_Gather(c->in, (int) c->m, MPI_BYTE, c->out, (int) c->m, MPI_BYTE, c->root, c->comm);
}

static int gatherv(const struct call *c)
{
    make_blocks(c, 1, 0);
    return MPI_Gatherv(c->in, made.counts[c->rank], MPI_BYTE, c->out, made.counts, made.displs,
                       MPI_BYTE, c->root, c->comm);
}

static int allgather(const struct call *c)
{
    return MPI_Allgather(c->in, (int) c->m, MPI_BYTE, c->out, (int) c->m, MPI_BYTE, c->comm);
}

static int allgatherv(const struct call *c)
{
    make_blocks(c, 1, 0);
    return MPI_Allgatherv(c->in, made.counts[c->rank], MPI_BYTE, c->out, made.counts, made.displs,
                          MPI_BYTE, c->comm);
}

static void fill_blocks(unsigned char *blocks, const struct call *c, unsigned seed)
{
    for (int i = 0; i < c->ranks; blocks += length_of(c, i++))
        fill_block(blocks, length_of(c, i), seed + (unsigned) i);
}

static bool blocks_are(const unsigned char *blocks, const struct call *c)
{
    for (int i = 0; i < c->ranks; blocks += length_of(c, i++)) {
        if (!block_is(blocks, length_of(c, i), c->seed + (unsigned) i))
            return false;
    }
    return true;
}

/* The outputs are filled with wrong data, so that a call that writes nothing is noticed. */
static void fill_for_one(const struct call *c)
{
    if (c->rank == c->root)
        fill_blocks(c->in, c, c->seed);
    fill_block(c->out, length_of(c, c->rank), c->seed + (unsigned) c->rank + 1);
}

static bool verify_one(const struct call *c)
{
    return block_is(c->out, length_of(c, c->rank), c->seed + (unsigned) c->rank);
}

static void fill_own(const struct call *c)
{
    fill_block(c->in, length_of(c, c->rank), c->seed + (unsigned) c->rank);
    fill_blocks(c->out, c, c->seed + 1);
}

static void fill_at_root(const struct call *c)
{
    fill_block(c->in, length_of(c, c->rank), c->seed + (unsigned) c->rank);
    if (c->rank == c->root)
        fill_blocks(c->out, c, c->seed + 1);
}

static bool blocks_are_all(const struct call *c)
{
    return blocks_are(c->out, c);
}

static bool verify_at_root(const struct call *c)
{
    return c->rank != c->root || blocks_are(c->out, c);
}

/* ---- alltoall: block i is for rank i, and from rank i; what two ranks have for each other has one
 * length ---- */

/* What these blocks are shifted by against those of all ranks. */
static int pair_shift(const struct call *c)
{
    return c->counts == COUNTS_EVEN ? 0 : c->rank;
}

static int alltoall(const struct call *c)
{
    return MPI_Alltoall(c->in, (int) c->m, MPI_BYTE, c->out, (int) c->m, MPI_BYTE, c->comm);
}

static int alltoallv(const struct call *c)
{
    make_blocks(c, 1, pair_shift(c));
    return MPI_Alltoallv(c->in, made.counts, made.displs, MPI_BYTE, c->out, made.counts,
                         made.displs, MPI_BYTE, c->comm);
}

static int alltoallw(const struct call *c)
{
    make_blocks(c, 1, pair_shift(c));
    return MPI_Alltoallw(c->in, made.counts, made.displs, made.types, c->out, made.counts,
                         made.displs, made.types, c->comm);
}

/* The seed of the block from one rank to another. */
static unsigned pair_seed(const struct call *c, int from, int to)
{
    return c->seed + (unsigned) (from * c->ranks + to) * 5;
}

static void fill_pairs(const struct call *c)
{
    size_t at = 0;

    for (int i = 0; i < c->ranks; i++) {
        size_t n = length_of(c, i + pair_shift(c));
        fill_block(c->in + at, n, pair_seed(c, c->rank, i));
        fill_block(c->out + at, n, pair_seed(c, i, c->rank) + 1);
        at += n;
    }
}

static bool verify_pairs(const struct call *c)
{
    size_t at = 0;

    for (int i = 0; i < c->ranks; i++) {
        size_t n = length_of(c, i + pair_shift(c));
        if (!block_is(c->out + at, n, pair_seed(c, i, c->rank)))
            return false;
        at += n;
    }
    return true;
}

/* ---- reduce, allreduce, scan, exscan: sums of the longest numbers that a block can be divided
 * into ---- */

static MPI_Datatype number_type(size_t m)
{
    size_t bytes = number_bytes(m);

    return bytes == sizeof(double)  ? MPI_DOUBLE
           : bytes == sizeof(float) ? MPI_FLOAT
                                    : MPI_UNSIGNED_CHAR;
}

static int numbers_in(size_t m)
{
    return (int) (m / number_bytes(m));
}

static int reduce(const struct call *c)
{
    return MPI_Reduce(c->in, c->out, numbers_in(c->m), number_type(c->m), MPI_SUM, c->root,
                      c->comm);
}

static int allreduce(const struct call *c)
{
    return MPI_Allreduce(c->in, c->out, numbers_in(c->m), number_type(c->m), MPI_SUM, c->comm);
}

static int scan(const struct call *c)
{
    return MPI_Scan(c->in, c->out, numbers_in(c->m), number_type(c->m), MPI_SUM, c->comm);
}

static int exscan(const struct call *c)
{
    return MPI_Exscan(c->in, c->out, numbers_in(c->m), number_type(c->m), MPI_SUM, c->comm);
}

/* Sets number i of a block of m bytes. A char keeps the value modulo 256, as sums of chars do. */
static void set_number(unsigned char *block, size_t m, int i, unsigned value)
{
    switch (number_bytes(m)) {
        case sizeof(double):
            ((double *) block)[i] = value;
            break;
        case sizeof(float):
            ((float *) block)[i] = (float) value;
            break;
        default:
            block[i] = (unsigned char) value;
    }
}

static bool number_is(const unsigned char *block, size_t m, int i, unsigned value)
{
    switch (number_bytes(m)) {
        case sizeof(double):
            return ((const double *) block)[i] == value;
        case sizeof(float):
            return ((const float *) block)[i] == (float) value;
        default:
            return block[i] == (unsigned char) value;
    }
}

/* Number i of the sum of the first n ranks. Each rank contributes the pattern plus its rank. The
 * sums are exact in any order of additions; those of floats up to 5000 ranks. */
static unsigned sum_of(const struct call *c, int ranks, int i)
{
    unsigned n = (unsigned) ranks;

    return n * pattern((size_t) i, c->seed) + n * (n - 1) / 2;
}

static unsigned sum(const struct call *c, int i)
{
    return sum_of(c, c->ranks, i);
}

static void fill_numbers(const struct call *c)
{
    for (int i = 0; i < numbers_in(c->m); i++) {
        set_number(c->in, c->m, i, pattern((size_t) i, c->seed) + (unsigned) c->rank);
        set_number(c->out, c->m, i, sum(c, i) + 1);
    }
}

static bool sums_are(const struct call *c, int ranks)
{
    for (int i = 0; i < numbers_in(c->m); i++) {
        if (!number_is(c->out, c->m, i, sum_of(c, ranks, i)))
            return false;
    }
    return true;
}

static bool verify_sums(const struct call *c)
{
    return sums_are(c, c->ranks);
}

static bool verify_sums_at_root(const struct call *c)
{
    return c->rank != c->root || verify_sums(c);
}

/* ---- reduce_scatter, reduce_scatter_block: the numbers of all blocks are counted through ---- */

static int reduce_scatter(const struct call *c)
{
    make_blocks(c, number_bytes(c->m), 0);
    return MPI_Reduce_scatter(c->in, c->out, made.counts, number_type(c->m), MPI_SUM, c->comm);
}

static int reduce_scatter_block(const struct call *c)
{
    return MPI_Reduce_scatter_block(c->in, c->out, numbers_in(c->m), number_type(c->m), MPI_SUM,
                                    c->comm);
}

/* The number with which a block begins. */
static int first_number(const struct call *c, int block)
{
    size_t unit = number_bytes(c->m);

    return (int) (counts_offset(c->counts, c->m, unit, block, c->ranks) / unit);
}

static void fill_blocks_of_numbers(const struct call *c)
{
    int first = first_number(c, c->rank), end = first_number(c, c->rank + 1);

    for (int i = 0; i < first_number(c, c->ranks); i++)
        set_number(c->in, c->m, i, pattern((size_t) i, c->seed) + (unsigned) c->rank);
    for (int i = first; i < end; i++)
        set_number(c->out, c->m, i - first, sum(c, i) + 1);
}

static bool verify_own_sums(const struct call *c)
{
    int first = first_number(c, c->rank), end = first_number(c, c->rank + 1);

    for (int i = first; i < end; i++) {
        if (!number_is(c->out, c->m, i - first, sum(c, i)))
            return false;
    }
    return true;
}

static bool verify_scan(const struct call *c)
{
    return sums_are(c, c->rank + 1);
}

/* Rank 0 has no result. */
static bool verify_exscan(const struct call *c)
{
    return c->rank == 0 || sums_are(c, c->rank);
}

/* ---- barrier ---- */

static int barrier(const struct call *c)
{
    return MPI_Barrier(c->comm);
}

/* ---- the table ---- */

static const struct collective table[] = {
    {"bcast", true, false, false, ONE_BLOCK, NO_BLOCK, bcast, bcast_fill, bcast_verify},
    {"barrier", false, false, false, NO_BLOCK, NO_BLOCK, barrier, NULL, NULL},
    {"scatter", true, false, false, BLOCK_PER_RANK, ONE_BLOCK, scatter, fill_for_one, verify_one},
    {"scatterv", true, true, true, BLOCK_PER_RANK, ONE_BLOCK, scatterv, fill_for_one, verify_one},
    {"gather", true, false, false, ONE_BLOCK, BLOCK_PER_RANK, gather, fill_at_root, verify_at_root},
    {"gatherv", true, true, true, ONE_BLOCK, BLOCK_PER_RANK, gatherv, fill_at_root, verify_at_root},
    {"allgather", false, false, false, ONE_BLOCK, BLOCK_PER_RANK, allgather, fill_own,
     blocks_are_all},
    {"allgatherv", false, true, true, ONE_BLOCK, BLOCK_PER_RANK, allgatherv, fill_own,
     blocks_are_all},
    {"reduce", true, false, false, ONE_BLOCK, ONE_BLOCK, reduce, fill_numbers, verify_sums_at_root},
    {"allreduce", false, false, false, ONE_BLOCK, ONE_BLOCK, allreduce, fill_numbers, verify_sums},
    {"alltoall", false, false, false, BLOCK_PER_RANK, BLOCK_PER_RANK, alltoall, fill_pairs,
     verify_pairs},
    {"alltoallv", false, true, true, BLOCK_PER_RANK, BLOCK_PER_RANK, alltoallv, fill_pairs,
     verify_pairs},
    {"alltoallw", false, true, true, BLOCK_PER_RANK, BLOCK_PER_RANK, alltoallw, fill_pairs,
     verify_pairs},
    {"reduce_scatter", false, false, true, BLOCK_PER_RANK, ONE_BLOCK, reduce_scatter,
     fill_blocks_of_numbers, verify_own_sums},
    {"reduce_scatter_block", false, false, false, BLOCK_PER_RANK, ONE_BLOCK, reduce_scatter_block,
     fill_blocks_of_numbers, verify_own_sums},
    {"scan", false, false, false, ONE_BLOCK, ONE_BLOCK, scan, fill_numbers, verify_scan},
    {"exscan", false, false, false, ONE_BLOCK, ONE_BLOCK, exscan, fill_numbers, verify_exscan},
};
static const int table_rows = sizeof table / sizeof table[0];

const struct collective *collective_find(const char *name)
{
    for (int i = 0; i < table_rows; i++) {
        if (!strcmp(table[i].name, name))
            return &table[i];
    }
    return NULL;
}

void collective_names(char *text, size_t n)
{
    size_t used = 0;

    for (int i = 0; i < table_rows && used < n; i++)
        used += (size_t) snprintf(text + used, n - used, "%s%s", i ? ", " : "", table[i].name);
}

void collective_each(void (*what)(const char *name))
{
    for (int i = 0; i < table_rows; i++)
        what(table[i].name);
}

bool collective_has_size(const struct collective *collective)
{
    return collective->in != NO_BLOCK || collective->out != NO_BLOCK;
}

size_t collective_result(const struct collective *collective, const struct call *c,
                         const unsigned char **result)
{
    *result = collective->out == NO_BLOCK ? c->in : c->out;
    if (collective->out == BLOCK_PER_RANK)
        return counts_offset(c->counts, c->m, number_bytes(c->m), c->ranks, c->ranks);
    return collective->irregular ? length_of(c, c->rank) : c->m;
}

bool collective_receives(const struct collective *collective, const struct call *c)
{
    if (collective->make == exscan)
        return c->rank > 0;
    if (!collective->rooted || collective->in == BLOCK_PER_RANK)
        return true;
    return (c->rank == c->root) == (collective->out != NO_BLOCK);
}

enum counts collective_counts(const struct collective *collective, enum counts counts)
{
    return collective->irregular ? counts : COUNTS_EVEN;
}
