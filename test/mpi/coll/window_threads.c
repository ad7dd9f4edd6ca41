/* Tests windows that threads make, send out of, and free, each on a communicator of its own, while
 * others come and go. On odd ranks the first thread has the communicator that the last thread has
 * on even ranks.
 *
 *   window_threads [TIMES [shares]]    so many windows of each thread. shares: messages must be
 * read in them */

#include <pthread.h>

#include "nctest.h"

enum { THREADS = 3, BYTES = 300000 };

struct job {
    MPI_Comm comm;
    int number, times, errors;
};

static void *work(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < job->times; i++) {
        int root = i % nc_size, seed = job->number * 1000 + i;
        unsigned char *part;
        MPI_Win win;
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, job->comm, &part, &win);
        for (int k = 0; k < BYTES; k++)
            part[k] = nc_rank == root ? nc_byte((size_t) k, seed) : 0;
        MPI_Bcast(part, BYTES, MPI_BYTE, root, job->comm);
        for (int k = 0; k < BYTES; k++)
            job->errors += part[k] != nc_byte((size_t) k, seed);
        MPI_Win_free(&win);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct nc_pvar served[NC_COLLECTIVE_COUNT], copied_shared;
    struct job job[THREADS] = {{.errors = 0}};
    pthread_t thread[THREADS];

    nc_init_threads(&argc, &argv);
    nc_pvar_open(&copied_shared, "numacoll_copied_shared_bytes");
    nc_inside_begins(served); /* MPICH's own calls for windows are among the program's */
    for (int i = 0; i < THREADS; i++) {
        job[i].number = i;
        job[i].times = argc > 1 ? atoi(argv[1]) : 30;
        MPI_Comm_dup(MPI_COMM_WORLD, &job[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &job[nc_rank % 2 ? THREADS - 1 - i : i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        nc_errors += job[i].errors;
        MPI_Comm_free(&job[i].comm);
    }
    nc_inside_ends(served);
    if (argc > 2 && nc_pvar_read(&copied_shared) == 0)
        nc_fail("nothing was read in windows", 0, 0);
    return nc_finish();
}
