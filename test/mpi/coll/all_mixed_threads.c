/* Tests MPI_THREAD_MULTIPLE: the threads of each rank, two or as many as the argument says, each
 * use a communicator of their own for all collectives, messages and a window, in an order that is
 * another on each communicator. */

#include "nctest.h"

#include <pthread.h>
#include <stdbool.h>

enum { MOST_THREADS = 4, ROUNDS = 300, MOST = 6000 };
enum { MESSAGE = NC_COLLECTIVE_COUNT, FENCE, LOCK, KINDS };

/* A communicator and its window: what one thread of each rank uses. */
struct job {
    MPI_Comm comm;
    MPI_Win window;
    int *place; /* [MOST] the window's memory */
    int number, rank, size, round, errors, calls[NC_COLLECTIVE_COUNT];
    int *own, *all, *counts, *displs; /* [MOST], [size * MOST], [size], [size] */
    MPI_Datatype *types;              /* [size] */
};

/* Element i of a rank's block of this round. */
static int element(const struct job *job, int rank, int i)
{
    return (job->round * 7 + job->number * 5 + rank * 31 + i) % 30011;
}

static void fill(const struct job *job, int *block, int rank, int m)
{
    for (int i = 0; i < m; i++)
        block[i] = element(job, rank, i);
}

static void check(struct job *job, const int *block, int rank, int m)
{
    for (int i = 0; i < m; i++)
        job->errors += block[i] != element(job, rank, i);
}

static void fill_all(const struct job *job, int m)
{
    for (int r = 0; r < job->size; r++)
        fill(job, job->all + r * m, r, m);
}

static void check_all(struct job *job, int m)
{
    for (int r = 0; r < job->size; r++)
        check(job, job->all + r * m, r, m);
}

/* The sums, of the first `ranks` ranks, of elements first .. first + m - 1. */
static void check_sums_of(struct job *job, int ranks, int first, int m)
{
    for (int i = 0; i < m; i++) {
        int sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += element(job, r, first + i);
        job->errors += job->all[i] != sum;
    }
}

static void check_sums(struct job *job, int first, int m)
{
    check_sums_of(job, job->size, first, m);
}

/* A call of m elements for each rank. */
static void call(struct job *job, int kind, int root, int m)
{
    MPI_Comm comm = job->comm;
    int *own = job->own, *all = job->all, *counts = job->counts, *displs = job->displs;
    bool is_root = job->rank == root;

    for (int r = 0; r < job->size; r++) {
        counts[r] = m;
        displs[r] = r * m * (kind == NC_ALLTOALLW ? (int) sizeof(int) : 1);
    }
    fill(job, own, job->rank, m);
    if (kind == NC_ALLTOALL || kind == NC_ALLTOALLV || kind == NC_ALLTOALLW) {
        for (int r = 0; r < job->size; r++)
            fill(job, all + r * m, job->rank, m);
    }
    if (kind == NC_SCATTER || kind == NC_SCATTERV) {
        fill_all(job, is_root ? m : 0);
        memset(own, 0, sizeof *own * (size_t) m);
    }
    switch (kind) {
        case NC_BARRIER:
            MPI_Barrier(comm);
            break;
        case NC_BCAST:
            MPI_Bcast(own, m, MPI_INT, root, comm);
            check(job, own, root, m);
            break;
        case NC_SCATTER:
            MPI_Scatter(all, m, MPI_INT, own, m, MPI_INT, root, comm);
            check(job, own, job->rank, m);
            break;
        case NC_SCATTERV:
            MPI_Scatterv(all, counts, displs, MPI_INT, own, m, MPI_INT, root, comm);
            check(job, own, job->rank, m);
            break;
        case NC_GATHER:
            MPI_Gather(own, m, MPI_INT, all, m, MPI_INT, root, comm);
            check_all(job, is_root ? m : 0);
            break;
        case NC_GATHERV:
            MPI_Gatherv(own, m, MPI_INT, all, counts, displs, MPI_INT, root, comm);
            check_all(job, is_root ? m : 0);
            break;
        case NC_ALLGATHER:
            MPI_Allgather(own, m, MPI_INT, all, m, MPI_INT, comm);
            check_all(job, m);
            break;
        case NC_ALLGATHERV:
            MPI_Allgatherv(own, m, MPI_INT, all, counts, displs, MPI_INT, comm);
            check_all(job, m);
            break;
        case NC_REDUCE:
            MPI_Reduce(own, all, m, MPI_INT, MPI_SUM, root, comm);
            check_sums(job, 0, is_root ? m : 0);
            break;
        case NC_ALLREDUCE:
            MPI_Allreduce(own, all, m, MPI_INT, MPI_SUM, comm);
            check_sums(job, 0, m);
            break;
        case NC_REDUCE_SCATTER:
            fill(job, all, job->rank, m * job->size);
            MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, comm);
            check_sums(job, job->rank * m, m);
            break;
        case NC_REDUCE_SCATTER_BLOCK:
            fill(job, all, job->rank, m * job->size);
            MPI_Reduce_scatter_block(MPI_IN_PLACE, all, m, MPI_INT, MPI_SUM, comm);
            check_sums(job, job->rank * m, m);
            break;
        case NC_ALLTOALL:
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, m, MPI_INT, comm);
            check_all(job, m);
            break;
        case NC_ALLTOALLV:
            MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, all, counts, displs, MPI_INT, comm);
            check_all(job, m);
            break;
        case NC_ALLTOALLW:
            MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, displs, job->types, comm);
            check_all(job, m);
            break;
        case NC_SCAN:
            MPI_Scan(own, all, m, MPI_INT, MPI_SUM, comm);
            check_sums_of(job, job->rank + 1, 0, m);
            break;
        case NC_EXSCAN:
            MPI_Exscan(own, all, m, MPI_INT, MPI_SUM, comm);
            check_sums_of(job, job->rank, 0, job->rank > 0 ? m : 0);
            break;
        default: /* a collective that is not tested here */
            return;
    }
    job->calls[kind] += job->size > 1;
}

/* A block goes from each rank to the next, by a message or into the window. */
static void pass_on(struct job *job, int kind, int m)
{
    int next = (job->rank + 1) % job->size, last = (job->rank + job->size - 1) % job->size;
    const int *from = kind == MESSAGE ? job->all : job->place;

    fill(job, job->own, job->rank, m);
    if (kind == LOCK) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, job->window);
        MPI_Put(job->own, m, MPI_INT, next, 0, m, MPI_INT, job->window);
        MPI_Win_unlock(next, job->window);
    } else if (kind == FENCE) {
        MPI_Win_fence(0, job->window);
        MPI_Put(job->own, m, MPI_INT, next, 0, m, MPI_INT, job->window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, job->window);
    }
    /* by this message the last rank also says that it has written, and in the same way ... */
    MPI_Sendrecv(job->own, m, MPI_INT, next, 0, job->all, m, MPI_INT, last, 0, job->comm,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, job->rank, 0, job->window);
    check(job, from, last, m);
    MPI_Win_unlock(job->rank, job->window);
    /* ... that it has read what it was sent, so that more may be written */
    MPI_Sendrecv(NULL, 0, MPI_INT, last, 1, NULL, 0, MPI_INT, next, 1, job->comm,
                 MPI_STATUS_IGNORE);
}

static void *work(void *argument)
{
    struct job *job = argument;
    static const int lengths[] = {1, 40, 1000, MOST};
    unsigned seed = (unsigned) job->number; /* the same on all ranks */

    for (; job->round < ROUNDS; job->round++) {
        int kind = rand_r(&seed) % KINDS, m = lengths[rand_r(&seed) % 4];
        if (kind < NC_COLLECTIVE_COUNT)
            call(job, kind, job->round % job->size, m);
        else
            pass_on(job, kind, m);
    }
    return NULL;
}

/* All ranks in order or the other way round, or only the even or odd ones. */
static void begin(struct job *job, int number)
{
    job->number = number;
    MPI_Comm_split(MPI_COMM_WORLD, number == 2 ? nc_rank % 2 : 0, number == 1 ? -nc_rank : nc_rank,
                   &job->comm);
    MPI_Comm_rank(job->comm, &job->rank);
    MPI_Comm_size(job->comm, &job->size);
    MPI_Win_allocate(MOST * sizeof(int), sizeof(int), MPI_INFO_NULL, job->comm, &job->place,
                     &job->window);
    job->own = malloc(MOST * sizeof(int));
    job->all = malloc((size_t) job->size * MOST * sizeof(int));
    job->counts = malloc((size_t) job->size * sizeof(int));
    job->displs = malloc((size_t) job->size * sizeof(int));
    job->types = malloc((size_t) job->size * sizeof(MPI_Datatype));
    for (int r = 0; r < job->size; r++)
        job->types[r] = MPI_INT;
}

static void end(struct job *job)
{
    nc_errors += job->errors;
    for (int c = 0; c < NC_COLLECTIVE_COUNT; c++)
        nc_calls[c] += job->calls[c];
    free(job->own);
    free(job->all);
    free(job->counts);
    free(job->displs);
    free(job->types);
    MPI_Win_free(&job->window);
    MPI_Comm_free(&job->comm);
}

int main(int argc, char **argv)
{
    struct job job[MOST_THREADS] = {{.errors = 0}};
    struct nc_pvar served[NC_COLLECTIVE_COUNT];
    pthread_t thread[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 2;

    nc_init_threads(&argc, &argv);
    nc_inside_begins(served);
    for (int i = 0; i < threads; i++)
        begin(&job[i], i);
    nc_inside_ends(served);
    /* threads of one number have another communicator on each rank */
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, &job[(i + nc_rank) % threads]);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    nc_inside_begins(served);
    for (int i = 0; i < threads; i++)
        end(&job[i]);
    nc_inside_ends(served);
    return nc_finish();
}
