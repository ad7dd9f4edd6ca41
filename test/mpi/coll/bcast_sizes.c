/* Tests Bcast with every root and with sizes around every limit of the protocol. Each byte is
 * checked, and guards before and behind the buffer.
 *
 *   bcast_sizes [BYTES]     only sizes up to this one */

#include <limits.h>

#include "nctest.h"

enum { GUARD = 64 };

static void one(MPI_Comm comm, int m, int root, int seed)
{
    unsigned char *memory = nc_memory_alloc((size_t) m + 2 * GUARD), *buffer = memory + GUARD;
    int rank;

    MPI_Comm_rank(comm, &rank);
    memset(memory, 0xa5, (size_t) m + 2 * GUARD);
    for (int i = 0; rank == root && i < m; i++)
        buffer[i] = nc_byte((size_t) i, seed);
    nc_bcast(buffer, m, MPI_BYTE, root, comm);
    for (int i = 0; i < m; i++) {
        if (buffer[i] != nc_byte((size_t) i, seed)) {
            nc_fail("wrong byte", i, m);
            break;
        }
    }
    for (int i = 0; i < GUARD; i++) {
        if (memory[i] != 0xa5 || buffer[m + i] != 0xa5)
            nc_fail("outside the buffer", i, m);
    }
    nc_memory_free(memory);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0,     1,     4,      31,      32,     33,   255,   256,
                                344,   345,   352,    353,     512,    2047, 2048,  2049,
                                4095,  4096,  4097,   8191,    8192,   8193, 16384, 65535,
                                65536, 65537, 262144, 1048576, 1048577};
    int seed = 0, largest;

    nc_init(&argc, &argv);
    largest = argc > 1 ? atoi(argv[1]) : INT_MAX;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int root = 0; root < nc_size && sizes[i] <= largest; root++)
            one(MPI_COMM_WORLD, sizes[i], root, seed++);
    }
    /* one after the other, more calls than there are receive control slots */
    for (int i = 0; i < 300; i++)
        one(MPI_COMM_WORLD, i % 7 || largest < 5000 ? 8 : 5000, 0, seed++);
    return nc_finish();
}
