/* Nonblocking calls under MPI_THREAD_MULTIPLE: threads of each rank, each with a communicator of
 * its own, start them, and make blocking calls meanwhile. What one thread has started, the progress
 * of another one may end.
 *
 *   nonblocking_threads [THREADS] */

#include "nonblocking.h"

#include <pthread.h>

enum { MOST_THREADS = 8, ROUNDS = 150, OPEN = 20 };

struct job {
    MPI_Comm comm;
    int number, errors;
};

static void *work(void *argument)
{
    struct job *job = argument;
    MPI_Request request[3 * OPEN];
    int value[OPEN], sum[OPEN], mine[OPEN], all;

    for (int round = 0; round < ROUNDS; round++) {
        int n = 1 + (round * 7 + job->number) % OPEN;
        for (int i = 0; i < n; i++) {
            int root = (round + i) % nc_size;
            value[i] = nc_rank == root ? round + i : -1;
            mine[i] = nc_rank + i;
            MPI_Ibarrier(job->comm, &request[3 * i]);
            MPI_Ibcast(&value[i], 1, MPI_INT, root, job->comm, &request[3 * i + 1]);
            MPI_Iallreduce(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, job->comm, &request[3 * i + 2]);
        }
        all = 1;
        if (round % 3 == 0)
            MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, job->comm);
        job->errors += round % 3 == 0 && all != nc_size;
        MPI_Waitall(3 * n, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            job->errors += value[i] != round + i ||
                           sum[i] != nc_size * i + nc_size * (nc_size - 1) / 2;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct job job[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 2, started = 0;

    nc_init_threads(&argc, &argv);
    nc_nonblocking_open();
    for (int round = 0; round < ROUNDS; round++)
        nc_calls[NC_ALLREDUCE] += nc_size > 1 && round % 3 == 0 ? threads : 0;
    for (int i = 0; i < threads; i++) {
        job[i] = (struct job){.number = i};
        MPI_Comm_dup(MPI_COMM_WORLD, &job[i].comm);
        nc_barrier(job[i].comm);
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, &job[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        if (job[i].errors)
            nc_fail("wrong data: thread, calls", i, job[i].errors);
        for (int round = 0; round < ROUNDS; round++)
            started += 1 + (round * 7 + i) % OPEN;
    }
    for (int i = 0; i < started; i++) {
        for (int kind = 0; kind < NC_NONBLOCKING_KINDS; kind++)
            nc_nonblocking_count(kind, job[0].comm, 1);
    }
    nc_nonblocking_check();
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&job[i].comm);
    return nc_finish();
}
