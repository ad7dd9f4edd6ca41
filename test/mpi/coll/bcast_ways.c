/* Makes as many broadcasts of 4 bytes as of 1 MB, with other roots than rank 0 if there are others,
 * for the scripts of test/mpi, which choose how they are served. At the end rank 0 prints the
 * performance variables that counted something: pvar NAME VALUE.
 *
 *   bcast_ways [KEY VALUE]     on a communicator with this info key */
#include "nctest.h"

enum { SMALL = 4, LARGE = 1 << 20, TIMES = 6 };

static void round_of(unsigned char *buffer, size_t m, int root, int seed, MPI_Comm comm)
{
    for (size_t i = 0; i < m; i++)
        buffer[i] = nc_rank == root ? nc_byte(i, seed) : 0;
    nc_bcast(buffer, (int) m, MPI_BYTE, root, comm);
    for (size_t i = 0; i < m; i++) {
        if (buffer[i] != nc_byte(i, seed)) {
            nc_fail("wrong byte", (long) i, seed);
            return;
        }
    }
}

int main(int argc, char **argv)
{
    unsigned char *buffer;
    static struct nc_pvar all[256];
    MPI_Comm comm;
    int pvars;

    nc_init(&argc, &argv);
    MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &buffer);
    comm = nc_comm_with(argc, argv);
    pvars = nc_pvars_open(all, 256);
    for (int i = 0; i < TIMES; i++) {
        int root = nc_size > 1 ? 1 + i % (nc_size - 1) : 0;
        round_of(buffer, SMALL, root, i, comm);
        round_of(buffer, LARGE, root, i + 100, comm);
    }
    nc_pvars_print(all, pvars);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Free_mem(buffer);
    return nc_finish();
}
