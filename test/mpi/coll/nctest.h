/* What the programs share: they print " No Errors" as MPICH's own tests do, and, asked by NCTEST_CALLS, how many
 * calls rank 0 made that numacoll has to serve, for the runner to compare with numacoll's own count. */

#ifndef NCTEST_H_INCLUDED
#define NCTEST_H_INCLUDED

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int nc_rank, nc_size, nc_errors, nc_calls;

/* One broadcast, counted if there is somebody to send to. */
static inline int nc_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int size, inter;

    MPI_Comm_size(comm, &size);
    MPI_Comm_test_inter(comm, &inter);
    nc_calls += size > 1 && !inter;
    return MPI_Bcast(buffer, count, type, root, comm);
}

static inline unsigned char nc_byte(size_t i, int seed)
{
    return (unsigned char) (i * 31 + (i >> 8) + (size_t) seed * 7);
}

static inline void nc_fail(const char *what, long a, long b)
{
    if (nc_errors++ < 5)
        fprintf(stderr, "rank %d: %s (%ld, %ld)\n", nc_rank, what, a, b);
}

static inline void nc_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &nc_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nc_size);
}

static inline int nc_finish(void)
{
    int all = 0;

    MPI_Reduce(&nc_errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (nc_rank == 0) {
        if (all)
            printf(" Found %d errors\n", all);
        else
            printf(" No Errors\n");
        if (getenv("NCTEST_CALLS"))
            printf("calls %d\n", nc_calls);
        fflush(stdout);
    }
    MPI_Finalize();
    return nc_errors != 0;
}

#endif
