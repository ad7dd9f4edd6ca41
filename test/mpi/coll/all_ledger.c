/* How many bytes of a collective of 1 MB in all cross from one NUMA node to another, over all ranks and for every root: rank
 * 0 prints `remote LOWEST HIGHEST` in bytes.
 *   all_ledger bcast|allgather [STEP]    the roots are 0, STEP, 2 STEP, .. */
#include <stdbool.h>

#include "nctest.h"

enum { M = 1 << 20 };

/* The sum over all ranks, on rank 0. By messages: MPICH's own reductions may broadcast. */
static unsigned long long sum(unsigned long long mine)
{
    unsigned long long all = mine, other;

    if (nc_rank)
        MPI_Send(&mine, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (int r = 1; r < nc_size && nc_rank == 0; r++) {
        MPI_Recv(&other, 1, MPI_UNSIGNED_LONG_LONG, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all += other;
    }
    return all;
}

static void broadcast(unsigned char *buffer, int root)
{
    for (size_t i = 0; i < M; i++)
        buffer[i] = nc_rank == root ? nc_byte(i, root) : 0;
    nc_bcast(buffer, M, MPI_BYTE, root, MPI_COMM_WORLD);
}

/* Of blocks of M / ranks; what is left over of the buffer is filled in. */
static void allgather(unsigned char *buffer, int call)
{
    size_t block = (size_t) (M / nc_size), mine = block * (size_t) nc_rank;

    for (size_t i = 0; i < M; i++)
        buffer[i] = (i >= mine && i < mine + block) || i >= block * (size_t) nc_size ? nc_byte(i, call) : 0;
    nc_count(NC_ALLGATHER, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, (int) block, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    unsigned char *buffer = malloc(M);
    unsigned long long low = ~0ull, high = 0;
    struct nc_pvar remote;
    int warm = 0, step = argc > 2 ? atoi(argv[2]) : 1;
    bool gathers = argc > 1 && !strcmp(argv[1], "allgather");

    nc_init(&argc, &argv);
    nc_bcast(&warm, 1, MPI_INT, 0, MPI_COMM_WORLD);
    nc_pvar_open(&remote, "numacoll_copied_remote_bytes");
    for (int root = 0; root < nc_size; root += step) {
        unsigned long long before = nc_pvar_read(&remote), all;
        (gathers ? allgather : broadcast) (buffer, root);
        for (size_t i = 0; i < M; i++)
            nc_errors += buffer[i] != nc_byte(i, root);
        all = sum(nc_pvar_read(&remote) - before);
        low = all < low ? all : low;
        high = all > high ? all : high;
    }
    if (nc_rank == 0)
        printf("remote %llu %llu\n", low, high);
    free(buffer);
    return nc_finish();
}
