/* Tests communicators that are made, used for a few calls, and freed, again and again: numacoll
 * goes on with the segment of a freed one where all ranks keep it. One at a time; several, freed in
 * another order on each rank, of colours and keys that change; one that a rank frees late; one on
 * which a call has failed; and by several threads.
 *
 *   all_short_lived [TIMES]    so many communicators one at a time, a fraction of it of the others
 */

#include "nctest.h"

#include <pthread.h>
#include <stdbool.h>

enum { LONG = 50000 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static struct nc_pvar made, reused;

/* ---- calls ---- */

/* What one thread uses and counts. */
struct job {
    MPI_Comm base;
    int number, times, errors, calls[NC_COLLECTIVE_COUNT], communicators;
    unsigned char *buffer; /* [LONG] */
};

static void count(struct job *job, int collective, MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    job->calls[collective] += size > 1;
}

static void bcast(struct job *job, MPI_Comm comm, int bytes, int root, int seed)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < bytes; i++)
        job->buffer[i] = rank == root ? nc_byte((size_t) i, seed) : 0;
    count(job, NC_BCAST, comm);
    MPI_Bcast(job->buffer, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++)
        job->errors += job->buffer[i] != nc_byte((size_t) i, seed);
}

/* The sum of all ranks' numbers in MPI_COMM_WORLD, which another communicator would have otherwise;
 * and of their places in this one. */
static void allreduce(struct job *job, MPI_Comm comm, long expected)
{
    int rank, size;
    long sum[2];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    count(job, NC_ALLREDUCE, comm);
    MPI_Allreduce((long[]){nc_rank, rank}, sum, 2, MPI_LONG, MPI_SUM, comm);
    job->errors += sum[0] != expected || sum[1] != (long) size * (size - 1) / 2;
}

/* The sum of the numbers in MPI_COMM_WORLD of a communicator's ranks. */
static long sum_of(MPI_Comm comm)
{
    MPI_Group all, mine;
    int size;
    long sum = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &mine);
    MPI_Group_size(mine, &size);
    for (int r = 0; r < size; r++) {
        int in_world;
        MPI_Group_translate_ranks(mine, 1, &r, all, &in_world);
        sum += in_world;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    return sum;
}

/* Uses a new communicator. */
static void use(struct job *job, MPI_Comm comm, int seed)
{
    int size;

    MPI_Comm_size(comm, &size);
    job->communicators += size > 1;
    bcast(job, comm, 4, seed % size, seed);
    allreduce(job, comm, sum_of(comm));
    if (seed % 16 == 7)
        bcast(job, comm, LONG, (seed + 1) % size, seed + 1);
    count(job, NC_BARRIER, comm);
    MPI_Barrier(comm);
}

static MPI_Comm dup_of(MPI_Comm comm)
{
    MPI_Comm result;

    MPI_Comm_dup(comm, &result);
    return result;
}

/* MPI_Comm_split begins with an allgather, which numacoll serves. */
static MPI_Comm split_of(struct job *job, MPI_Comm comm, int colour, int key)
{
    MPI_Comm result;

    count(job, NC_ALLGATHER, comm);
    MPI_Comm_split(comm, colour, key, &result);
    return result;
}

/* ---- what is tested ---- */

static void one_at_a_time(struct job *job)
{
    for (int i = 0; i < job->times; i++) {
        MPI_Comm comm = dup_of(job->base);
        use(job, comm, i + job->number);
        MPI_Comm_free(&comm);
    }
}

/* Three at a time, one made from the other, which the ranks free in different orders. */
static void nested(struct job *job)
{
    for (int i = 0; i < job->times / 4; i++) {
        MPI_Comm comm[3];
        comm[0] = dup_of(job->base);
        use(job, comm[0], i);
        comm[1] = split_of(job, comm[0], (nc_rank >> i % 3) & 1, i % 2 ? -nc_rank : nc_rank);
        use(job, comm[1], i);
        comm[2] = dup_of(comm[1]);
        use(job, comm[2], i + 1);
        bcast(job, comm[0], 100, 0, i);
        for (int k = 0; k < 3; k++)
            MPI_Comm_free(&comm[(k * (1 + nc_rank % 2) + nc_rank + i) % 3]);
    }
}

/* One rank after the other frees its communicator only when the next one has been used. */
static void freed_late(struct job *job)
{
    for (int i = 0; i < job->times / 4; i++) {
        MPI_Comm first = dup_of(job->base), second;
        bool late = nc_rank == i % nc_size;

        use(job, first, i);
        if (!late)
            MPI_Comm_free(&first);
        second = dup_of(job->base);
        use(job, second, i);
        if (late)
            MPI_Comm_free(&first);
        MPI_Comm_free(&second);
    }
}

/* The segment of a communicator on which a call has failed is not used again. There is no other one
 * yet that might be. */
static void failed(struct job *job)
{
    MPI_Comm comm = dup_of(job->base);
    unsigned long long before;
    int error;

    use(job, comm, 0);
    before = nc_pvar_read(&made);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    count(job, NC_BCAST, comm);
    error = MPI_Bcast(job->buffer, nc_rank == 0 ? 200 : 100, MPI_BYTE, 0, comm);
    job->errors += nc_rank > 0 && error == MPI_SUCCESS;
    MPI_Comm_free(&comm);
    comm = dup_of(job->base);
    use(job, comm, 1);
    if (nc_pvar_read(&made) == before)
        nc_fail("went on with a segment on which a call had failed", 0, 0);
    MPI_Comm_free(&comm);
}

static void *work(void *job)
{
    one_at_a_time(job);
    nested(job);
    return NULL;
}

/* Threads of each rank make communicators of the same ranks at the same time; on small stacks, as
 * the threads of some languages have. */
static void threads(struct job *whole, int times)
{
    enum { THREADS = 3, STACK = SANITIZED ? 1 << 20 : 32768 };
    struct job job[THREADS];
    pthread_t thread[THREADS];
    pthread_attr_t small;

    pthread_attr_init(&small);
    if (pthread_attr_setstacksize(&small, STACK) && nc_rank == 0)
        printf("threads have ordinary stacks, this system has no smaller ones\n");
    for (int t = 0; t < THREADS; t++)
        job[t] = (struct job){
            .base = dup_of(MPI_COMM_WORLD), .number = t, .times = times, .buffer = malloc(LONG)};
    for (int t = 1; t < THREADS; t++)
        pthread_create(&thread[t], &small, work, &job[t]);
    pthread_attr_destroy(&small);
    work(&job[0]);
    for (int t = 0; t < THREADS; t++) {
        if (t > 0)
            pthread_join(thread[t], NULL);
        whole->errors += job[t].errors;
        whole->communicators += job[t].communicators;
        for (int c = 0; c < NC_COLLECTIVE_COUNT; c++)
            whole->calls[c] += job[t].calls[c];
        MPI_Comm_free(&job[t].base);
        free(job[t].buffer);
    }
}

/* ---- what is counted ---- */

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

/* Of so many communicators of all ranks, one at a time, only the first one has made a segment;
 * which may have been replaced by larger ones. */
static void check_one_at_a_time(int times)
{
    long m = (long) nc_pvar_read(&made), r = (long) nc_pvar_read(&reused);
    bool keeps = setting("MPIR_CVAR_NUMACOLL_KEEP_SEGMENTS", 16) > 0;

    if (nc_size == 1 || nc_several_nodes() || getenv("MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE"))
        return;
    if (keeps ? m > 3 || r < times - 1 : m < times || r != 0)
        nc_fail("segments made and reused", m, r);
}

/* Of all communicators together there are as many as were set up; and what is kept of them is
 * bounded. */
static void check_all(int communicators)
{
    long m = (long) nc_pvar_read(&made), r = (long) nc_pvar_read(&reused),
         kept = (long) nc_level("numacoll_kept_bytes"),
         limit = setting("MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE", 65536);

    if (nc_rank == 0)
        printf("communicators %d, segments made %ld, reused %ld, bytes kept %ld, in use %llu\n",
               communicators, m, r, kept, nc_level("numacoll_segment_bytes"));
    if (kept > limit * 1024 / 4)
        nc_fail("bytes kept", kept, limit);
    if (!nc_several_nodes() && m + r < communicators)
        nc_fail("segments made and reused of so many communicators", m + r, communicators);
}

int main(int argc, char **argv)
{
    struct job job = {.times = argc > 1 ? atoi(argv[1]) : 120, .buffer = malloc(LONG)};
    unsigned long long before;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &nc_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nc_size);
    job.base = MPI_COMM_WORLD;
    nc_pvar_open(&made, "numacoll_segments_made");
    if (nc_size > 1 && !nc_several_nodes())
        failed(&job);
    job.communicators = 0;
    nc_pvar_open(&made, "numacoll_segments_made"); /* from 0 on */
    nc_pvar_open(&reused, "numacoll_segments_reused");
    one_at_a_time(&job);
    check_one_at_a_time(job.times);
    before = nc_pvar_read(&reused);
    nested(&job);
    /* where one is kept, the next of three that are alive at a time finds none */
    if (setting("MPIR_CVAR_NUMACOLL_KEEP_SEGMENTS", 16) == 1 && !nc_several_nodes() &&
        nc_pvar_read(&reused) - before > (unsigned long long) job.times / 4)
        nc_fail("more segments kept than one", (long) (nc_pvar_read(&reused) - before), job.times);
    freed_late(&job);
    if (provided == MPI_THREAD_MULTIPLE)
        threads(&job, job.times / 8);
    check_all(job.communicators);
    if (job.errors)
        nc_fail("wrong results", job.errors, 0);
    for (int c = 0; c < NC_COLLECTIVE_COUNT; c++)
        nc_calls[c] += job.calls[c];
    free(job.buffer);
    return nc_finish();
}
