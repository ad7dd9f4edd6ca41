/* For test/mpi/faults: ranks in different calls of a communicator. Each rank prints `ended RANK` or
 * `error RANK`, for the call that is wrong.
 *   astray collectives   rank 0 is in an allreduce, the others in an allgather
 *   astray roots         a gather to rank 0, but the last rank thinks that rank 1 is the root
 *   astray lengths       an allreduce of 4 MB; of rank 0 of 3 MB, in buffers of MPI_Alloc_mem
 *   astray short_root    a reduce of 4 MB; of its root, of 4 KB, in buffers of MPI_Alloc_mem
 *   astray late          a barrier, to which rank 1 comes after 2.5 seconds */

#include "nctest.h"

#include <unistd.h>

/* An allreduce of so many elements, or a reduce to `root` if that is not -1. */
static int go_apart(int count, int root)
{
    int *mine, *result, error;

    MPI_Alloc_mem(4000000, MPI_INFO_NULL, &mine);
    MPI_Alloc_mem(4000000, MPI_INFO_NULL, &result);
    memset(mine, 0, 4000000);
    error = root < 0 ? MPI_Allreduce(mine, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                     : MPI_Reduce(mine, result, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Free_mem(mine);
    MPI_Free_mem(result);
    return error;
}

static int go_astray(const char *how)
{
    int one = 1, all[64];

    if (!strcmp(how, "collectives"))
        return nc_rank == 0 ? MPI_Allreduce(&one, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                            : MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(how, "lengths"))
        return go_apart(nc_rank == 0 ? 750000 : 1000000, -1);
    if (!strcmp(how, "short_root"))
        return go_apart(nc_rank == 1 ? 1000 : 1000000, 1);
    if (!strcmp(how, "roots"))
        return MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, nc_rank == nc_size - 1,
                          MPI_COMM_WORLD);
    if (nc_rank == 1)
        usleep(2500000);
    return MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    printf("%s %d\n", go_astray(argc > 1 ? argv[1] : "late") ? "error" : "ended", nc_rank);
    return MPI_Finalize();
}
