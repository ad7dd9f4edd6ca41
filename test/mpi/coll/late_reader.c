/* Tests a broadcast to a rank that comes a second late: rank 0 prints how many milliseconds its own
 * call took, and then writes its buffer again. test/mpi/faults runs it.
 *
 *   late_reader BYTES */

#include <unistd.h>

#include "nctest.h"

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char *buffer;
    double began;

    nc_init(&argc, &argv);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &buffer);
    for (int call = 0; call < 40; call++) { /* the last one late, in a segment that has grown */
        for (int i = 0; i < bytes; i++)
            buffer[i] = nc_rank == 0 ? nc_byte((size_t) i, call) : 0;
        if (call == 39 && nc_rank == 1)
            sleep(1);
        began = MPI_Wtime();
        nc_bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (call == 39 && nc_rank == 0)
            printf("milliseconds %.0f\n", (MPI_Wtime() - began) * 1e3);
        for (int i = 0; i < bytes; i++) {
            if (buffer[i] != nc_byte((size_t) i, call)) {
                nc_fail("wrong byte", i, call);
                break;
            }
        }
    }
    MPI_Free_mem(buffer);
    return nc_finish();
}
