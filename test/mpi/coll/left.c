/* Tests communicators that a program does not free before MPI_Finalize: numacoll gives their memory
 * back. test/mpi/faults runs it. MPI_T lives on, and shows what is left. */

#include "nctest.h"

int main(int argc, char **argv)
{
    MPI_Comm comm, freed;
    unsigned long long before, kept, after;

    nc_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 10; i++)
        nc_bcast(&(int){0}, 1, MPI_INT, 0, comm);
    before = nc_level("numacoll_segment_bytes");
    /* one that is freed, which is kept until MPI_Finalize */
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    nc_bcast(&(int){0}, 1, MPI_INT, 0, freed);
    MPI_Comm_free(&freed);
    kept = nc_level("numacoll_kept_bytes");
    nc_finish();
    after = nc_level("numacoll_segment_bytes") + nc_level("numacoll_kept_bytes");
    if (!before || !kept || after) {
        printf("rank %d: %llu bytes in segments before MPI_Finalize, %llu kept, %llu after it\n",
               nc_rank, before, kept, after);
        return 1;
    }
    return 0;
}
