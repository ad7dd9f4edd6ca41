/* The measurement. For each size, rounds; in each round one block of calls per algorithm, in turn. The first calls of
 * a block are dropped from the times and serve to verify the data. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pool {
    unsigned char *bytes;
    size_t size;
    uint64_t state;             /* of the generator that picks buffers, the same on all ranks */
};

static int rank, ranks;

/* The next buffer of m bytes; off-cache, one of many, picked at random: a regular walk would be foreseen by the
 * processor's prefetchers, in one algorithm and not in another. */
static unsigned char *next_buffer(struct pool *pool, size_t m, bool off_cache)
{
    size_t step = (m + 4095) / 4096 * 4096 + 4096, places = (pool->size - 4096) / step;

    if (!off_cache)
        return pool->bytes;
    pool->state = pool->state * 6364136223846793005u + 1442695040888963407u;
    return pool->bytes + (pool->state >> 33) % places * step + (pool->state >> 20) % 64 * 64;
}

static void fill(unsigned char *buffer, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++)
        buffer[i] = (unsigned char) (i * 31 + (i >> 8) + seed);
}

static bool filled(const unsigned char *buffer, size_t m, unsigned seed)
{
    for (size_t i = 0; i < m; i++) {
        if (buffer[i] != (unsigned char) (i * 31 + (i >> 8) + seed))
            return false;
    }
    return true;
}

/* One call, verified if a seed is given. Microseconds from the common start, or -1. */
static double call(struct pool *pool, size_t m, int root, const struct options *o, int seed)
{
    unsigned char *buffer = next_buffer(pool, m, o->off_cache);
    double start, end;

    if (seed >= 0)
        fill(buffer, m, rank == root ? (unsigned) seed : (unsigned) seed + 1);
    start = gate_pass();
    if (MPI_Bcast(buffer, (int) m, MPI_BYTE, root, MPI_COMM_WORLD) != MPI_SUCCESS)
        return -1;
    end = gate_now();
    if (seed >= 0 && !filled(buffer, m, (unsigned) seed))
        return -1;
    return 1e6 * (end - start);
}

/* Calls at the start of a block of n that are not timed: fewer where a call takes so long that blocks are short. */
static int dropped_of(int n)
{
    return n >= MIN_CALLS ? DROPPED : 1;
}

/* A block of n timed calls; times[i] becomes the slowest rank's. false if a call failed or brought wrong data. */
static bool block(struct pool *pool, size_t m, int n, const struct options *o, double *times)
{
    static int seed;
    int good = 1, all_good;

    for (int i = -dropped_of(n); i < n; i++) {
        int root = o->rotate_root ? (i + DROPPED) % ranks : 0;
        double t = call(pool, m, root, o, i < 0 ? ++seed % 200 : -1);
        good = good && t >= 0;
        if (i >= 0)
            times[i] = t;
    }
    MPI_Reduce(rank ? times : MPI_IN_PLACE, times, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all_good;
}

/* Calls of a block so that the whole run takes about the time it may: at least MIN_CALLS, unless these would take
 * several times their share. */
static int calls_of_block(const struct options *o, double call_us)
{
    double share = 1e6 * o->seconds / ((double) o->size_count * o->rounds * o->algorithm_count);
    double fit = share / (call_us + 3);
    int n = fit > 2000 ? 2000 : fit < MIN_CALLS / 4 ? (int) fit : fit < MIN_CALLS ? MIN_CALLS : (int) fit;

    if (n < 3)
        n = 3;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

static void progress(const struct options *o, int done, double started)
{
    double elapsed = gate_now() - started;
    int all = o->size_count * o->rounds;

    if (rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%3d %%  %.0f s left  ", 100 * done / all, done ? elapsed * (all - done) / done : o->seconds);
    if (rank == 0 && isatty(STDERR_FILENO) && done == all)
        fprintf(stderr, "\r                      \r");
}

static void summarise(struct result *r, double medians[][MAX_ROUNDS], int a, int rounds, double *all, int n)
{
    double ratios[MAX_ROUNDS], own[MAX_ROUNDS];

    for (int k = 0; k < rounds; k++) {
        own[k] = medians[a][k];
        ratios[k] = medians[a][k] / medians[0][k];
    }
    r->median = stats_quantile(own, rounds, 0.5);
    r->ratio = stats_quantile(ratios, rounds, 0.5);
    r->ratio_low = ratios[0];
    r->ratio_high = ratios[rounds - 1];
    r->calls = n;
    r->p90 = stats_quantile(all, n, 0.9);
    r->p99 = stats_quantile(all, n, 0.99);
    r->min = all[0];
}

static bool measure_size(const struct options *o, struct pool *pool, int s, struct table *table, int *done, double started)
{
    static double medians[MAX_ALGORITHMS][MAX_ROUNDS];
    double *all[MAX_ALGORITHMS];
    int n[MAX_ALGORITHMS];
    bool good = true;

    for (int a = 0; a < o->algorithm_count; a++)
        all[a] = NULL;
    for (int round = -1; round < o->rounds && good; round++) {
        for (int i = 0; i < o->algorithm_count && good; i++) {
            int a = (i + (round < 0 ? 0 : round)) % o->algorithm_count;
            double trial[TRIAL_CALLS], *times = round < 0 ? trial : all[a] + round * n[a];
            const char *error = switch_to(o->algorithms[a]);
            good = !error && block(pool, o->sizes[s], round < 0 ? TRIAL_CALLS : n[a], o, times);
            switch_to("auto");
            if (!good) {
                if (rank == 0)
                    fprintf(stderr, "numacoll-bench: %s: %s, %zu bytes: %s\n", o->collective, o->algorithms[a],
                            o->sizes[s], error ? error : "the algorithm did not serve, or the data was wrong");
            } else if (round < 0) {
                n[a] = calls_of_block(o, stats_quantile(trial, TRIAL_CALLS, 0.5));
                all[a] = malloc(sizeof(double) * (size_t) n[a] * (size_t) o->rounds);
            } else {
                double *copy = malloc(sizeof(double) * (size_t) n[a]);
                memcpy(copy, times, sizeof(double) * (size_t) n[a]);
                medians[a][round] = stats_quantile(copy, n[a], 0.5);
                free(copy);
            }
        }
        if (round >= 0)
            progress(o, ++*done, started);
    }
    for (int a = 0; a < o->algorithm_count; a++) {
        if (good)
            summarise(&table->cell[s][a], medians, a, o->rounds, all[a], n[a] * o->rounds);
        free(all[a]);
    }
    return good;
}

bool measure(const struct options *o, struct table *table)
{
    struct pool pool = {.size = 0 };
    double started = gate_now();
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int done = 0;
    bool good = true;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int s = 0; s < o->size_count; s++) {
        if (pool.size < o->sizes[s] + 3 * 4096)
            pool.size = o->sizes[s] + 3 * 4096;
    }
    if (o->off_cache)
        pool.size += 2 * (size_t) (cache > 0 ? cache : 32 << 20);
    pool.bytes = malloc(pool.size);
    memset(pool.bytes, 1, pool.size);
    table->options = o;
    table->ranks = ranks;
    for (int s = 0; s < o->size_count && good; s++)
        good = measure_size(o, &pool, s, table, &done, started);
    free(pool.bytes);
    return good;
}
