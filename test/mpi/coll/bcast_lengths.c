/* Tests Bcast with a root's length that is not the length of the others: they get an error, the
 * data that fits arrives, nothing is written behind a buffer, and the next call works. */

#include "nctest.h"

static void mismatch(int sent, int expected, int root)
{
    unsigned char *buffer = nc_memory_alloc(200000);
    int mine = nc_rank == root ? sent : expected, class = MPI_SUCCESS, error;

    memset(buffer, nc_rank == root ? 1 : 2, 200000);
    error = nc_bcast(buffer, mine, MPI_BYTE, root, MPI_COMM_WORLD);
    if (error)
        MPI_Error_class(error, &class);
    if (nc_rank == root && error)
        nc_fail("root got an error", sent, expected);
    if (nc_rank != root && sent > expected && class != MPI_ERR_TRUNCATE)
        nc_fail("no MPI_ERR_TRUNCATE", sent, expected);
    if (nc_rank != root && sent < expected && !error)
        nc_fail("no error for a short message", sent, expected);
    for (int i = 0; nc_rank != root && i < 200000; i++) {
        if (buffer[i] != (i < sent && i < expected ? 1 : 2)) {
            nc_fail("wrong byte", i, buffer[i]);
            break;
        }
    }
    nc_memory_free(buffer);
}

static void works(int root)
{
    int x = nc_rank == root ? 4711 + root : 0;

    if (nc_bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD) || x != 4711 + root)
        nc_fail("does not work on", x, root);
}

int main(int argc, char **argv)
{
    static const int pairs[][2] = {{4, 40},         {40, 4},       {0, 8},          {8, 0},
                                   {100, 100000},   {100000, 100}, {100000, 99999}, {65536, 150000},
                                   {150000, 65536}, {353, 352},    {352, 353},      {345, 344},
                                   {344, 345}};

    nc_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        /* ranks that have nothing to broadcast may not call at all: the others would wait for ever
         */
        if (!NC_EMPTY_BCAST_CALLS && (pairs[i][0] == 0 || pairs[i][1] == 0))
            continue;
        for (int root = 0; root < nc_size; root++) {
            mismatch(pairs[i][0], pairs[i][1], root);
            works(root);
        }
    }
    return nc_finish();
}
