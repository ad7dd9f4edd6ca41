/* Makes a hundred barriers and prints the performance variables that counted something, for
 * test/mpi/selection, which chooses how the barriers are served and checks the counts.
 *
 *   barrier_ways [KEY VALUE]     on a communicator with this info key */

#include "nctest.h"

enum { TIMES = 100 };

int main(int argc, char **argv)
{
    static struct nc_pvar all[256];
    MPI_Comm comm;
    int pvars;

    nc_init(&argc, &argv);
    comm = nc_comm_with(argc, argv);
    pvars = nc_pvars_open(all, 256);
    for (int i = 0; i < TIMES; i++)
        nc_barrier(comm);
    nc_pvars_print(all, pvars);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    return nc_finish();
}
