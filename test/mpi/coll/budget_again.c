/* Tests a communicator for which the node has no shared memory left, until other communicators are
 * freed. test/mpi/faults runs it, with room for some of the others. */

#include "nctest.h"

static void use(MPI_Comm comm, int calls)
{
    for (int i = 0; i < calls; i++) {
        int x = nc_rank == i % nc_size ? i : -1;
        nc_bcast(&x, 1, MPI_INT, i % nc_size, comm);
        if (x != i)
            nc_fail("wrong number", x, i);
    }
}

int main(int argc, char **argv)
{
    enum { OTHERS = 40 };
    MPI_Comm other[OTHERS], last;

    nc_init(&argc, &argv);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &other[i]);
        use(other[i], 1);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    use(last, 10);
    for (int i = 0; i < OTHERS; i++)
        MPI_Comm_free(&other[i]);
    use(last, 100);
    MPI_Comm_free(&last);
    return nc_finish();
}
