/* numacoll-bench: times collectives under several algorithms in one run. */

#ifndef BENCH_H_INCLUDED
#define BENCH_H_INCLUDED

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MAX_COLLECTIVES = 32,
    MAX_ALGORITHMS = 32,
    MAX_PARAMETERS = 8,
    MAX_SWEEPS = 4,
    MAX_SIZES = 64,
    MAX_RANK_COUNTS = 16,
    MAX_ROUNDS = 100
};

/* ---- collectives.c ---- */

/* One call of a collective. */
struct call {
    MPI_Comm comm;
    int rank, ranks, root;
    size_t m; /* bytes of a block */
    unsigned char *in, *out;
    unsigned seed; /* of the data, where they are verified */
};

/* How many blocks of m bytes a buffer has. */
enum blocks { NO_BLOCK, ONE_BLOCK, BLOCK_PER_RANK };

struct collective {
    const char *name; /* lower case, otherwise as in MPIR_CVAR_<NAME>_INTRA_ALGORITHM */
    bool rooted;
    enum blocks in, out;                  /* without any the collective has no size */
    int (*make)(const struct call *call); /* returns MPI's error */
    void (*fill)(const struct call
                     *call); /* the inputs, and what is no result into the outputs; NULL: nothing */
    bool (*verify)(const struct call *call); /* NULL: nothing */
};

/* The row of this name, or NULL. */
const struct collective *collective_find(const char *name);

/* Writes the names of all rows into text, ", " between. */
void collective_names(char *text, size_t n);

bool collective_has_size(const struct collective *collective);

/* ---- options.c ---- */

/* VAR=VALUE; VAR without MPIR_CVAR_NUMACOLL_, lower case. */
struct parameter {
    const char *option; /* that it was given by, for messages */
    const char *name, *value;
};

/* numacoll:bcast_tree=kary:bcast_tree_k=3, numacoll:reduce_group=numa:flat,node:chain */
struct algorithm {
    const char *label; /* as a whole */
    const char *name;  /* as in MPIR_CVAR_<COLL>_INTRA_ALGORITHM */
    struct parameter parameters[MAX_PARAMETERS];
    int parameter_count;
};

struct sweep {
    const char *variable, *values[MAX_ALGORITHMS];
    int value_count;
};

struct options {
    const struct collective *collectives[MAX_COLLECTIVES];
    int collective_count;
    struct algorithm algorithms[MAX_ALGORITHMS]; /* the first is the baseline */
    int algorithm_count;
    struct sweep sweeps[MAX_SWEEPS]; /* already applied to the algorithms */
    int sweep_count;
    size_t sizes[MAX_SIZES]; /* bytes */
    int size_count;
    int rank_counts[MAX_RANK_COUNTS]; /* none: all ranks */
    int rank_count_count;
    int rounds;
    double seconds; /* for the whole run, about */
    bool off_cache;
    bool rotate_root;
    const char *csv, *json, *plot; /* files, or NULL */
};

/* Parses what can be parsed without MPI; a wrong option or --help ends the process, with a word
 * from rank 0 only. */
void options_parse(struct options *options, int argc, char **argv, int rank);

bool algorithm_is_numacoll(const struct algorithm *algorithm);

/* Sizes that are measured: 1 for a collective without. */
int options_sizes_of(const struct options *options, const struct collective *collective);

/* Characters of the longest name of an algorithm. */
int options_longest_label(const struct options *options);

/* Rounds of the whole run. */
int options_rounds_in_all(const struct options *options);

/* ---- machine.c ---- */

struct machine {
    char cpu[128], kernel[256], mpi[128];
    int processors, packages, numa_nodes;
    uint64_t l1d, l2, l3, memory; /* bytes; 0: none or unknown */
};

/* Read once, at the first call; after MPI_Init. */
const struct machine *machine_get(void);

/* In one line. */
void machine_text(char *text, size_t n);

/* ---- stats.c ---- */

/* Of one size and algorithm; microseconds per call, the slowest rank's. */
struct result {
    double median;        /* of the rounds' medians */
    double min, p90, p99; /* over all calls */
    double cv;            /* standard deviation over mean, of all calls */
    double ratio, ratio_low,
        ratio_high; /* to the baseline: median, lowest, highest of the rounds */
    int rounds, calls;
};

/* What was measured of one algorithm and size: rounds of n calls. */
struct series {
    double *times; /* [rounds * n] */
    int rounds, n;
    double medians[MAX_ROUNDS];
};

/* Sorts the values. q in 0..1 */
double stats_quantile(double *values, int n, double q);

/* The median of a copy; NaN without memory for one. */
double stats_median(const double *values, int n);

/* Sorts the times of the series. */
void stats_summarise(struct result *result, struct series *series, const struct series *baseline);

/* ---- gate.c ---- */

/* One barrier of our own for all algorithms, after which every rank starts at the same moment.
 * gate_pass returns that moment in seconds of gate_now(). */
void gate_init(MPI_Comm comm);
double gate_pass(void);
double gate_now(void);
void gate_finish(void);

/* ---- switch.c: which algorithm serves, through MPI_T. Texts say what is wrong; NULL: nothing.
 * ---- */

const char *switch_init(void);
void switch_finish(void);

/* Whether the collective has the algorithm, and there are its parameters. */
const char *switch_check(const struct collective *collective, const struct algorithm *algorithm);

/* Opens the variables of a collective, for the calls below. */
const char *switch_open(const struct collective *collective);
void switch_close(void);

/* From on to off the algorithm serves, with the parameters that are variables of the process. */
const char *switch_on(const struct algorithm *algorithm);
void switch_off(void);

/* The user's calls that numacoll served in this process as the algorithm says; from on to off, for
 * a numacoll. */
unsigned long long switch_served(void);

/* The communicator of an algorithm: comm, or a duplicate with its parameters as info keys. *problem
 * becomes an error text, an empty one where MPI has already said what is wrong, or NULL. */
MPI_Comm switch_comm(const struct algorithm *algorithm, MPI_Comm comm, const char **problem);

/* ---- measure.c ---- */

/* A collective on a number of ranks. */
struct measurement {
    const struct collective *collective;
    int ranks;
    struct result cell[MAX_SIZES][MAX_ALGORITHMS];
};

/* Measures on comm, which gate_init() has seen; false, after a message, if an algorithm did not
 * serve or data was wrong. */
bool measure(const struct options *options, MPI_Comm comm, struct measurement *measurement);

/* ---- progress.c: a bar on the terminal of mpiexec, if it writes its errors to one. For rank 0.
 * ---- */

void progress_begin(int steps, double seconds);
void progress_step(void);

/* Makes room for other output. */
void progress_clear(void);

/* ---- output.c, plot.c ---- */

/* "64 KiB"; "bcast, 2 ranks, off-cache" */
void size_text(size_t m, char *text, size_t n);
void measurement_text(const struct options *options, const struct measurement *measurement,
                      char *text, size_t n);

void output_table(const struct options *options, const struct measurement *measurement);
bool output_csv(const struct options *options, const struct measurement *all, int n);
bool output_json(const struct options *options, const struct measurement *all, int n);
bool plot(const struct options *options, const struct measurement *measurement);

/* The file of a picture: F itself, or with -COLL-N before its suffix where there are several. To be
 * freed. */
char *plot_file(const struct options *options, const struct collective *collective, int ranks);

/* Whether the name of a picture has a suffix there is a picture for. */
bool plot_suffix_known(const char *file);

/* ---- main.c ---- */

/* Whether no rank of comm has a problem. The lowest that has one says it, unless it is empty. */
bool all_well(MPI_Comm comm, const char *problem);

#endif
