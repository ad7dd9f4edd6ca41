/* Tests that ranks which wait long use little processor time: rank 0 comes late to a barrier, a
 * broadcast, messages, the lock of a window and an allreduce, and each other rank compares its
 * processor time meanwhile with a limit, if the waits of this job rest: if YIELD says so, or if
 * ranks outnumber processors. Then the same in quick rounds, where nobody is late. Rank 0 prints
 * how many waits of all ranks slept: asleep NUMBER.
 *
 *   all_late                      all that
 *   all_late SECONDS [ROUNDS]     one barrier to which rank 0 comes so late, and quick rounds; each
 *                                 rank prints `pid RANK NUMBER` of its process (for faults) */

#define _GNU_SOURCE
#include "nctest.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200, MESSAGES = 4, INTS = 16, LARGE = 1 << 16, MOST_RANKS = 64 };

static const double LATE = 0.5; /* seconds */
/* Milliseconds of processor time in such a wait. Nobody rings for messages of other nodes, nor in
 * MPICH's own collectives: there sleeps are short. Sanitizers make each step several times as long;
 * a wait that spins takes hundreds. */
#ifdef __SANITIZE_ADDRESS__
static const double LIMIT = 75, LIMIT_NO_BELL = 150;
#else
static const double LIMIT = 25, LIMIT_NO_BELL = 150;
#endif

/* ---- the calls: rank 0 sends, or is the one that all others need ---- */

static void expect(const int *data, int count, int first)
{
    for (int i = 0; i < count; i++) {
        if (data[i] != first + i) {
            nc_fail("wrong value", data[i], first + i);
            return;
        }
    }
}

static void fill(int *data, int count, int first)
{
    for (int i = 0; i < count; i++)
        data[i] = first + i;
}

static void barrier(int round)
{
    (void) round;
    nc_barrier(MPI_COMM_WORLD);
}

static void bcast(int round)
{
    int data[INTS] = {0};

    if (nc_rank == 0)
        fill(data, INTS, round);
    nc_bcast(data, INTS, MPI_INT, 0, MPI_COMM_WORLD);
    expect(data, INTS, round);
}

static void allreduce(int round)
{
    int data[INTS], sums[INTS];

    for (int i = 0; i < INTS; i++)
        data[i] = nc_rank + round;
    nc_count(NC_ALLREDUCE, MPI_COMM_WORLD);
    MPI_Allreduce(data, sums, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < INTS; i++) {
        if (sums[i] != nc_size * (nc_size - 1) / 2 + nc_size * round)
            nc_fail("wrong sum", sums[i], round);
    }
}

static void recv(int round)
{
    int data[INTS] = {0};

    fill(data, nc_rank ? 0 : INTS, round);
    for (int r = 1; r < nc_size && nc_rank == 0; r++)
        MPI_Send(data, INTS, MPI_INT, r, 1, MPI_COMM_WORLD);
    if (nc_rank)
        MPI_Recv(data, INTS, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(data, INTS, round);
}

/* Sends INTS numbers to all other ranks. */
static void send_all(int round, int tag)
{
    int data[INTS];

    fill(data, INTS, round);
    for (int r = 1; r < nc_size; r++)
        MPI_Send(data, INTS, MPI_INT, r, tag, MPI_COMM_WORLD);
}

static void probe(int round)
{
    int data[INTS] = {0};

    if (nc_rank == 0) {
        send_all(round, 10);
        return;
    }
    MPI_Probe(0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, INTS, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(data, INTS, round);
}

static void mprobe(int round)
{
    int data[INTS] = {0};
    MPI_Message message;

    if (nc_rank == 0) {
        send_all(round, 11);
        return;
    }
    MPI_Mprobe(0, 11, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect(data, INTS, round);
}

/* Receives two messages: by two calls of MPI_Waitany or as many of MPI_Waitsome as it takes. */
static void wait_some(int round, int tag, bool any)
{
    enum { MESSAGES_HERE = 2 };
    int data[MESSAGES_HERE][INTS] = {{0}}, indices[MESSAGES_HERE], count;
    MPI_Request requests[MESSAGES_HERE];

    for (int i = 0; i < MESSAGES_HERE; i++) {
        if (nc_rank)
            MPI_Irecv(data[i], INTS, MPI_INT, 0, tag + i, MPI_COMM_WORLD, &requests[i]);
        else
            send_all(round, tag + i);
    }
    for (int done = 0; nc_rank && done < MESSAGES_HERE; done += count) {
        count = 1;
        if (any)
            MPI_Waitany(MESSAGES_HERE, requests, indices, MPI_STATUS_IGNORE);
        else
            MPI_Waitsome(MESSAGES_HERE, requests, &count, indices, MPI_STATUSES_IGNORE);
        if (count < 1 || count > MESSAGES_HERE - done)
            nc_fail("requests that ended", count, MESSAGES_HERE - done);
    }
    for (int i = 0; nc_rank && i < MESSAGES_HERE; i++)
        expect(data[i], INTS, round);
}

static void waitany(int round)
{
    wait_some(round, 12, true);
}

static void waitsome(int round)
{
    wait_some(round, 14, false);
}

static MPI_Win win = MPI_WIN_NULL;

/* All others add to a number in rank 0's memory, which only rank 0 can let them do. */
static void lock(int round)
{
    /* MPICH 4.0.2 on UCX 1.13 loses what is put into a window of 4 bytes, so it has a page */
    static int number[1024], rounds;
    struct nc_pvar inside[NC_COLLECTIVE_COUNT];
    int one = 1;

    (void) round;
    if (win == MPI_WIN_NULL) {
        nc_inside_begins(inside);
        MPI_Win_create(number, sizeof number, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        nc_inside_ends(inside);
    }
    rounds++;
    if (nc_rank) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    nc_barrier(MPI_COMM_WORLD);
    if (nc_rank == 0 && number[0] != rounds * (nc_size - 1))
        nc_fail("sum in the window", number[0], rounds * (nc_size - 1));
    nc_barrier(MPI_COMM_WORLD);
}

/* Some messages at once; the last one is so long that MPICH sends it in many pieces. */
static void waitall(int round)
{
    static int data[MESSAGES][LARGE];
    static MPI_Request requests[MOST_RANKS * MESSAGES];
    int n = 0;

    for (int m = 0; m < MESSAGES; m++) {
        int count = m == MESSAGES - 1 ? LARGE : INTS;
        if (nc_rank)
            MPI_Irecv(data[m], count, MPI_INT, 0, 2 + m, MPI_COMM_WORLD, &requests[n++]);
        else
            fill(data[m], count, round + m);
        for (int r = 1; r < nc_size && nc_rank == 0; r++)
            MPI_Isend(data[m], count, MPI_INT, r, 2 + m, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int m = 0; m < MESSAGES; m++) {
        expect(data[m], m == MESSAGES - 1 ? LARGE : INTS, round + m);
        memset(data[m], 0, sizeof data[m]);
    }
}

static const struct {
    const char *name;
    void (*call)(int round);
} calls[] = {{"processor time in a late barrier (ms, at most)", barrier},
             {"processor time in a late bcast (ms, at most)", bcast},
             {"processor time in a late recv (ms, at most)", recv},
             {"processor time in a late waitall (ms, at most)", waitall},
             {"processor time in a late probe (ms, at most)", probe},
             {"processor time in a late mprobe (ms, at most)", mprobe},
             {"processor time in a late waitany (ms, at most)", waitany},
             {"processor time in a late waitsome (ms, at most)", waitsome},
             {"processor time in a late lock (ms, at most)", lock},
             {"processor time in a late allreduce (ms, at most)", allreduce}};

enum { CALLS = sizeof calls / sizeof *calls };

/* ---- processor time ---- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Of this process, milliseconds. */
static double processor_time(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return 1e3 * (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-3 * (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The limit in milliseconds; 0: none, because waits may spin. */
static double limit_of_waits(void)
{
    const char *yield = getenv("MPIR_CVAR_NUMACOLL_YIELD");
    int nodes = nc_several_nodes();
    cpu_set_t mask;

    if (!yield || !strcmp(yield, "auto")) {
        /* ranks of assumed nodes are compared with the machine */
        if (nodes ? nc_size <= sysconf(_SC_NPROCESSORS_ONLN)
                  : sched_getaffinity(0, sizeof mask, &mask) || nc_size <= CPU_COUNT(&mask))
            return 0;
    } else if (!strcmp(yield, "off")) {
        return 0;
    }
    return nodes || getenv("MPIR_CVAR_BARRIER_POSIX_INTRA_ALGORITHM") ? LIMIT_NO_BELL : LIMIT;
}

/* Rank 0 makes the call so many seconds later than the others. Time counts from before the barrier,
 * because a rank may get no processor for a while after it. */
static void make_late(int which, double late)
{
    struct timespec t = {.tv_sec = (time_t) late, .tv_nsec = (long) (1e9 * (late - (long) late))};
    double limit = limit_of_waits(), began = seconds(), used;

    nc_barrier(MPI_COMM_WORLD);
    used = processor_time();
    if (nc_rank == 0)
        nanosleep(&t, NULL);
    calls[which].call(which);
    used = processor_time() - used;
    if (nc_rank && seconds() - began < 0.99 * late)
        nc_fail("did not wait for rank 0 (ms, call)", (long) (1e3 * (seconds() - began)), which);
    /* MPICH's network module has a wait of its own for what is under way in a window: it polls */
    if (calls[which].call == lock && nc_several_nodes())
        limit = 0;
    if (nc_rank && limit > 0 && used > limit)
        nc_fail(calls[which].name, (long) used, (long) limit);
}

int main(int argc, char **argv)
{
    struct nc_pvar asleep, inside[NC_COLLECTIVE_COUNT];
    unsigned long long slept;
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;

    nc_init(&argc, &argv);
    if (nc_size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    nc_pvar_open(&asleep, "numacoll_waits_asleep");
    for (int i = 0; i < 2 * CALLS; i++) /* makes the segment, and MPICH's connections */
        calls[i % CALLS].call(i);
    if (argc > 1) {
        printf("pid %d %d\n", nc_rank, (int) getpid());
        fflush(stdout);
    }
    for (int c = 0; c < (argc > 1 ? 1 : CALLS); c++)
        make_late(c, argc > 1 ? atof(argv[1]) : LATE);
    for (int i = 0; i < rounds * CALLS; i++)
        calls[i % CALLS].call(i);
    nc_inside_begins(inside);
    MPI_Win_free(&win);
    nc_inside_ends(inside);
    slept = nc_sum(nc_pvar_read(&asleep));
    if (nc_rank == 0)
        printf("asleep %llu\n", slept);
    return nc_finish();
}
