/* What `maint/measure waits` times: plain MPI, compiled with each library that is measured.
 *
 *   waits calls SECONDS                    back-to-back barriers, bcasts and allreduces of 8 bytes
 *   waits allreduce CALLS                  so many allreduces of 8 bytes
 *   waits roundtrip recv|barrier SECONDS   8 bytes between ranks 0 and 1, while the others wait
 * there waits late SECONDS                     rank 0 comes so late to a barrier, a bcast and a
 * recv waits empty                            MPI_Init and MPI_Finalize
 *
 * Rank 0 writes CSV to stdout. A wrong result ends the job with an error. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FIRST_CALLS = 16, MOST_CALLS = 200000 };

static int rank, ranks;      /* in MPI_COMM_WORLD */
static MPI_Comm timed_ranks; /* the ranks that make the timed calls */

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "waits: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void) /* us */
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

/* CPU time of this process, us. */
static double cpu_time(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return 1e6 * (u.ru_utime.tv_sec + u.ru_stime.tv_sec) + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* ---- calls ---- */

typedef void call_fn(int call);

static void call_barrier(int call)
{
    (void) call;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call_bcast(int call)
{
    double data = rank == 0 ? call : -1;

    MPI_Bcast(&data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check(data == call, "wrong data from MPI_Bcast");
}

static void call_allreduce(int call)
{
    double mine = call + rank, sum = -1;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(sum == (double) ranks * call + ranks * (ranks - 1) / 2, "wrong sum from MPI_Allreduce");
}

static void call_roundtrip(int call)
{
    double data = rank == 0 ? call : -1;

    if (rank == 0)
        MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(data == call, "wrong data from MPI_Recv");
    if (rank == 1)
        MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

/* ---- times of many calls ---- */

struct times {
    float *us;      /* of each call of this rank */
    double elapsed; /* of all calls and the barrier that ends them, us, as rank 0 saw it */
    double cpu;     /* of this rank, us */
};

static void make_calls(call_fn *call, int calls, struct times *t)
{
    double cpu = cpu_time(), begin, last;

    MPI_Barrier(timed_ranks);
    begin = last = now();
    for (int i = 0; i < calls; i++) {
        double end;

        call(i);
        end = now();
        t->us[i] = (float) (end - last);
        last = end;
    }
    MPI_Barrier(timed_ranks);
    t->elapsed = now() - begin;
    t->cpu = cpu_time() - cpu;
    MPI_Bcast(&t->elapsed, 1, MPI_DOUBLE, 0, timed_ranks);
}

/* How many calls take so long. */
static int calls_in(call_fn *call, double us, struct times *t)
{
    int calls = FIRST_CALLS / 4;
    double wanted;

    do {
        calls *= 4;
        make_calls(call, calls, t);
    } while (t->elapsed < us / 8 && calls <= MOST_CALLS / 4);
    wanted = calls * us / t->elapsed;
    return wanted < FIRST_CALLS ? FIRST_CALLS : wanted > MOST_CALLS ? MOST_CALLS : (int) wanted;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *) a, y = *(const float *) b;

    return (x > y) - (x < y);
}

/* Median, 99th percentile and maximum are of the rank where they are highest. */
static void write_row(const char *operation, int calls, struct times *t)
{
    double mine[3], highest[3], cpu;

    qsort(t->us, calls, sizeof t->us[0], compare_floats);
    mine[0] = t->us[calls / 2];
    mine[1] = t->us[calls * 99L / 100];
    mine[2] = t->us[calls - 1];
    MPI_Reduce(mine, highest, 3, MPI_DOUBLE, MPI_MAX, 0, timed_ranks);
    MPI_Reduce(&t->cpu, &cpu, 1, MPI_DOUBLE, MPI_SUM, 0, timed_ranks);
    if (rank == 0)
        printf("%s,%d,%.3f,%.3f,%.3f,%.3f,%.0f,%.0f\n", operation, calls, t->elapsed / calls,
               highest[0], highest[1], highest[2], t->elapsed, cpu);
}

/* Of so many calls; 0: of as many as take so many seconds. */
static void time_calls(const char *operation, call_fn *call, int calls, double seconds)
{
    struct times t;

    t.us = malloc((calls > MOST_CALLS ? calls : MOST_CALLS) * sizeof t.us[0]);
    check(t.us != NULL, "out of memory");
    make_calls(call, FIRST_CALLS, &t);
    if (!calls)
        calls = calls_in(call, 1e6 * seconds, &t);
    make_calls(call, calls, &t);
    write_row(operation, calls, &t);
    free(t.us);
}

static void write_header(void)
{
    if (rank == 0)
        printf("operation,calls,mean_us,median_us,p99_us,max_us,elapsed_us,cpu_us\n");
}

/* ---- a late rank ---- */

static void wait_in_recv(int call)
{
    double data = rank == 0 ? call : -1;

    if (rank == 0) {
        for (int i = 1; i < ranks; i++)
            MPI_Send(&data, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(data == call, "wrong data from MPI_Recv");
    }
}

static void sleep_for(double seconds)
{
    struct timespec t = {(time_t) seconds, (long) (1e9 * (seconds - (time_t) seconds))};

    nanosleep(&t, NULL);
}

/* Writes the CPU time of each of the other ranks. */
static void time_late(const char *operation, call_fn *call, double seconds)
{
    double cpu, begin, *of_rank = malloc(ranks * sizeof of_rank[0]);

    check(of_rank != NULL, "out of memory");
    for (int i = 0; i < FIRST_CALLS; i++)
        call(i);
    MPI_Barrier(MPI_COMM_WORLD);
    cpu = cpu_time();
    begin = now();
    if (rank == 0)
        sleep_for(seconds);
    call(FIRST_CALLS);
    cpu = cpu_time() - cpu;
    check(now() - begin > 0.8e6 * seconds, "did not wait for the late rank");
    MPI_Gather(&cpu, 1, MPI_DOUBLE, of_rank, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < ranks; i++)
        printf("%s,%d,%.2f\n", operation, i, 1e-3 * of_rank[i]);
    free(of_rank);
}

/* ---- commands ---- */

static void time_all(double seconds)
{
    write_header();
    time_calls("barrier", call_barrier, 0, seconds);
    time_calls("bcast", call_bcast, 0, seconds);
    time_calls("allreduce", call_allreduce, 0, seconds);
}

static void time_roundtrip(call_fn *others, double seconds)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &timed_ranks);
    others(0); /* the first call, which may set something up, is not waited in */
    write_header();
    if (rank < 2)
        time_calls("roundtrip", call_roundtrip, 0, seconds);
    others(1);
    if (rank < 2)
        MPI_Comm_free(&timed_ranks);
}

static void time_late_rank(double seconds)
{
    if (rank == 0)
        printf("operation,rank,cpu_ms\n");
    time_late("barrier", call_barrier, seconds);
    time_late("bcast", call_bcast, seconds);
    time_late("recv", wait_in_recv, seconds);
}

static int run(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    double number = atof(argv[argc - 1]);

    if (argc == 2 && !strcmp(command, "empty"))
        return 0;
    if (argc == 3 && !strcmp(command, "calls") && number > 0) {
        time_all(number);
    } else if (argc == 3 && !strcmp(command, "allreduce") && number >= 1) {
        write_header();
        time_calls("allreduce", call_allreduce, (int) number, 0);
    } else if (argc == 3 && !strcmp(command, "late") && number > 0) {
        time_late_rank(number);
    } else if (argc == 4 && !strcmp(command, "roundtrip") && number > 0 && ranks > 1) {
        time_roundtrip(strcmp(argv[2], "recv") ? call_barrier : wait_in_recv, number);
    } else {
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int error;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    timed_ranks = MPI_COMM_WORLD;
    error = run(argc, argv);
    if (error && rank == 0)
        fprintf(stderr, "waits: unknown command; the head of waits.c names the commands\n");
    MPI_Finalize();
    return error;
}
