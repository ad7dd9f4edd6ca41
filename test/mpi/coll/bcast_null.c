/* Tests Bcast of nothing with MPI_DATATYPE_NULL: MPICH looks at the type only if there are
 * elements. */

#include "nctest.h"

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    for (int root = 0; root < nc_size; root++) {
        int x = nc_rank == root ? root + 1 : 0;

        nc_bcast(NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        if (nc_bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD) || x != root + 1)
            nc_fail("does not work on", x, root);
    }
    return nc_finish();
}
