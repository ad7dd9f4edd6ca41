/* Broadcasts until it is ended, for test/mpi/faults: rank 1 prints its process number, so that the
 * script can kill it; with the argument `abort` rank 1 calls MPI_Abort after a while. */

#include "nctest.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    char buffer[30000] = "";

    nc_init(&argc, &argv);
    if (nc_rank == 1) {
        printf("pid %d\n", (int) getpid());
        fflush(stdout);
    }
    for (long i = 0;; i++) {
        MPI_Bcast(buffer, i % 2 ? 8 : 30000, MPI_BYTE, (int) (i % nc_size), MPI_COMM_WORLD);
        if (argc > 1 && nc_rank == 1 && i == 2000)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
}
