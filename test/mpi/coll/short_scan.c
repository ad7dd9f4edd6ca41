/* Tests scans in which a rank may have no memory: on every rank the result is right, or the call
 * returns an error. Prints how many ranks got one, if some did. test/mpi/faults runs it. */

#include "nctest.h"

/* Whether a scan went wrong without an error. */
static void check(int error, long sum, long expected, int *failed)
{
    *failed |= error != MPI_SUCCESS;
    if (error == MPI_SUCCESS && sum != expected)
        nc_fail("wrong sum", sum, expected);
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; call < 8; call++) {
        int failed = 0, error;
        long mine = nc_rank + call, sum = 0,
             before = (long) nc_rank * call + (long) nc_rank * (nc_rank - 1) / 2;

        error = MPI_Scan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        check(error, sum, before + mine, &failed);
        sum = 0; /* rank 0 has no result */
        error = MPI_Exscan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        check(error, sum, before, &failed);
        failed = (int) nc_sum((unsigned long long) failed);
        if (nc_rank == 0 && failed)
            printf("errors on %d\n", failed);
    }
    return nc_finish();
}
