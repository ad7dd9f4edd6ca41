/* numacoll-bench: times collectives under several algorithms in one run. main.c calls the other
 * files in this order: options.c parses the command line; switch.c selects an algorithm through
 * MPI_T; measure.c makes the calls (collectives.c) between barriers of its own (gate.c); stats.c
 * makes a result of the times; output.c, json.c and plot.c write the results, with a description of
 * the machine (machine.c). Without mpiexec, launches.c starts it several times and makes one result
 * of the launches' documents (document.c); compare.c compares with an earlier one.
 *
 * Without NUMACOLL_SHARE, the folder of what numacoll's build says of itself, it is a plain one,
 * for any MPI: one algorithm, what the MPI chooses itself. */

#ifndef BENCH_H_INCLUDED
#define BENCH_H_INCLUDED

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "counts.h"
#include "orderstat.h"
#include "skew.h"

struct json_object;

#ifdef NUMACOLL_SHARE
enum { PLAIN = false };
#else
enum { PLAIN = true };
#define NUMACOLL_SHARE ""
#endif

enum {
    MAX_COLLECTIVES = 32,
    MAX_ALGORITHMS = 32,
    MAX_PARAMETERS = 8,
    MAX_SWEEPS = 4,
    MAX_SIZES = 64,
    MAX_RANK_COUNTS = 16,
    MAX_OTHERS = 8,
    WRONG_INPUT = 2, /* exit status: an option or a file, before anything is measured */
    MAX_UNITS = 100  /* rounds of a launch, and launches */
};

/* ---- collectives.c ---- */

/* What is measured: an algorithm, or only copies in its place (floor.c). */
enum kind {
    KIND_ALGORITHM,
    KIND_FLOOR,   /* those through shared memory that no algorithm avoids */
    KIND_MEMCPY,  /* one core's, of what a call gives a rank */
    KIND_STREAMED /* the same by streaming stores */
};
struct call;

/* Makes the copies that a call cannot avoid. */
typedef void floor_copies(const struct call *call);

/* One call of a collective. */
struct call {
    MPI_Comm comm;
    int rank, ranks, root;
    size_t m; /* bytes of a block */
    unsigned char *in, *out;
    unsigned char *copy; /* where KIND_MEMCPY and KIND_STREAMED copy to */
    unsigned seed;       /* of the data, in a call whose data is verified */
    enum kind kind;
    floor_copies *floor; /* of KIND_FLOOR */
    enum counts counts;  /* of an irregular collective */
};

/* The number of blocks of m bytes in a buffer. */
enum blocks { NO_BLOCK, ONE_BLOCK, BLOCK_PER_RANK };

struct collective {
    const char *name; /* lower case, otherwise as in MPIR_CVAR_<NAME>_INTRA_ALGORITHM */
    bool rooted;
    bool displaced;                        /* has displacements */
    bool irregular;                        /* has a count for each rank */
    enum blocks in, out;                   /* NO_BLOCK in both: the collective has no size */
    int (*make)(const struct call *call);  /* makes the call; returns MPI's error */
    void (*fill)(const struct call *call); /* writes the inputs, and wrong results into the outputs;
                                              NULL: nothing */
    bool (*verify)(const struct call *call); /* whether the results are right; NULL: no results */
};

/* ---- floor.c ---- */

/* The copies of the collective of this name; NULL: it has none. */
floor_copies *floor_of(const char *collective);

/* The root copies as many bytes as the call gives a rank, as the call's kind says; the others do
 * nothing. */
void floor_copy(const struct collective *collective, const struct call *call);

/* ---- collectives.c ---- */

/* The collective of this name, or NULL. */
const struct collective *collective_find(const char *name);

/* Writes the names of all collectives to text[n], ", " between. */
void collective_names(char *text, size_t n);

/* Calls what(name) for each collective. */
void collective_each(void (*what)(const char *name));

bool collective_has_size(const struct collective *collective);

/* Bytes that a call gives a rank, which begin at *result; and whether it gives them to this one:
 * not to the root of a bcast, to no other rank in a gather or reduce, not to rank 0 in an exscan.
 */
size_t collective_result(const struct collective *collective, const struct call *call,
                         const unsigned char **result);
bool collective_receives(const struct collective *collective, const struct call *call);

/* The counts with which a collective is measured. */
enum counts collective_counts(const struct collective *collective, enum counts counts);

/* ---- options.c ---- */

/* VAR=VALUE; VAR without MPIR_CVAR_NUMACOLL_, lower case. */
struct parameter {
    const char *option; /* the option it was given by, for messages */
    const char *name, *value;
};

/* numacoll:bcast_tree=kary:bcast_tree_k=3, numacoll:reduce_group=numa:flat,node:chain */
struct algorithm {
    const char *label; /* the whole text */
    const char *name;  /* as in MPIR_CVAR_<COLL>_INTRA_ALGORITHM */
    struct parameter parameters[MAX_PARAMETERS];
    int parameter_count;
    enum kind kind;
};

/* A word of the command line that says what is measured, and for whom it is (launches.c). */
struct word {
    char *text;
    enum {
        WORD_FOR_ALL,
        WORD_FOR_OWN,   /* not for a numacoll-bench of another MPI */
        WORD_OF_COPIES, /* adds copies: for one launch of a round */
        WORD_OF_CHOICE  /* chooses algorithms, which may need launches of their own */
    } kind;
};

struct sweep {
    const char *variable, *values[MAX_ALGORITHMS]; /* as they were given, maybe in braces */
    int value_count;
};

/* What is written to stdout. */
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_OSU, FORMAT_IMB, FORMATS };

struct options {
    const struct collective *collectives[MAX_COLLECTIVES];
    int collective_count;
    struct algorithm algorithms[MAX_ALGORITHMS];
    int algorithm_count;
    int baseline;                    /* the algorithm that ratios are to */
    const char *baseline_name;       /* as it was given, or NULL: the first */
    struct sweep sweeps[MAX_SWEEPS]; /* already applied to the algorithms */
    int sweep_count;
    size_t sizes[MAX_SIZES]; /* bytes */
    int size_count;
    int rank_counts[MAX_RANK_COUNTS]; /* if there is none, all ranks */
    int rank_count_count;
    int rounds;
    double seconds; /* approximate time of the whole run */
    bool off_cache;
    bool floor; /* the last of the algorithms are these copies */
    bool memcpy, streamed;
    bool use;       /* each rank reads what it has received, in its time */
    bool alloc_mem; /* buffers of MPI_Alloc_mem instead of malloc */
    bool rotate_root;
    bool selection_files; /* `auto` is what those of the environment choose */
    double error;         /* a fraction: rounds until all medians are known so well; 0: --rounds */
    bool touch;           /* inputs are written before each call */
    struct skew skew;
    enum counts counts;                  /* of irregular collectives */
    const char *csv, *json, *plot, *raw; /* files, or NULL */
    enum format format;
    int launches;                   /* 0: this process is one */
    const char *launcher;           /* the command that starts the ranks of a launch */
    double timeout;                 /* seconds that a launch may take; INFINITY: no limit */
    const char *others[MAX_OTHERS]; /* commands that start another numacoll-bench */
    int other_count;
    const char *results; /* a file of JSON: nothing is measured */
    const char *compare; /* a file of JSON to compare with, or NULL */
    double tolerance;    /* a fraction: smaller changes are none */
    struct word *words;  /* what a launch is told */
    int word_count;
    char **command; /* the words of the command line, then NULL */
};

/* Parses what can be parsed without MPI. A wrong option or --help ends the process on every rank;
 * only rank 0 writes a message. */
void options_parse(struct options *options, int argc, char **argv, int rank);

bool algorithm_is_numacoll(const struct algorithm *algorithm);

/* How many of the algorithms are. */
int algorithms_of_numacoll(const struct options *options);

/* The number of sizes that are measured: 1 for a collective without a size. */
int options_sizes_of(const struct options *options, const struct collective *collective);

/* Characters of the longest name of an algorithm. */
int options_longest_label(const struct options *options);

/* Rounds of a size, if the time is used up; and of the whole run. */
int options_rounds(const struct options *options);
int options_rounds_in_all(const struct options *options);

/* ---- machine.c ---- */

struct machine {
    char cpu[128], kernel[256], mpi[128];
    char tuned[256]; /* the name of the folder with its tuned files; "": MPI has none */
    int processors, packages, numa_nodes;
    uint64_t l1d, l2, l3, memory; /* bytes; 0: none or unknown */
};

/* The machine; it is read at the first call. Call it after MPI_Init. */
const struct machine *machine_get(void);

/* Bytes of memory that can be had now on this node, or as a cgroup allows; 0: unknown. */
uint64_t machine_available(void);

/* The machine of results that come from elsewhere, instead. */
void machine_is(const struct machine *machine);

/* Writes the machine to text[n], in one line. */
void machine_text(char *text, size_t n);

/* ---- stats.c ---- */

enum single_copy {
    COPIED_SHARED = 1,
    COPIED_CMA = 2,
    COPIED_XPMEM = 4,
    ALL_WAYS_TO_COPY = 7,
    WAYS_TO_COPY = 3
};

/* The result of one size and algorithm: microseconds per call, of the slowest rank of each call. */
struct result {
    double *medians; /* of the units: the rounds of a launch, or the launches */
    int median_count;
    struct interval time;  /* of these medians */
    struct interval ratio; /* of their ratios to those of the baseline, unit by unit */
    double min, p90, p99;  /* over all calls that count */
    struct {
        double min, avg, max;
    } mean;    /* of all calls on a rank: of the fastest, of all on average, of the slowest rank */
    double cv; /* standard deviation over mean, of all calls */
    int launches, rounds;
    int calls;       /* that count */
    int late;        /* calls that a rank began late */
    unsigned copies; /* bits of enum single_copy: how blocks were copied that went past the queue */
};

/* The times of one size and algorithm: rounds of n calls. */
struct series {
    double *times;       /* [rounds * n] microseconds */
    unsigned char *late; /* [rounds * n] whether a rank began the call late */
    double sum;          /* of the times of this rank */
    int rounds, n;
    double medians[MAX_UNITS];
    unsigned copies; /* as in struct result, on this rank */
};

/* Makes the intervals of a result of the medians[n] of its units and of the baseline's. Keeps a
 * copy of the medians. */
void stats_of_medians(struct result *result, const double *medians, const double *baseline, int n);

/* Makes the result of a series. Sorts the times of the series. */
void stats_summarise(struct result *result, struct series *series, const struct series *baseline);

/* ---- gate.c ---- */

/* The barrier before each call, the same for all algorithms. After it all ranks of one node start
 * at the same moment (gate_common_start), those of several nodes each when it leaves the barrier;
 * gate_pass returns this moment, in seconds of gate_now(). Every rank of the communicator calls
 * gate_init, gate_calibrate, gate_pass and gate_finish. gate_init returns false, after a message,
 * if there is no memory for it. */
bool gate_init(MPI_Comm comm);
double gate_pass(void);
double gate_now(void);
bool gate_common_start(void);

/* Measures how long ahead ranks have to know a start. */
void gate_calibrate(void);

/* So long ahead a start is named, in seconds. 0: ranks do not start at one moment, because they are
 * on several nodes or have not a processor each. */
double gate_window(void);

/* Whether this rank saw the last start too late to begin its call at this moment. */
bool gate_late(double arrival);
void gate_finish(void);

/* ---- switch.c ---- */

/* Selects the algorithm that serves, through MPI_T; in a plain numacoll-bench nothing is selected.
 * The functions that return a text return what is wrong, or NULL. */

/* Before MPI_Init: no variable of the environment gives numacoll a call, and no selection file, but
 * with --selection-files; and what algorithms ask of variables that are read once, by MPI_Init,
 * is set: all must ask the same. */
const char *switch_environment(const struct options *options);

/* Reads which variables these are. */
void switch_load(void);

/* Whether two algorithms ask the same of variables that are read once, so that one launch can have
 * both. The copies that no algorithm avoids fit any launch. */
bool switch_share_launch(const struct algorithm *a, const struct algorithm *b);

/* After MPI_Init: makes room for the queues of all algorithms; with --selection-files there must be
 * such a file. */
const char *switch_init(void);
void switch_finish(void);

/* Checks that the collective has the algorithm, and that the variables of its parameters exist. */
const char *switch_check(const struct collective *collective, const struct algorithm *algorithm);

/* Opens the variables of a collective, for the functions below. */
const char *switch_open(const struct collective *collective);
void switch_close(void);

/* Between switch_on and switch_off the algorithm serves, with those of its parameters that are
 * variables of the process. */
const char *switch_on(const struct algorithm *algorithm);
void switch_off(void);

/* The number of this program's calls that numacoll has served in this process as the algorithm
 * says; for other algorithms, at all. Valid between switch_on and switch_off. */
unsigned long long switch_served(void);

/* Bits of enum single_copy: how this process has copied messages that went past the queue, since
 * switch_on. */
unsigned switch_copies(void);

/* The number of segments of this process that have fewer slots than asked for, to fit the node's
 * budget. */
unsigned long long switch_shortened(void);

/* The communicator for the calls of an algorithm: comm, or a duplicate with the algorithm's
 * parameters as info keys. *problem: what is wrong, empty if MPI has already written a message, or
 * NULL. */
MPI_Comm switch_comm(const struct algorithm *algorithm, MPI_Comm comm, const char **problem);

/* ---- geometry.c ---- */

/* Before MPI_Init: has numacoll tell by which levels it groups ranks, if an algorithm names levels;
 * measure.h has what is checked. */
void geometry_listen(const struct options *options);

/* ---- measure.c ---- */

/* The results of a collective on a number of ranks. */
struct measurement {
    const struct collective *collective;
    int ranks;
    bool common_start;   /* of all ranks of a call */
    double start_window; /* microseconds, see gate_window() */
    struct result cell[MAX_SIZES][MAX_ALGORITHMS];
};

/* Frees measurements all[n], and the medians of their results. */
void measurements_free(struct measurement *all, int n);

/* Measures on comm, for which gate_init() was called. Every rank of comm calls it. Returns false,
 * after a message, if an algorithm did not serve or data was wrong. */
bool measure(const struct options *options, MPI_Comm comm, struct measurement *measurement);

/* ---- progress.c ---- */

/* Draws a progress bar on the terminal to which mpiexec writes its errors, if there is one. Rank 0
 * calls these functions. */

void progress_begin(int steps, double seconds);
void progress_step(void);

/* Erases the bar, before other output. */
void progress_clear(void);

/* ---- output.c, json.c, plot.c ---- */

/* The numbers of a result that files have, by the names they have there. */
struct column {
    const char *name;
    size_t offset; /* of a double in struct result */
};
enum { COLUMN_COUNT = 13 };
extern const struct column result_columns[COLUMN_COUNT];
double column_value(const struct result *result, int column);

/* The names of bits of enum single_copy: "shared+cma"; "" of none. */
const char *copies_text(unsigned copies);

/* Bytes of size number s; 0 for a collective without a size. */
size_t measurement_bytes(const struct options *options, const struct measurement *measurement,
                         int s);

/* Write texts such as "64 KiB" and "bcast, 2 ranks, off-cache" to text[n]. */
void size_text(size_t m, char *text, size_t n);
void measurement_text(const struct options *options, const struct measurement *measurement,
                      char *text, size_t n);

/* Write a measurement to stdout: in the format of the options, but JSON, which is written once for
 * all; with the columns of another benchmark. */
void output(const struct options *options, const struct measurement *measurement);
void output_shaped(const struct options *options, const struct measurement *measurement);
bool output_csv(const struct options *options, const struct measurement *all, int n);

/* Writes a text; one with a comma, a quote or a line's end in double quotes, its own doubled. */
void csv_text(FILE *f, const char *text);

/* Closes a file that was written. False, after a message: not all could be written. */
bool csv_close(FILE *f, const char *file);

/* Writes JSON to the file of --json, and to stdout if that is the format. */
bool output_json(const struct options *options, const struct measurement *all, int n);

/* The variables that were set where the results come from, if not in this process; a reference,
 * which must stay. */
void json_environment_is(struct json_object *environment);

/* The value that the site's file gives to a control variable, after MPI_Init; NULL: none. */
const char *json_site_value(const char *variable);

bool plot(const struct options *options, const struct measurement *measurement);

/* The file name of a picture: that of --plot; if there are several pictures, with -COLLECTIVE-RANKS
 * before its suffix. The caller frees it. */
char *plot_file(const struct options *options, const struct collective *collective, int ranks);

/* ---- raw.c ---- */

/* Write the file of --raw, if there is one: a line for each call of a series whose times are in the
 * order of the calls. Only raw_close touches the file, and only if it is wanted. */
bool raw_open(const struct options *options);
void raw_write(const char *collective, int ranks, size_t bytes, const char *algorithm,
               const struct series *series);
bool raw_close(const struct options *options, bool wanted);

/* ---- files.c ---- */

/* Whether the files can be written, and gnuplot runs; what is wrong, or NULL. The process that
 * writes results calls these functions. */
const char *files_check(const struct options *options);
bool files_write(const struct options *options, const struct measurement *all, int n);

/* ---- document.c ---- */

/* What a file of --json says. */
struct document {
    struct options options; /* what was measured, and how; all else is 0 */
    struct measurement *all;
    int count;
    struct machine machine;
    struct json_object *environment;
};

/* Reads a document of output_json(). Returns what is wrong with it, or NULL. In either case the
 * caller frees it. */
const char *document_read(struct json_object *json, struct document *document);
const char *document_read_file(const char *option, const char *file, struct document *document);
void document_free(struct document *document);

/* ---- launches.c, results.c ---- */

/* What is done without MPI_Init: launches, and --results. They return the exit status. */
int launches_run(const struct options *options);
int results_run(const struct options *options);

/* The options that say what was measured, and those that say what is to be done with it. */
struct options results_options(const struct options *measured, const struct options *asked);

/* Writes tables of measurements all[n] to stdout, and files; compares. Returns the exit status. */
int results_write(const struct options *options, const struct measurement *all, int n);

/* The end of it: writes files and the comparison. Whether all was written and nothing is slower. */
bool results_finish(const struct options *options, const struct measurement *all, int n);

/* ---- compare.c ---- */

/* Reads the file of --compare, if there is one. What is wrong, or NULL. */
const char *compare_open(const struct options *options);

/* Writes what is slower or faster than in this file. Returns whether nothing is slower. */
bool compare(const struct options *options, const struct measurement *all, int n);

/* ---- problem.c ---- */

/* Whether no rank of comm has a problem. Every rank of comm calls it, with a problem or NULL. The
 * lowest rank with a problem writes it, unless it is an empty text. */
bool all_well(MPI_Comm comm, const char *problem);

#endif
