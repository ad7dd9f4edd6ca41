/* numacoll-bench: times collectives under several algorithms in one run. */

#ifndef BENCH_H_INCLUDED
#define BENCH_H_INCLUDED

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_ALGORITHMS = 8, MAX_SIZES = 64, MAX_ROUNDS = 100, DROPPED = 8, MIN_CALLS = 32, TRIAL_CALLS = 3 };

struct options {
    const char *collective;
    char *algorithms[MAX_ALGORITHMS];   /* names as in the INTRA_ALGORITHM variables; the first is the baseline */
    int algorithm_count;
    size_t sizes[MAX_SIZES];    /* bytes */
    int size_count;
    int rounds;
    double seconds;             /* for the whole run, about */
    bool off_cache;
    bool rotate_root;
    const char *csv, *json, *plot;
};

/* Of one size and algorithm; microseconds per call, the slowest rank's. */
struct result {
    double median;              /* of the rounds' medians */
    double min, p90, p99;       /* over all calls */
    double ratio, ratio_low, ratio_high;        /* to the baseline: median, lowest, highest of the rounds */
    int calls;
};

struct table {
    const struct options *options;
    int ranks;
    struct result cell[MAX_SIZES][MAX_ALGORITHMS];
};

/* stats.c: values are sorted in place; q in 0..1 */
double stats_quantile(double *values, int n, double q);

/* gate.c: one barrier of our own for all algorithms, after which every rank starts at the same moment.
 * Returns that moment in seconds of gate_now(). */
void gate_init(MPI_Comm comm);
double gate_pass(void);
double gate_now(void);
void gate_finish(void);

/* switch.c: the algorithm of a collective, through MPI_T. Both return an error text or NULL. */
const char *switch_init(const char *collective);
const char *switch_to(const char *algorithm);

/* measure.c: fills the table; false (with a message from rank 0) if an algorithm did not serve or data was wrong */
bool measure(const struct options *options, struct table *table);

/* output.c */
void output_table(const struct table *table);
bool output_csv(const struct table *table, const char *file);
bool output_json(const struct table *table, const char *file);
bool output_plot(const struct table *table, const char *file);

#endif
