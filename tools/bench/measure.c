/* The measurement of a collective. Each size has several rounds; in each round every algorithm in
 * turn has one block of calls. The first calls of a block are not timed, but their data is
 * verified. main.c calls measure(). */

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DROPPED = 8,
    MIN_CALLS = 32,
    MAX_CALLS = 2000,
    TRIAL_CALLS = 3,
    WARM_UP = 20, /* calls on a new communicator: numacoll serves from the second on (CREATE_AFTER),
                     and where its segment begins small it has grown by then */
    WARM_UP_BYTES = 4 << 20 /* of these calls, at most: it grows where there are long messages */
};

#define SETTLE_SECONDS 0.05

/* Rounds of a size, at most. */
static int most_rounds(const struct options *o)
{
    return o->error > 0 ? MAX_UNITS : o->rounds;
}

/* Bytes of the times of a size, at most. */
static size_t bytes_of_times(const struct options *o)
{
    return (sizeof(double) + sizeof(unsigned char)) * MAX_CALLS * (size_t) most_rounds(o) *
           (size_t) o->algorithm_count;
}

/* ---- calls ---- */

static struct call new_call(const struct bench *b, int a, size_t m)
{
    enum kind kind = b->options->algorithms[a].kind;

    return (struct call){.comm = b->comms[a],
                         .rank = b->rank,
                         .ranks = b->ranks,
                         .m = m,
                         .counts = collective_counts(b->collective, b->options->counts),
                         .kind = kind,
                         .floor = kind == KIND_FLOOR ? floor_of(b->collective->name) : NULL};
}

/* Waits at the gate and then as long as this rank is to be late. *late: it was later. Returns when
 * the last rank is to arrive, in seconds of gate_now(). */
static double arrive(struct bench *b, bool *late)
{
    const struct skew *skew = &b->options->skew;
    double start = gate_pass(),
           arrival = start + 1e-6 * skew_delay(skew, b->call, b->rank, b->ranks),
           last = start + 1e-6 * skew_last(skew, b->call, b->ranks);

    while (skew->kind != SKEW_NONE && gate_now() < arrival)
        ;
    *late = gate_late(arrival);
    b->call++;
    return last;
}

/* Makes a call, or the copies in its place. Returns MPI's error. */
static int make(const struct bench *b, const struct call *c)
{
    switch (c->kind) {
        case KIND_FLOOR:
            c->floor(c);
            return MPI_SUCCESS;
        case KIND_MEMCPY:
        case KIND_STREAMED:
            floor_copy(b->collective, c);
            return MPI_SUCCESS;
        default:
            return b->collective->make(c);
    }
}

/* The bytes that this rank has received, which begin at *result. Of one core's copy only the rank
 * that copies has some. */
static size_t received(const struct bench *b, const struct call *c, const unsigned char **result)
{
    size_t n = collective_result(b->collective, c, result);

    if (c->kind == KIND_MEMCPY || c->kind == KIND_STREAMED) {
        *result = c->copy;
        return c->rank == c->root ? n : 0;
    }
    return collective_receives(b->collective, c) ? n : 0;
}

/* Reads what this rank has received, every byte, as a program that needs it. In several sums, so
 * that it is done as fast as memory gives it. */
static uint64_t read_result(const struct bench *b, const struct call *c)
{
    const unsigned char *result;
    size_t n = received(b, c, &result), at = 0;
    uint64_t sum[4] = {0}, word[4];

    for (; at + sizeof word <= n; at += sizeof word) {
        memcpy(word, result + at, sizeof word);
        for (int i = 0; i < 4; i++)
            sum[i] += word[i];
    }
    for (; at < n; at++)
        sum[0] += result[at];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Makes one call. *us: microseconds from the common start, or from when the last rank was to
 * arrive. *late: this rank began late. Returns what is wrong, or NULL. */
static const char *timed_call(struct bench *b, struct call *c, bool verified, double *us,
                              bool *late)
{
    double start;
    int error;

    verified = verified && c->kind == KIND_ALGORITHM;
    buffers_place(b, c);
    if (verified && b->collective->fill)
        b->collective->fill(c);
    else if (b->options->touch)
        buffers_touch(b, c);
    start = arrive(b, late);
    error = make(b, c);
    if (b->options->use)
        b->read += read_result(b, c);
    *us = 1e6 * (gate_now() - start);
    if (error != MPI_SUCCESS)
        return "the algorithm did not serve";
    return verified && b->collective->verify && !b->collective->verify(c) ? "wrong data" : NULL;
}

/* The number of calls at the start of a block of n that are not timed: fewer if calls take so long
 * that blocks are short. */
static int dropped_of(int n)
{
    return n >= MIN_CALLS ? DROPPED : 1;
}

/* The root of call i of a block, of which those that are not timed have numbers below 0. Each block
 * of timed calls goes on where the one before it ended: so every rank is root of equally many. */
static int root_of(const struct bench *b, int a, int i)
{
    bool rotates = b->options->rotate_root && b->collective->rooted;

    return rotates ? ((b->next_root[a] + i) % b->ranks + b->ranks) % b->ranks : 0;
}

/* Makes the calls of a block: the dropped ones and n timed ones. Returns the first thing that is
 * wrong, or NULL. */
static const char *calls_in_a_row(struct bench *b, size_t m, int a, int n, double *times,
                                  unsigned char *late)
{
    struct call c = new_call(b, a, m);
    const char *problem = NULL;
    int dropped = dropped_of(n);

    for (int i = -dropped; i < n; i++) {
        double us;
        bool is_late;
        const char *wrong;
        c.root = root_of(b, a, i);
        c.seed = b->seed += i < 0;
        wrong = timed_call(b, &c, i < 0, &us, &is_late);
        if (i >= 0) {
            times[i] = us;
            late[i] = is_late;
        }
        problem = problem ? problem : wrong;
    }
    b->next_root[a] = (b->next_root[a] + n) % b->ranks;
    return problem;
}

/* Whether a block of n calls was good on all ranks; the lowest rank on which it was not writes what
 * is wrong. */
static bool judge(struct bench *b, size_t m, int a, int n, const char *problem,
                  unsigned long long served)
{
    const struct algorithm *algorithm = &b->options->algorithms[a];
    bool any = b->options->selection_files && !strcmp(algorithm->name, "auto");
    unsigned long long made = (unsigned long long) n + (unsigned long long) dropped_of(n),
                       wanted = algorithm_is_numacoll(algorithm) ? made : 0;
    char count[128], text[512];

    snprintf(count, sizeof count, "numacoll served %llu of %llu calls%s", served, made,
             wanted ? " as asked" : ": must be none");
    if (!problem && served != wanted && !any)
        problem = count;
    snprintf(text, sizeof text, "%s, %d ranks, %s, %zu bytes: %s", b->collective->name, b->ranks,
             algorithm->label, m, problem ? problem : "");
    return all_well(b->comm, problem ? text : NULL);
}

/* Makes a block of n timed calls. On rank 0, times[i] becomes the time of the slowest rank, and
 * late[i] whether any rank began late. *sum: the times of this rank are added; *copies: what
 * switch_copies says. */
static bool block(struct bench *b, size_t m, int a, int n, double *times, unsigned char *late,
                  double *sum, unsigned *copies)
{
    const char *problem = switch_on(&b->options->algorithms[a]);
    unsigned long long before = switch_served(), served;

    if (!problem) {
        problem = calls_in_a_row(b, m, a, n, times, late);
        for (int i = 0; i < n; i++)
            *sum += times[i];
    }
    served = switch_served() - before;
    *copies |= switch_copies();
    switch_off();
    MPI_Reduce(b->rank ? times : MPI_IN_PLACE, times, n, MPI_DOUBLE, MPI_MAX, 0, b->comm);
    MPI_Reduce(b->rank ? late : MPI_IN_PLACE, late, n, MPI_UNSIGNED_CHAR, MPI_MAX, 0, b->comm);
    return judge(b, m, a, n, problem, served);
}

/* ---- a size ---- */

/* The number of calls of a block with which the whole run takes about as long as it may: at least
 * MIN_CALLS, unless these would take several times the block's share of the time. */
static int calls_of_block(const struct bench *b, double call_us)
{
    const struct options *o = b->options;
    double fit = 1e6 * o->seconds / ((double) options_rounds_in_all(o) * o->algorithm_count) /
                 (call_us + o->skew.us + 3);
    int n = fit > MAX_CALLS        ? MAX_CALLS
            : fit < MIN_CALLS / 4. ? (int) fit
            : fit < MIN_CALLS      ? MIN_CALLS
                                   : (int) fit;

    if (n < TRIAL_CALLS)
        n = TRIAL_CALLS;
    MPI_Bcast(&n, 1, MPI_INT, 0, b->comm);
    return n;
}

/* Finds by a trial how many calls a block of the algorithm has; gets memory for all times. */
static bool plan(struct bench *b, size_t m, int a, struct series *s)
{
    double trial[TRIAL_CALLS];
    unsigned char late[TRIAL_CALLS];
    double sum = 0;
    size_t times;

    if (!block(b, m, a, TRIAL_CALLS, trial, late, &sum, &s->copies))
        return false;
    s->n = calls_of_block(b, order_quantile(trial, TRIAL_CALLS, 0.5));
    times = (size_t) s->n * (size_t) most_rounds(b->options);
    s->times = malloc(sizeof *s->times * times);
    s->late = malloc(sizeof *s->late * times);
    return all_well(b->comm, s->times && s->late ? NULL : "no memory for the times");
}

/* The next round: a block of each algorithm. */
static bool one_round(struct bench *b, size_t m, struct series *series)
{
    int n = b->options->algorithm_count;

    for (int i = 0; i < n; i++) {
        /* the algorithm that is first in one round is last in the next */
        struct series *s = &series[(i + series->rounds) % n];
        double *times = s->times + s->rounds * s->n, counted[MAX_CALLS];
        unsigned char *late = s->late + s->rounds * s->n;
        if (!block(b, m, (int) (s - series), s->n, times, late, &s->sum, &s->copies))
            return false;
        s->medians[s->rounds] = order_quantile(counted, order_counted(times, late, s->n, counted),
                                               0.5);
    }
    for (int a = 0; a < n; a++)
        series[a].rounds++;
    return true;
}

/* Whether the medians of all algorithms are known as well as --error asks, which takes at least the
 * rounds that give an interval. */
static bool known_well(const struct options *o, const struct series *series)
{
    bool well = order_interval_rank(series->rounds) > 0;

    for (int a = 0; a < o->algorithm_count && well; a++) {
        double medians[MAX_UNITS];
        struct interval interval;
        memcpy(medians, series[a].medians, sizeof *medians * (size_t) series->rounds);
        interval = order_interval(medians, series->rounds);
        well = order_error(&interval) <= o->error;
    }
    return well;
}

/* Whether there are rounds enough; began: when the first one began. */
static bool enough(const struct bench *b, const struct series *series, double began)
{
    const struct options *o = b->options;
    double share = o->seconds * options_rounds(o) / options_rounds_in_all(o);
    int done = series->rounds, is_enough = done >= most_rounds(o);

    if (!is_enough && o->error > 0 && done >= o->rounds) {
        is_enough = known_well(o, series) || gate_now() - began > share;
        MPI_Bcast(&is_enough, 1, MPI_INT, 0, b->comm);
    }
    return is_enough;
}

static bool rounds(struct bench *b, size_t m, struct series *series)
{
    const int planned = options_rounds(b->options);
    double began = gate_now();

    do {
        if (!one_round(b, m, series))
            return false;
        if (b->rank == 0 && series->rounds <= planned)
            progress_step();
    } while (!enough(b, series, began));
    for (int k = series->rounds; k < planned && b->rank == 0; k++)
        progress_step();
    return true;
}

/* Makes the result of a series, on rank 0. */
static void summarise(const struct bench *b, struct result *r, struct series *s,
                      const struct series *baseline)
{
    double mean = s->sum / (s->rounds * s->n);

    stats_summarise(r, s, baseline);
    MPI_Reduce(&mean, &r->mean.min, 1, MPI_DOUBLE, MPI_MIN, 0, b->comm);
    MPI_Reduce(&mean, &r->mean.max, 1, MPI_DOUBLE, MPI_MAX, 0, b->comm);
    MPI_Reduce(&mean, &r->mean.avg, 1, MPI_DOUBLE, MPI_SUM, 0, b->comm);
    r->mean.avg /= b->ranks;
}

static bool measure_size(struct bench *b, size_t m, struct result *results)
{
    struct series series[MAX_ALGORITHMS] = {{0}};
    const int n = b->options->algorithm_count;
    bool good = true;

    for (int a = 0; a < n && good; a++)
        good = plan(b, m, a, &series[a]);
    good = good && rounds(b, m, series);
    for (int a = 0; a < n; a++) {
        if (good && b->rank == 0)
            raw_write(b->collective->name, b->ranks, m, b->options->algorithms[a].label,
                      &series[a]);
        if (good)
            summarise(b, &results[a], &series[a], &series[b->options->baseline]);
        MPI_Reduce(&series[a].copies, &results[a].copies, 1, MPI_UNSIGNED, MPI_BOR, 0, b->comm);
        free(series[a].times);
        free(series[a].late);
    }
    return good;
}

/* ---- a collective on a communicator ---- */

/* Keeps the ranks running until the kernel has spread them over the processors. */
static void settle(const struct bench *b)
{
    double until = gate_now() + SETTLE_SECONDS;
    int more = 1;

    while (more) {
        for (int i = 0; i < 10; i++)
            gate_pass();
        more = gate_now() < until;
        MPI_Bcast(&more, 1, MPI_INT, 0, b->comm);
    }
}

size_t largest_size(const struct bench *b)
{
    size_t most = 0;

    for (int s = 0; collective_has_size(b->collective) && s < b->options->size_count; s++)
        most = b->options->sizes[s] > most ? b->options->sizes[s] : most;
    return most;
}

static void warm_up_calls(struct bench *b, int a)
{
    size_t most = largest_size(b);
    struct call c = new_call(b, a, most < WARM_UP_BYTES ? most : WARM_UP_BYTES);
    double us;
    bool late;

    if (!switch_on(&b->options->algorithms[a])) {
        for (int i = 0; i < WARM_UP; i++)
            timed_call(b, &c, false, &us, &late);
    }
    switch_off();
}

/* Until the queue is as the algorithm asks: its segment is replaced after ever more calls. */
static void warm_up(struct bench *b, int a)
{
    enum { TIMES = 4 };
    bool grown = false;

    for (int i = 0; i < TIMES && !grown; i++) {
        warm_up_calls(b, a);
        grown = all_well(b->comm, geometry_check_queue(b, a) ? "" : NULL);
    }
}

static bool make_comms(struct bench *b)
{
    bool good = true;

    for (int a = 0; a < b->options->algorithm_count; a++)
        b->comms[a] = b->comm;
    for (int a = 0; a < b->options->algorithm_count && good; a++) {
        unsigned long long shortened = switch_shortened();
        const char *problem;
        b->comms[a] = switch_comm(&b->options->algorithms[a], b->comm, &problem);
        good = all_well(b->comm, problem);
        if (good)
            warm_up(b, a);
        good = good && all_well(b->comm, geometry_check(b, a, shortened));
    }
    return good;
}

static void free_comms(struct bench *b)
{
    for (int a = 0; a < b->options->algorithm_count; a++) {
        if (b->comms[a] != b->comm)
            MPI_Comm_free(&b->comms[a]);
    }
}

bool measure(const struct options *o, MPI_Comm comm, struct measurement *measurement)
{
    struct bench b = {.options = o, .collective = measurement->collective, .comm = comm};
    bool good;

    MPI_Comm_rank(comm, &b.rank);
    MPI_Comm_size(comm, &b.ranks);
    measurement->ranks = b.ranks;
    measurement->common_start = gate_common_start();
    if (!all_well(comm, switch_open(b.collective)))
        return false;
    good = all_well(comm, o->skew.kind != SKEW_NONE && !gate_common_start()
                              ? "--skew: needs all ranks on one node, for a common start"
                              : NULL) &&
           buffers_make(&b, bytes_of_times(o));
    if (good) {
        good = make_comms(&b);
        settle(&b);
        gate_calibrate();
        measurement->start_window = 1e6 * gate_window();
        for (int s = 0; s < options_sizes_of(o, b.collective) && good; s++)
            good = measure_size(&b, collective_has_size(b.collective) ? o->sizes[s] : 0,
                                measurement->cell[s]);
        free_comms(&b);
    }
    buffers_free(&b);
    switch_close();
    return good;
}
