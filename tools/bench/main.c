/* numacoll-bench's main program: checks what the options ask for, measures each collective on each
 * number of ranks, and writes the results. Every rank runs it; rank 0 writes. See bench.h. */

#include "bench.h"
#include "common/arguments.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* ---- checks before anything is measured; they return what is wrong, or NULL ---- */

static const char *check_ranks(struct options *o)
{
    static char problem[128];

    if (ranks < 2)
        return "needs at least 2 ranks: mpiexec -n 2 numacoll-bench ..";
    if (o->rank_count_count == 0)
        o->rank_counts[o->rank_count_count++] = ranks;
    for (int i = 0; i < o->rank_count_count; i++) {
        if (o->rank_counts[i] > ranks) {
            snprintf(problem, sizeof problem, "--ranks: %d: must be 2 to %d, the ranks there are",
                     o->rank_counts[i], ranks);
            return problem;
        }
    }
    return NULL;
}

static const char *check_algorithms(const struct options *o)
{
    const char *error = NULL;

    for (int c = 0; c < o->collective_count; c++) {
        for (int a = 0; a < o->algorithm_count && !error; a++)
            error = switch_check(o->collectives[c], &o->algorithms[a]);
    }
    return error;
}

/* Whether numacoll takes the values of parameters; what is wrong was written. */
static bool check_parameters(const struct options *o)
{
    bool good = true;

    for (int a = 0; a < o->algorithm_count && good; a++) {
        const char *problem;
        MPI_Comm comm = switch_comm(&o->algorithms[a], MPI_COMM_WORLD, &problem);
        good = all_well(MPI_COMM_WORLD, problem);
        if (comm != MPI_COMM_WORLD)
            MPI_Comm_free(&comm);
    }
    return good;
}

/* MPI's displacements and counts are ints. *most: what must not be more than an int. */
static const char *what_is_int(const struct options *o, const struct collective *collective,
                               size_t m, int n, size_t *most)
{
    if (collective_counts(collective, o->counts) != COUNTS_EVEN) {
        *most = m * (size_t) n;
        return "counts are ints: size times ranks";
    }
    *most = collective->displaced ? m * (size_t) (n - 1) : 0;
    return "displacements are ints: size times ranks - 1";
}

static const char *check_ints(const struct options *o)
{
    static char problem[256];

    for (int c = 0; c < o->collective_count; c++) {
        for (int s = 0; s < o->size_count; s++) {
            for (int i = 0; i < o->rank_count_count; i++) {
                size_t most;
                const char *what = what_is_int(o, o->collectives[c], o->sizes[s], o->rank_counts[i],
                                               &most);
                if (most <= INT_MAX)
                    continue;
                snprintf(problem, sizeof problem, "%s, %d ranks, %zu bytes: %s must be at most %d",
                         o->collectives[c]->name, o->rank_counts[i], o->sizes[s], what, INT_MAX);
                return problem;
            }
        }
    }
    return NULL;
}

static bool check(struct options *o)
{
    return all_well(MPI_COMM_WORLD, check_ranks(o)) && all_well(MPI_COMM_WORLD, switch_init()) &&
           all_well(MPI_COMM_WORLD, check_algorithms(o)) && check_parameters(o) &&
           all_well(MPI_COMM_WORLD, check_ints(o)) &&
           all_well(MPI_COMM_WORLD, rank == 0 ? files_check(o) : NULL) &&
           all_well(MPI_COMM_WORLD, rank == 0 ? compare_open(o) : NULL);
}

/* ---- measuring and writing ---- */

/* Returns rank 0's value of `good` on all ranks. Ranks that did not take part in a measurement wait
 * here. They sleep while they wait, so that the other ranks have the processors. */
static bool verdict(int good)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        usleep(1000);
    return good;
}

/* The one algorithm of a plain numacoll-bench is named by its MPI, which may say more of itself
 * after a comma: "Open MPI v4.1.4". */
static void name_by_mpi(struct algorithm *a)
{
    const char *mpi = machine_get()->mpi;

    a->label = strndup(mpi, strcspn(mpi, ","));
}

/* Measures all collectives on the first n ranks. */
static bool measure_on(const struct options *o, int n, struct measurement *measurements)
{
    MPI_Comm comm;
    bool good = true;

    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        good = gate_init(comm);
        for (int c = 0; c < o->collective_count && good; c++) {
            measurements[c].collective = o->collectives[c];
            good = measure(o, comm, &measurements[c]);
            if (good && rank == 0)
                output(o, &measurements[c]);
        }
        gate_finish();
        MPI_Comm_free(&comm);
    }
    return verdict(good);
}

/* Returns the exit status. */
static int run(struct options *o)
{
    struct measurement *all;
    bool good = true;

    if (!check(o))
        return WRONG_INPUT;
    if (PLAIN)
        name_by_mpi(&o->algorithms[0]);
    all = calloc((size_t) o->collective_count * (size_t) o->rank_count_count, sizeof *all);
    if (!all_well(MPI_COMM_WORLD, all ? NULL : "no memory for the results")) {
        free(all);
        return EXIT_FAILURE;
    }
    good = all_well(MPI_COMM_WORLD, rank > 0 || raw_open(o) ? NULL : "");
    if (rank == 0)
        progress_begin(options_rounds_in_all(o), o->seconds);
    for (int i = 0; i < o->rank_count_count && good; i++)
        good = measure_on(o, o->rank_counts[i], &all[i * o->collective_count]);
    good = raw_close(o, good) && good;
    if (good && rank == 0)
        good = results_finish(o, all, o->collective_count * o->rank_count_count);
    measurements_free(all, o->collective_count * o->rank_count_count);
    switch_finish();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What is done by one process. variable: in which a launcher, if one started it, tells its rank,
 * and that rank; else NULL. */
static int run_alone(const struct options *o, const char *variable, const char *launched)
{
    if (!launched)
        return o->launches ? launches_run(o) : results_run(o);
    if (atoi(launched) == 0)
        fprintf(stderr,
                "numacoll-bench: --%s: must be without mpiexec, by one process; %s is set, which "
                "env -u %s numacoll-bench .. leaves out\n",
                o->launches ? "launches" : "results", variable, variable);
    return WRONG_INPUT;
}

int main(int argc, char **argv)
{
    static struct options options;
    const char *variable = getenv("PMI_RANK")    ? "PMI_RANK"
                           : getenv("PMIX_RANK") ? "PMIX_RANK"
                                                 : NULL;
    const char *launched = variable ? getenv(variable) : NULL;
    const char *problem;
    int status;

    end_if_output_is_lost();
    options_parse(&options, argc, argv, launched ? atoi(launched) : 0);
    if (options.launches || options.results)
        return run_alone(&options, variable, launched);
    /* MPICH reads its variables in MPI_Init. Then the algorithm `auto` is MPICH's own choice, or
     * that of selection files */
    problem = switch_environment(&options);
    if (problem) {
        if (!launched || atoi(launched) == 0)
            fprintf(stderr, "numacoll-bench: %s\n", problem);
        return WRONG_INPUT;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    status = run(&options);
    MPI_Finalize();
    return status;
}
