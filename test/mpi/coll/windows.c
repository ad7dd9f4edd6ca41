/* Tests windows, for which MPICH makes collective calls itself, on a communicator of each window
 * and on the program's, and an intercommunicator, for which it makes them on one of each group.
 * test/mpi/faults runs it. Prints the bytes of the segments that rank 0 has more while there is a
 * window with few fences, or one with many, than with the first window, and more after calls on the
 * intercommunicator than before. */

#include "nctest.h"

/* A window with so many fences; each rank puts numbers into the next one's. */
static unsigned long long use(int fences)
{
    int *place, number, next = (nc_rank + 1) % nc_size, before = (nc_rank + nc_size - 1) % nc_size;
    unsigned long long bytes;
    MPI_Win window;

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &place, &window);
    MPI_Win_fence(0, window);
    for (int i = 1; i < fences; i++) {
        number = nc_rank + i;
        MPI_Win_fence(0, window); /* all have read the last number */
        MPI_Put(&number, 1, MPI_INT, next, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        if (*place != before + i)
            nc_fail("wrong number", *place, before + i);
    }
    bytes = nc_level("numacoll_segment_bytes");
    MPI_Win_free(&window);
    return bytes;
}

/* So many barriers of the even and the odd ranks. */
static unsigned long long meet(int barriers)
{
    MPI_Comm half, both;
    unsigned long long bytes;

    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - nc_rank % 2, 0, &both);
    bytes = nc_level("numacoll_segment_bytes");
    for (int i = 0; i < barriers; i++)
        MPI_Barrier(both);
    bytes = nc_level("numacoll_segment_bytes") - bytes;
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    return bytes;
}

int main(int argc, char **argv)
{
    unsigned long long first, few, many;

    nc_init(&argc, &argv);
    first = use(6);
    for (int i = 0; i < 9; i++)
        few = use(6) - first;
    many = use(300) - first;
    if (nc_rank == 0)
        printf("few: %llu bytes\nmany: %llu bytes\n", few, many);
    few = meet(6);
    if (nc_rank == 0)
        printf("groups: %llu bytes\n", few);
    return nc_finish();
}
