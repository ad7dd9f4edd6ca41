/* Tests Alltoallv where one rank expects another length from one other rank than that sends: sent
 * too much is MPI_ERR_TRUNCATE at that rank, too little is no error, what fits arrives, nothing is
 * written behind a block, the other ranks see nothing, and the next call works. Of a block that is
 * too long and comes from another node, UCX delivers nothing and libfabric what fits: both will
 * do. */

#include "nctest.h"

enum { ROOM = 150000 };

static unsigned char *sent, *received;
static int counts[2][64], displs[2][64];

/* Every rank sends `bytes` to each; rank `expects` expects `expected` from rank `from`. */
static void call(int bytes, int expects, int from, int expected)
{
    int class = MPI_SUCCESS, error;

    for (int i = 0; i < nc_size; i++) {
        counts[0][i] = bytes;
        counts[1][i] = nc_rank == expects && i == from ? expected : bytes;
        displs[0][i] = displs[1][i] = i * ROOM;
    }
    memset(sent, nc_rank + 1, (size_t) nc_size * ROOM);
    memset(received, 0xee, (size_t) nc_size * ROOM);
    nc_count(NC_ALLTOALLV, MPI_COMM_WORLD);
    error = MPI_Alltoallv(sent, counts[0], displs[0], MPI_BYTE, received, counts[1], displs[1],
                          MPI_BYTE, MPI_COMM_WORLD);
    if (error)
        MPI_Error_class(error, &class);
    if (nc_rank == expects && expected < bytes ? class != MPI_ERR_TRUNCATE : error)
        nc_fail("wrong error: class, expected", class, expected);
    for (int i = 0; i < nc_size; i++) {
        int arrived = counts[1][i] < bytes ? counts[1][i] : bytes;
        if (arrived < bytes && nc_several_nodes() && received[i * ROOM] == 0xee)
            arrived = 0;
        for (int k = 0; k < ROOM; k++) {
            if (received[i * ROOM + k] != (k < arrived ? i + 1 : 0xee)) {
                nc_fail("wrong byte: of rank, byte", i, k);
                break;
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const int pairs[][2] = {{4, 40},         {40, 4},        {100, 100000},
                                   {100000, 100},   {353, 352},     {352, 353},
                                   {100000, 99999}, {65536, 80000}, {80000, 65536}};

    nc_init(&argc, &argv);
    sent = nc_memory_alloc((size_t) nc_size * ROOM);
    received = nc_memory_alloc((size_t) nc_size * ROOM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int expects = 0; expects < nc_size && expects < 3; expects++) {
        for (size_t i = 0; nc_size > 1 && i < sizeof pairs / sizeof *pairs; i++) {
            call(pairs[i][0], expects, (expects + 1 + (int) i) % nc_size, pairs[i][1]);
            call(pairs[i][0], -1, 0, 0);
        }
    }
    nc_memory_free(sent);
    nc_memory_free(received);
    return nc_finish();
}
