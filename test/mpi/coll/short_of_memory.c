/* Tests calls in which a rank may have no memory: on every rank the result is right, or the call
 * returns an error. Prints how many ranks got one, if some did. test/mpi/faults runs it.
 *   short_of_memory scan | reduce_scatter */

#include "nctest.h"

/* Whether a call ended in an error; without one its result must be right. */
static int ends_in_error(int error, long result, long expected)
{
    if (error == MPI_SUCCESS && result != expected)
        nc_fail("wrong sum", result, expected);
    return error != MPI_SUCCESS;
}

static int scan(int call)
{
    long mine = nc_rank + call, sum = 0,
         before = (long) nc_rank * call + (long) nc_rank * (nc_rank - 1) / 2;
    int error = MPI_Scan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int failed = ends_in_error(error, sum, before + mine);

    sum = 0; /* rank 0 has no result */
    error = MPI_Exscan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return failed | ends_in_error(error, sum, before);
}

static int reduce_scatter(int call)
{
    long mine[64], sum = 0, ranks = (long) nc_size * (nc_size - 1) / 2;
    int error;

    for (int i = 0; i < nc_size; i++)
        mine[i] = nc_rank + call + i;
    error = MPI_Reduce_scatter_block(mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return ends_in_error(error, sum, ranks + (long) nc_size * (call + nc_rank));
}

int main(int argc, char **argv)
{
    int (*calls)(int call) = argc > 1 && !strcmp(argv[1], "scan") ? scan : reduce_scatter;

    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; call < 8; call++) {
        int failed = (int) nc_sum((unsigned long long) calls(call));
        if (nc_rank == 0 && failed)
            printf("errors on %d\n", failed);
    }
    return nc_finish();
}
