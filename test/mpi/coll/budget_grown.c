/* Tests that a segment gives back its bytes when a larger one replaces it: communicators one after
 * the other, in a node with room for one of them, each with so many long messages that it gets a
 * segment of full size. If any bytes stayed taken, the later ones would be shorter. */

#include "nctest.h"

/* The segment's size after the first call, and after the last one. */
static void use(MPI_Comm comm, char *buffer, int bytes, unsigned long long size[2])
{
    enum { CALLS = 40 };

    for (int i = 0; i < CALLS; i++) {
        memset(buffer, nc_rank == i % nc_size ? i : -1, (size_t) bytes);
        nc_bcast(buffer, bytes, MPI_CHAR, i % nc_size, comm);
        if (buffer[0] != i || buffer[bytes - 1] != i)
            nc_fail("wrong byte", buffer[0], i);
        size[i > 0] = nc_level("numacoll_segment_bytes");
    }
}

int main(int argc, char **argv)
{
    enum { COMMUNICATORS = 20, BYTES = 100000 };
    char *buffer = malloc(BYTES);
    unsigned long long size[2], first = 0;

    nc_init(&argc, &argv);
    for (int c = 0; c < COMMUNICATORS; c++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        use(comm, buffer, BYTES, size);
        MPI_Comm_free(&comm);
        if (size[1] <= size[0])
            nc_fail("no larger segment than at first", (long) size[1], (long) size[0]);
        first = first ? first : size[1];
        if (size[1] != first)
            nc_fail("not the size that the first communicator got", (long) size[1], (long) first);
    }
    free(buffer);
    if (nc_rank == 0)
        printf("grown to %llu bytes\n", first);
    return nc_finish();
}
