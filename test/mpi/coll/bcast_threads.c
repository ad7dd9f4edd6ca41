/* Tests MPI_THREAD_MULTIPLE: two threads of each rank broadcast at the same time on two
 * communicators. On odd ranks the second thread has the communicator that the first thread has on
 * even ranks. */

#include "nctest.h"

#include <pthread.h>

struct job {
    MPI_Comm comm;
    int errors;
};

static void *work(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < 200; i++) {
        int root = i % nc_size, m = i % 5 ? 64 : 20000;
        unsigned char *buffer = calloc(1, (size_t) m);
        for (int k = 0; nc_rank == root && k < m; k++)
            buffer[k] = nc_byte((size_t) k, i);
        MPI_Bcast(buffer, m, MPI_BYTE, root, job->comm);
        for (int k = 0; k < m; k++)
            job->errors += buffer[k] != nc_byte((size_t) k, i);
        free(buffer);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct job job[2] = {{.errors = 0}, {.errors = 0}};
    pthread_t thread;

    nc_init_threads(&argc, &argv);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &job[i].comm);
    pthread_create(&thread, NULL, work, &job[nc_rank % 2]);
    work(&job[1 - nc_rank % 2]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        nc_errors += job[i].errors;
        nc_calls[NC_BCAST] += nc_size > 1 ? 200 : 0;
        MPI_Comm_free(&job[i].comm);
    }
    return nc_finish();
}
