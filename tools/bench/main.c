#include "bench.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *argp_program_version = "numacoll-bench 0.1";
static const char doc[] =
    "Time a collective under several algorithms in one run: mpiexec -n P numacoll-bench bcast\v"
    "Algorithms are interleaved in blocks of calls; the first calls of a block are dropped and serve to verify the data. "
    "Exit status 1: an algorithm did not serve, or wrong data.";

static const struct argp_option choices[] = {
    {"algorithms", 'a', "A,B", 0, "names as in the INTRA_ALGORITHM variable; ratios are to the first (auto,numacoll)", 0},
    {"sizes", 's', "LO:HI", 0, "bytes, doubling; suffixes K and M (1:4M)", 0},
    {"rounds", 'r', "N", 0, "rounds, 1 to 100 (5)", 0},
    {"seconds", 't', "S", 0, "how long the run may take, about (20)", 0},
    {"off-cache", 'o', 0, 0, "a fresh buffer for every call", 0},
    {"rotate-root", 'R', 0, 0, "every rank is root in turn", 0},
    {"csv", 'c', "FILE", 0, "also as CSV", 0},
    {"json", 'j', "FILE", 0, "also as JSON", 0},
    {"plot", 'p', "FILE", 0, "also as a picture, .png or .svg", 0},
    {0, 0, 0, 0, 0, 0}
};

static bool parse_bytes(const char *text, char **end, size_t *bytes)
{
    unsigned long long n = strtoull(text, end, 10);

    if (*end == text)
        return false;
    if (**end == 'K' || **end == 'k')
        n <<= 10, ++*end;
    else if (**end == 'M' || **end == 'm')
        n <<= 20, ++*end;
    *bytes = n;
    return n <= 1u << 30;
}

static bool parse_sizes(struct options *o, const char *text)
{
    size_t low, high;
    char *end;

    if (!parse_bytes(text, &end, &low))
        return false;
    high = low;
    if (*end == ':' && !parse_bytes(end + 1, &end, &high))
        return false;
    o->size_count = 0;
    for (size_t m = low; m <= high && o->size_count < MAX_SIZES; m = m ? 2 * m : 1)
        o->sizes[o->size_count++] = m;
    return *end == 0 && low <= high;
}

static bool parse_algorithms(struct options *o, char *text)
{
    o->algorithm_count = 0;
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        if (o->algorithm_count == MAX_ALGORITHMS)
            return false;
        o->algorithms[o->algorithm_count++] = name;
    }
    return o->algorithm_count > 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
        case 'a':
            if (!parse_algorithms(o, arg))
                argp_error(state, "--algorithms=%s: must be 1 to %d names", arg, MAX_ALGORITHMS);
            break;
        case 's':
            if (!parse_sizes(o, arg))
                argp_error(state, "--sizes=%s: must be LO:HI bytes up to 1024M", arg);
            break;
        case 'r':
            o->rounds = atoi(arg);
            if (o->rounds < 1 || o->rounds > MAX_ROUNDS)
                argp_error(state, "--rounds=%s: must be 1 to %d", arg, MAX_ROUNDS);
            break;
        case 't':
            o->seconds = atof(arg);
            if (!(o->seconds > 0))
                argp_error(state, "--seconds=%s: must be above 0", arg);
            break;
        case 'o':
            o->off_cache = true;
            break;
        case 'R':
            o->rotate_root = true;
            break;
        case 'c':
            o->csv = arg;
            break;
        case 'j':
            o->json = arg;
            break;
        case 'p':
            o->plot = arg;
            break;
        case ARGP_KEY_ARG:
            if (strcmp(arg, "bcast"))
                argp_error(state, "%s: must be bcast", arg);
            o->collective = arg;
            break;
        default:
            return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool write_results(const struct table *table)
{
    const struct options *o = table->options;
    bool good = true;

    output_table(table);
    if (o->csv)
        good = output_csv(table, o->csv) && good;
    if (o->json)
        good = output_json(table, o->json) && good;
    if (o->plot)
        good = output_plot(table, o->plot) && good;
    return good;
}

int main(int argc, char **argv)
{
    static const struct argp argp = { choices, parse, "COLLECTIVE", doc, 0, 0, 0 };
    static struct table table;
    static char algorithms[] = "auto,numacoll";
    struct options o = {.collective = "bcast",.rounds = 5,.seconds = 20 };
    int rank, ranks, good;
    const char *error;

    parse_algorithms(&o, algorithms);
    parse_sizes(&o, "1:4M");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* one line about a wrong option, not one per rank */
    argp_parse(&argp, argc, argv, rank == 0 ? 0 : ARGP_SILENT, 0, &o);
    error = ranks < 2 ? "needs at least 2 ranks" : switch_init(o.collective);
    if (error) {
        if (rank == 0)
            fprintf(stderr, "numacoll-bench: %s\n", error);
        MPI_Finalize();
        return 1;
    }
    gate_init(MPI_COMM_WORLD);
    good = measure(&o, &table);
    if (good && rank == 0)
        good = write_results(&table);
    gate_finish();
    MPI_Finalize();
    return good ? 0 : 1;
}
