/* Tests a topology that some process cannot load any more: its file, the first argument, is removed
 * after MPI_Init. test/mpi/faults runs it, with at least three ranks. */

#include "nctest.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm others;

    nc_init(&argc, &argv);
    if (nc_rank == 0 && (argc < 2 || unlink(argv[1])))
        nc_fail("no file to remove", 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* rank 0 has loaded it at MPI_Init; in these communicators another rank does */
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank > 0, nc_rank, &others);
    for (int round = 0; nc_rank > 0 && round < 5; round++) {
        MPI_Comm comm;
        int x = nc_rank == 1 ? round : -1;
        MPI_Comm_dup(others, &comm);
        for (int i = 0; i < 3; i++)
            nc_bcast(&x, 1, MPI_INT, 0, comm);
        if (x != round)
            nc_fail("wrong number", x, round);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&others);
    return nc_finish();
}
