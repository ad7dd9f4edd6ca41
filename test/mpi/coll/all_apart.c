/* Tests that readers who stay away from one communicator hold no other up: rank 0 has broadcast on
 * the first one, the others do not come there until short and long calls have been made on a second
 * one, and others have been made, used and freed. Nothing that the first one holds may be lent to
 * those. */

#include "nctest.h"

enum { KEPT = 3, LENGTH = 2000, LONG = 300000, ROUNDS = 10, WARM = 3 };

static void bcast(MPI_Comm comm, int root, int bytes, int seed)
{
    unsigned char *buffer = calloc(1, (size_t) bytes);

    for (int i = 0; nc_rank == root && i < bytes; i++)
        buffer[i] = nc_byte((size_t) i, seed);
    nc_bcast(buffer, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++) {
        if (buffer[i] != nc_byte((size_t) i, seed)) {
            nc_fail("wrong byte", i, seed);
            break;
        }
    }
    free(buffer);
}

static void allreduce(MPI_Comm comm, int seed)
{
    int *mine = malloc(LONG), *sum = malloc(LONG), n = LONG / (int) sizeof *mine;

    for (int i = 0; i < n; i++)
        mine[i] = nc_rank + i * seed;
    nc_count(NC_ALLREDUCE, comm);
    MPI_Allreduce(mine, sum, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++) {
        if (sum[i] != nc_size * (nc_size - 1) / 2 + nc_size * i * seed) {
            nc_fail("wrong sum", i, sum[i]);
            break;
        }
    }
    free(mine);
    free(sum);
}

static void use(MPI_Comm comm, int seed)
{
    bcast(comm, seed % nc_size, LONG, seed);
    bcast(comm, seed % nc_size, 4, seed);
    allreduce(comm, seed);
    nc_barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm kept, other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &nc_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nc_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    for (int i = 0; i < WARM; i++)
        bcast(kept, 0, LENGTH, i);
    nc_barrier(kept);
    for (int i = 0; nc_rank == 0 && i < KEPT; i++)
        bcast(kept, 0, LENGTH, 100 + i);
    for (int round = 0; round < ROUNDS; round++) {
        use(MPI_COMM_WORLD, round);
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        for (int i = 0; i < WARM; i++)
            use(other, round + i);
        MPI_Comm_free(&other);
    }
    for (int i = 0; nc_rank > 0 && i < KEPT; i++)
        bcast(kept, 0, LENGTH, 100 + i);
    nc_barrier(kept);
    MPI_Comm_free(&kept);
    return nc_finish();
}
