/* Broadcasts until it is ended, for test/mpi/faults: rank 1 prints its process number, so that the
 * script can kill it; with the argument `abort` rank 1 calls MPI_Abort after a while, with `exit`
 * it ends without MPI_Finalize. For test/mpi/kills it makes and frees communicators instead, and
 * uses each: with the argument `comms` for short messages, with `long NAME` for long ones between
 * buffers of MPI_Alloc_mem. Then rank 0 prints, after the first communicator, what the performance
 * variable NAME has counted on all ranks: all NAME SUM. */

#include "nctest.h"

#include <unistd.h>

enum { LONG = 2 << 20 }; /* bytes */

static void make_and_free(void)
{
    static char buffer[30000];
    long mine = nc_rank, sum;

    for (long i = 0;; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 0; call < 4; call++) {
            MPI_Bcast(buffer, call % 2 ? 8 : (int) sizeof buffer, MPI_BYTE, call % nc_size, comm);
            MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
            MPI_Barrier(comm);
        }
        MPI_Comm_free(&comm);
    }
}

/* The collectives whose messages may move by a single copy. */
static void long_calls(char *mine, char *whole, int root, MPI_Comm comm)
{
    int block = LONG / nc_size;

    MPI_Bcast(whole, LONG, MPI_BYTE, root, comm);
    MPI_Scatter(whole, block, MPI_BYTE, mine, block, MPI_BYTE, root, comm);
    MPI_Gather(mine, block, MPI_BYTE, whole, block, MPI_BYTE, root, comm);
    MPI_Allgather(mine, block, MPI_BYTE, whole, block, MPI_BYTE, comm);
    MPI_Reduce(mine, whole, LONG, MPI_BYTE, MPI_BXOR, root, comm);
    MPI_Allreduce(mine, whole, LONG, MPI_BYTE, MPI_BXOR, comm);
}

static void make_and_free_long(const char *name)
{
    struct nc_pvar copied;
    char *mine, *whole;

    nc_pvar_open(&copied, name);
    MPI_Alloc_mem(LONG, MPI_INFO_NULL, &mine);
    MPI_Alloc_mem(LONG, MPI_INFO_NULL, &whole);
    memset(mine, 0, LONG);
    memset(whole, 0, LONG);
    for (int i = 0;; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int root = 0; root < nc_size; root++)
            long_calls(mine, whole, root, comm);
        MPI_Comm_free(&comm);
        if (i == 0) {
            unsigned long long sum = nc_sum(nc_pvar_read(&copied));
            if (nc_rank == 0)
                printf("all %s %llu\n", name, sum);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    char buffer[30000] = "";

    nc_init(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "comms"))
        make_and_free();
    if (argc > 2 && !strcmp(argv[1], "long"))
        make_and_free_long(argv[2]);
    if (nc_rank == 1) {
        printf("pid %d\n", (int) getpid());
        fflush(stdout);
    }
    for (long i = 0;; i++) {
        MPI_Bcast(buffer, i % 2 ? 8 : 30000, MPI_BYTE, (int) (i % nc_size), MPI_COMM_WORLD);
        if (argc > 1 && nc_rank == 1 && i == 2000) {
            if (!strcmp(argv[1], "exit"))
                exit(0);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
}
