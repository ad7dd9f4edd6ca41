/* Tests Reduce, Allreduce, Reduce_scatter_block, Scan and Exscan with MPI's predefined operations
 * on its predefined types. Each rank computes the expected result from the operands of all ranks by
 * MPI_Reduce_local. Floating-point operands are small whole numbers, so that the order of a sum
 * does not matter. */
#include "nctest.h"

#include <stdint.h>

static const struct {
    const char *name;
    MPI_Op op;
} ops[] = {{"sum", MPI_SUM},         {"product", MPI_PROD},     {"max", MPI_MAX},
           {"min", MPI_MIN},         {"and", MPI_BAND},         {"or", MPI_BOR},
           {"xor", MPI_BXOR},        {"logical and", MPI_LAND}, {"logical or", MPI_LOR},
           {"logical xor", MPI_LXOR}};

enum { OPS = sizeof ops / sizeof *ops, REAL_OPS = 4, MOST = 3000 };

enum kind { WHOLE, BITS, FLOAT, DOUBLE };

static const struct {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
} types[] = {{"signed char", MPI_SIGNED_CHAR, WHOLE},
             {"short", MPI_SHORT, WHOLE},
             {"int", MPI_INT, WHOLE},
             {"long", MPI_LONG, WHOLE},
             {"long long", MPI_LONG_LONG, WHOLE},
             {"int8", MPI_INT8_T, WHOLE},
             {"int16", MPI_INT16_T, WHOLE},
             {"int32", MPI_INT32_T, WHOLE},
             {"int64", MPI_INT64_T, WHOLE},
             {"aint", MPI_AINT, WHOLE},
             {"offset", MPI_OFFSET, WHOLE},
             {"count", MPI_COUNT, WHOLE},
             {"unsigned char", MPI_UNSIGNED_CHAR, WHOLE},
             {"unsigned short", MPI_UNSIGNED_SHORT, WHOLE},
             {"unsigned", MPI_UNSIGNED, WHOLE},
             {"unsigned long", MPI_UNSIGNED_LONG, WHOLE},
             {"unsigned long long", MPI_UNSIGNED_LONG_LONG, WHOLE},
             {"uint8", MPI_UINT8_T, WHOLE},
             {"uint16", MPI_UINT16_T, WHOLE},
             {"uint32", MPI_UINT32_T, WHOLE},
             {"uint64", MPI_UINT64_T, WHOLE},
             {"byte", MPI_BYTE, BITS},
             {"float", MPI_FLOAT, FLOAT},
             {"double", MPI_DOUBLE, DOUBLE}};

enum { TYPES = sizeof types / sizeof *types };

static uint64_t mine[MOST], result[MOST], expected[MOST], other[MOST];
static int bytes; /* of the type */

static int is_defined(int op, int t)
{
    return types[t].kind == WHOLE || (types[t].kind == BITS ? op >= 4 && op < 7 : op < REAL_OPS);
}

static void fill(void *to, int t, int n, int rank)
{
    uint64_t x = (uint64_t) rank * 977 + 1;

    for (int i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        if (types[t].kind == FLOAT)
            ((float *) to)[i] = (float) ((int) (x >> 60) - 8);
        else if (types[t].kind == DOUBLE)
            ((double *) to)[i] = (double) ((int) (x >> 60) - 8);
        else
            memcpy((char *) to + i * bytes, (char *) &x + 8 - bytes, (size_t) bytes);
    }
}

/* The result is elements first .. first + n - 1. */
static void check(int op, int t, int first, int n)
{
    if (memcmp(result, (const char *) expected + first * bytes, (size_t) (n * bytes)) &&
        nc_errors++ < 5)
        fprintf(stderr, "rank %d: %s of %d %s: wrong result\n", nc_rank, ops[op].name, n,
                types[t].name);
}

/* Expects the result of the first `ranks` ranks. */
static void expect(int op, int t, int n, int ranks)
{
    fill(expected, t, n, ranks - 1);
    for (int r = ranks - 2; r >= 0; r--) {
        fill(other, t, n, r);
        MPI_Reduce_local(other, expected, n, types[t].type, ops[op].op);
    }
}

static void scan(int op, int t, int n, int in_place)
{
    expect(op, t, n, nc_rank + 1);
    fill(result, t, n, nc_rank);
    nc_count(NC_SCAN, MPI_COMM_WORLD);
    MPI_Scan(in_place ? MPI_IN_PLACE : mine, result, n, types[t].type, ops[op].op, MPI_COMM_WORLD);
    check(op, t, 0, n);
    /* on rank 0 the result stays as it is */
    expect(op, t, n, nc_rank ? nc_rank : 1);
    fill(result, t, n, nc_rank);
    nc_count(NC_EXSCAN, MPI_COMM_WORLD);
    MPI_Exscan(in_place ? MPI_IN_PLACE : mine, result, n, types[t].type, ops[op].op,
               MPI_COMM_WORLD);
    check(op, t, 0, n);
}

static void make(int op, int t, int n, int in_place)
{
    int root = (op + t + n) % nc_size, block = n / nc_size;

    expect(op, t, n, nc_size);
    fill(mine, t, n, nc_rank);
    fill(result, t, n, nc_rank);
    nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, result, n, types[t].type, ops[op].op,
                  MPI_COMM_WORLD);
    check(op, t, 0, n);
    fill(result, t, n, nc_rank);
    nc_count(NC_REDUCE, MPI_COMM_WORLD);
    MPI_Reduce(in_place && nc_rank == root ? MPI_IN_PLACE : mine, result, n, types[t].type,
               ops[op].op, root, MPI_COMM_WORLD);
    if (nc_rank == root)
        check(op, t, 0, n);
    if (block > 0)
        nc_count(NC_REDUCE_SCATTER_BLOCK, MPI_COMM_WORLD);
    memcpy(result, mine, (size_t) (n * bytes));
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : mine, result, block, types[t].type,
                             ops[op].op, MPI_COMM_WORLD);
    check(op, t, nc_rank * block, block);
    scan(op, t, n, in_place);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 5, 43, 300, MOST};

    nc_init(&argc, &argv);
    for (int t = 0; t < TYPES; t++) {
        MPI_Type_size(types[t].type, &bytes);
        for (int op = 0; op < OPS; op++) {
            for (int i = 0; i < 5 && is_defined(op, t); i++)
                make(op, t, counts[i], (op + t + i) % 2);
        }
    }
    return nc_finish();
}
