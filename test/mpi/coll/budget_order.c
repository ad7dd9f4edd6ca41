/* Tests that a communicator whose segment grows combines the same inputs to the same bits before
 * and after: elements of a user-defined operation that are longer than the slots it begins with. */

#include "nctest.h"

enum { MOST = 2000 };

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes, doubles;

    MPI_Type_size(*type, &bytes);
    doubles = *n * (bytes / (int) sizeof(double));
    for (int i = 0; i < doubles; i++)
        ((double *) inout)[i] += ((double *) in)[i];
}

/* The sum of one element of so many doubles. They are of very different sizes, so that another
 * order of ranks gives another sum. */
static void sum(MPI_Comm comm, MPI_Op op, int doubles, double *result)
{
    static double mine[MOST];
    MPI_Datatype type;
    unsigned x = (unsigned) nc_rank * 7919;

    MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < doubles; i++) {
        x = x * 1103515245 + 12345;
        mine[i] = (double) (x >> 8) / 3 * (x & 1 << 20 ? 1 : 1e15) * (x & 1 << 30 ? 1 : -1);
    }
    nc_count(NC_ALLREDUCE, comm);
    MPI_Allreduce(mine, result, 1, type, op, comm);
    MPI_Type_free(&type);
}

/* As many elements as a rank combines at once, of a Reduce_scatter_block: only that it is right. */
static void scatter(MPI_Comm comm, MPI_Op op, int doubles)
{
    enum { BLOCK = 30 };
    size_t n = (size_t) doubles * BLOCK;
    double *mine = malloc((size_t) nc_size * n * sizeof *mine),
           *result = malloc(n * sizeof *result);
    MPI_Datatype type;

    MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (size_t i = 0; i < (size_t) nc_size * n; i++)
        mine[i] = nc_rank + (double) (i % 97);
    nc_count(NC_REDUCE_SCATTER_BLOCK, comm);
    MPI_Reduce_scatter_block(mine, result, BLOCK, type, op, comm);
    for (size_t i = 0; i < n; i++) {
        double wanted = nc_size * (nc_size - 1) / 2. +
                        nc_size * (double) (((size_t) nc_rank * n + i) % 97);
        if (result[i] != wanted) {
            nc_fail("Reduce_scatter_block: doubles, place", doubles, (long) i);
            break;
        }
    }
    MPI_Type_free(&type);
    free(mine);
    free(result);
}

/* Returns how often the segment has grown. */
static int grow(MPI_Op op, int doubles, char *buffer, int bytes)
{
    static double before[MOST], after[MOST];
    unsigned long long size, larger;
    int grown = 0;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum(comm, op, doubles, before);
    size = nc_level("numacoll_segment_bytes");
    for (int i = 0; i < 40; i++) {
        nc_bcast(buffer, bytes, MPI_CHAR, i % nc_size, comm);
        sum(comm, op, doubles, after);
        if (memcmp(after, before, (size_t) doubles * sizeof *after))
            nc_fail("other bits: doubles, call", doubles, i);
        scatter(comm, op, doubles);
        larger = nc_level("numacoll_segment_bytes");
        grown += larger > size;
        size = larger;
    }
    MPI_Comm_free(&comm);
    return grown;
}

int main(int argc, char **argv)
{
    static const int doubles[] = {60, 100, 150, 900, MOST};
    enum { LONG = 100000 };
    char *buffer = calloc(LONG, 1);
    int grown = 0;
    MPI_Op op;

    nc_init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    for (int k = 0; k < (int) (sizeof doubles / sizeof *doubles); k++)
        grown += grow(op, doubles[k], buffer, LONG);
    if (grown == 0)
        nc_fail("no segment grew", 0, 0);
    if (nc_rank == 0)
        printf("grown %d times\n", grown);
    MPI_Op_free(&op);
    free(buffer);
    return nc_finish();
}
