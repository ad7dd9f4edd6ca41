/* Tests MPI_THREAD_MULTIPLE: two threads of each rank make communicators at the same time, each
 * with info keys whose texts the process has not seen before. An MPICH with a lock for each VCI
 * lets both into numacoll at a time; there ThreadSanitizer sees what is not locked. */

#include "nctest.h"

#include <pthread.h>

enum { ROUNDS = 60, CALLS = 3 };

struct job {
    MPI_Comm base;
    int number, errors;
};

/* list:0,0,.. or another mapping, and links that no other communicator has. */
static MPI_Info info_of(const struct job *job, int round)
{
    char list[256] = "list:0", links[64];
    MPI_Info info;

    for (int i = 1; i < nc_size && strlen(list) < sizeof list - 3; i++)
        strcat(list, ",0");
    snprintf(links, sizeof links, "top:%d.%d/0.1", job->number + 1, round);
    MPI_Info_create(&info);
    MPI_Info_set(info, "numacoll_mapping", (round + job->number) % 2 ? list : "core");
    MPI_Info_set(info, "numacoll_links", links);
    return info;
}

static void *work(void *argument)
{
    struct job *job = argument;

    for (int round = 0; round < ROUNDS; round++) {
        MPI_Info info = info_of(job, round);
        MPI_Comm comm;
        MPI_Comm_dup_with_info(job->base, info, &comm);
        for (int i = 0; i < CALLS; i++) {
            int root = i % nc_size, x = nc_rank == root ? round + i : -1;
            MPI_Bcast(&x, 1, MPI_INT, root, comm);
            job->errors += x != round + i;
        }
        MPI_Comm_free(&comm);
        MPI_Info_free(&info);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct job job[2] = {{.number = 0}, {.number = 1}};
    pthread_t thread;

    nc_init_threads(&argc, &argv);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &job[i].base);
    pthread_create(&thread, NULL, work, &job[1]);
    work(&job[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        nc_errors += job[i].errors;
        nc_calls[NC_BCAST] += nc_size > 1 ? ROUNDS * CALLS : 0;
        MPI_Comm_free(&job[i].base);
    }
    return nc_finish();
}
