/* Broadcasts until it is ended, for test/mpi/faults: rank 1 prints its process number, so that the
 * script can kill it; with the argument `abort` rank 1 calls MPI_Abort after a while, with `exit`
 * it ends without MPI_Finalize. With the argument `comms`, for test/mpi/kills, it makes and frees
 * communicators instead, and uses each. */

#include "nctest.h"

#include <unistd.h>

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

int main(int argc, char **argv)
{
    char buffer[30000] = "";

    nc_init(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "comms"))
        make_and_free();
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
