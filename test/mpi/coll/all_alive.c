/* Tests many communicators at a time, which share the node's budget of shared memory: each makes
 * short and long calls, again and again, while all others are alive.
 *
 *   all_alive [COMMUNICATORS [ROUNDS]] */

#include "nctest.h"

enum { LONG = 100000 };

static unsigned char *buffer; /* [LONG] */

static void bcast(MPI_Comm comm, int bytes, int root, int seed)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < bytes; i++)
        buffer[i] = rank == root ? nc_byte((size_t) i, seed) : 0;
    nc_bcast(buffer, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++) {
        if (buffer[i] != nc_byte((size_t) i, seed)) {
            nc_fail("wrong byte", i, bytes);
            break;
        }
    }
}

static void allreduce(MPI_Comm comm, int seed)
{
    long mine = nc_rank + seed, sum = 0;

    nc_count(NC_ALLREDUCE, comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    if (sum != (long) nc_size * seed + (long) nc_size * (nc_size - 1) / 2)
        nc_fail("wrong sum", sum, seed);
}

/* All blocks to and from a root: receive rings and send rings. */
static void scatter_and_gather(MPI_Comm comm, int block, int root, int seed)
{
    int *all = calloc((size_t) nc_size * (size_t) block, sizeof *all),
        *mine = calloc((size_t) block, sizeof *mine);

    for (int i = 0; nc_rank == root && i < nc_size * block; i++)
        all[i] = i + seed;
    nc_count(NC_SCATTER, comm);
    MPI_Scatter(all, block, MPI_INT, mine, block, MPI_INT, root, comm);
    for (int i = 0; i < block; i++) {
        if (mine[i]++ != nc_rank * block + i + seed)
            nc_fail("wrong number from Scatter", i, mine[i]);
    }
    nc_count(NC_GATHER, comm);
    MPI_Gather(mine, block, MPI_INT, all, block, MPI_INT, root, comm);
    for (int i = 0; nc_rank == root && i < nc_size * block; i++) {
        if (all[i] != i + seed + 1)
            nc_fail("wrong number from Gather", i, all[i]);
    }
    free(all);
    free(mine);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20, rounds = argc > 2 ? atoi(argv[2]) : 12;
    MPI_Comm *comm = calloc((size_t) n, sizeof *comm);

    nc_init(&argc, &argv);
    buffer = malloc(LONG);
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) {
            int root = (round + i) % nc_size;
            bcast(comm[i], 4, root, round);
            if (round % 4 == i % 4)
                bcast(comm[i], LONG, root, i);
            if (round % 4 == 1)
                scatter_and_gather(comm[i], round % 8 == 1 ? 3 : 3000, root, i);
            allreduce(comm[i], round);
            nc_barrier(comm[i]);
        }
    }
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comm[i]);
    free(comm);
    free(buffer);
    return nc_finish();
}
