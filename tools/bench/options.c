/* Parses the command line of numacoll-bench, before MPI_Init. What needs MPI (do the collectives
 * have these algorithms and variables?) is checked in main.c and switch.c. */

#include "bench.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/gnuplot.h"

#define LARGEST ((size_t) 1 << 30)

const char *argp_program_version = "numacoll-bench " NUMACOLL_VERSION;
static const char doc[] =
    "Time collectives under several algorithms in one run: mpiexec -n P numacoll-bench bcast\v"
    "Blocks of calls take turns; the first calls of a block are dropped and serve to verify the "
    "data. An algorithm may "
    "carry parameters: numacoll:bcast_tree=kary:bcast_tree_k=3. Exit status 1: a wrong option, an "
    "algorithm that did "
    "not serve, wrong data, or a file that could not be written.";

static const struct argp_option choices[] = {
    {"algorithms", 'a', "A,B", 0,
     "names as in the INTRA_ALGORITHM variable; ratios are to the first (auto,numacoll)", 0},
    {"sweep", 'w', "VAR=V1,V2", 0,
     "numacoll once with each value of this variable; several sweeps multiply", 0},
    {"sizes", 's', "LO:HI,..", 0,
     "bytes, doubling from LO to HI, or single sizes; suffixes K and M (1:4M)", 0},
    {"ranks", 'n', "N1,N2", 0, "the first N1 ranks, then the first N2 (all)", 0},
    {"rounds", 'r', "N", 0, "rounds, 1 to 100 (5)", 0},
    {"seconds", 't', "S", 0, "how long the run may take, about (20)", 0},
    {"off-cache", 'o', 0, 0, "a fresh buffer for every call", 0},
    {"buffers", 'b', "HOW", 0,
     "malloc, or alloc_mem: of MPI_Alloc_mem, as shared buffers where these are (malloc)", 0},
    {"floor", 'f', 0, 0,
     "last, the copies through shared memory that no algorithm avoids, as if nobody waited", 0},
    {"rotate-root", 'R', 0, 0, "every rank is root in turn", 0},
    {"csv", 'c', "FILE", 0, "also as CSV", 0},
    {"json", 'j', "FILE", 0, "also as JSON", 0},
    {"plot", 'p', "FILE", 0,
     "also as a picture, .png or .svg; several get -COLL-N before the suffix", 0},
    {0, 0, 0, 0, 0, 0}};

/* Writes one line, what is wrong and what is allowed, and ends the process. */
static _Noreturn void refuse(struct argp_state *state, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    argp_failure(state, EXIT_FAILURE, 0, "%s", text);
    exit(EXIT_FAILURE);
}

static char *lower(char *text)
{
    for (char *c = text; *c; c++)
        *c = (char) tolower((unsigned char) *c);
    return text;
}

/* ---- values ---- */

static bool parse_int(const char *text, long low, long high, int *value)
{
    char *end;
    long n = strtol(text, &end, 10);

    *value = (int) n;
    return end != text && *end == 0 && low <= n && n <= high;
}

/* Adds LO:HI or a single size, which has to be larger than the sizes before it. */
static bool add_sizes(struct options *o, const char *text, char **end)
{
    uint64_t low, high;

    if (!argument_bytes(text, end, LARGEST, &low))
        return false;
    high = low;
    if (**end == ':' && !argument_bytes(*end + 1, end, LARGEST, &high))
        return false;
    if (low > high || (o->size_count > 0 && low <= o->sizes[o->size_count - 1]))
        return false;
    for (size_t m = low; m <= high; m = m ? 2 * m : 1) {
        if (o->size_count == MAX_SIZES)
            return false;
        o->sizes[o->size_count++] = m;
    }
    return true;
}

static bool parse_sizes(struct options *o, const char *text)
{
    char *end;

    o->size_count = 0;
    do {
        if (!add_sizes(o, text, &end))
            return false;
        text = end + 1;
    } while (*end == ',');
    return *end == 0;
}

static bool parse_ranks(struct options *o, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    bool good = true;

    o->rank_count_count = 0;
    for (char *n = strtok_r(copy, ",", &rest); n && good; n = strtok_r(NULL, ",", &rest)) {
        good = o->rank_count_count < MAX_RANK_COUNTS &&
               parse_int(n, 2, 1 << 30, &o->rank_counts[o->rank_count_count]);
        o->rank_count_count++;
    }
    free(copy);
    return good && o->rank_count_count > 0;
}

static void parse_collectives(struct argp_state *state, struct options *o, const char *text)
{
    char *copy = strdup(text), *rest = NULL, known[512];

    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        const struct collective *c = collective_find(name);
        collective_names(known, sizeof known);
        if (!c)
            refuse(state, "%s: no such collective; there are %s", name, known);
        if (o->collective_count == MAX_COLLECTIVES)
            refuse(state, "%s: more than %d collectives", name, MAX_COLLECTIVES);
        o->collectives[o->collective_count++] = c;
    }
    free(copy);
}

/* ---- algorithms ---- */

/* Parses NAME=VALUE. *name and *value point into text. */
static bool parse_assignment(char *text, const char **name, char **value)
{
    *value = strchr(text, '=');
    if (!*value || *value == text || !(*value)[1])
        return false;
    *(*value)++ = 0;
    *name = lower(text);
    return true;
}

static bool add_parameter(struct algorithm *a, const char *option, const char *name,
                          const char *value)
{
    if (a->parameter_count == MAX_PARAMETERS)
        return false;
    a->parameters[a->parameter_count++] = (struct parameter){option, name, value};
    return true;
}

/* A level spec, LEVEL:ALGORITHM,LEVEL:ALGORITHM, has colons and commas of its own. So a colon ends
 * a parameter only if VAR= follows, and a comma after a parameter ends an algorithm unless
 * LEVEL:ALGORITHM follows. */

static bool is_assignment(const char *text)
{
    return text[strcspn(text, ":=,")] == '=';
}

static bool is_level(const char *text)
{
    size_t n = strcspn(text, ":,");

    return text[n] == ':' && !is_assignment(text + n + 1);
}

static size_t parameter_length(const char *text)
{
    size_t n = strcspn(text, ":");

    while (text[n] && !is_assignment(text + n + 1))
        n += 1 + strcspn(text + n + 1, ":");
    return n;
}

static size_t algorithm_length(const char *text)
{
    size_t n = strcspn(text, ",");

    while (text[n] && memchr(text, '=', n) && is_level(text + n + 1))
        n += 1 + strcspn(text + n + 1, ",");
    return n;
}

/* Parses NAME:VAR=VALUE:VAR=VALUE. *a points into `item` and into copies, which are never freed. */
static void parse_algorithm(struct argp_state *state, struct algorithm *a, const char *item)
{
    const char *name, *at = item + strcspn(item, ":");

    *a = (struct algorithm){.label = item, .name = strndup(item, (size_t) (at - item))};
    if (at == item)
        refuse(state, "--algorithms=%s: must be NAME or NAME:VAR=VALUE:VAR=VALUE", item);
    for (at += strspn(at, ":"); *at; at += strspn(at, ":")) {
        size_t n = parameter_length(at);
        char *p = strndup(at, n), *value;
        if (!parse_assignment(p, &name, &value))
            refuse(state, "--algorithms=%s: %s must be VAR=VALUE", item, p);
        if (!add_parameter(a, "--algorithms", name, value))
            refuse(state, "--algorithms=%s: more than %d parameters", item, MAX_PARAMETERS);
        at += n;
    }
}

static void parse_algorithms(struct argp_state *state, struct options *o, const char *text)
{
    size_t n;

    o->algorithm_count = 0;
    for (const char *item = text + strspn(text, ","); *item; item += n + strspn(item + n, ",")) {
        n = algorithm_length(item);
        if (o->algorithm_count == MAX_ALGORITHMS)
            refuse(state, "--algorithms=%s: more than %d", text, MAX_ALGORITHMS);
        parse_algorithm(state, &o->algorithms[o->algorithm_count++], strndup(item, n));
    }
    if (o->algorithm_count == 0)
        refuse(state, "--algorithms=%s: must be at least one name", text);
}

bool algorithm_is_numacoll(const struct algorithm *a)
{
    return !strcmp(a->name, "numacoll");
}

/* ---- sweeps ---- */

static void parse_sweep(struct argp_state *state, struct options *o, const char *text)
{
    struct sweep *s = &o->sweeps[o->sweep_count];
    char *rest = NULL, *values;

    if (o->sweep_count++ == MAX_SWEEPS)
        refuse(state, "--sweep=%s: more than %d sweeps", text, MAX_SWEEPS);
    if (!parse_assignment(strdup(text), &s->variable, &values))
        refuse(state, "--sweep=%s: must be VAR=V1,V2", text);
    for (char *v = strtok_r(values, ",", &rest); v; v = strtok_r(NULL, ",", &rest)) {
        if (s->value_count == MAX_ALGORITHMS)
            refuse(state, "--sweep=%s: more than %d values", text, MAX_ALGORITHMS);
        s->values[s->value_count++] = v;
    }
    if (s->value_count == 0)
        refuse(state, "--sweep=%s: must be VAR=V1,V2", text);
}

static struct algorithm with_value(struct argp_state *state, const struct algorithm *a,
                                   const struct sweep *s, int i)
{
    struct algorithm with = *a;
    char *label;

    if (asprintf(&label, "%s:%s=%s", a->label, s->variable, s->values[i]) < 0 ||
        !add_parameter(&with, "--sweep", s->variable, s->values[i]))
        refuse(state, "--sweep=%s: %s has %d parameters already", s->variable, a->label,
               MAX_PARAMETERS);
    with.label = label;
    return with;
}

/* Replaces each algorithm of numacoll by one for each value of the sweep. */
static void apply_sweep(struct argp_state *state, struct options *o, const struct sweep *s)
{
    struct algorithm before[MAX_ALGORITHMS];
    int n = o->algorithm_count;

    memcpy(before, o->algorithms, sizeof before);
    o->algorithm_count = 0;
    for (int a = 0; a < n; a++) {
        int copies = algorithm_is_numacoll(&before[a]) ? s->value_count : 1;
        if (o->algorithm_count + copies > MAX_ALGORITHMS)
            refuse(state, "--sweep=%s: makes more than %d algorithms", s->variable, MAX_ALGORITHMS);
        for (int i = 0; i < copies; i++)
            o->algorithms[o->algorithm_count++] = algorithm_is_numacoll(&before[a])
                                                      ? with_value(state, &before[a], s, i)
                                                      : before[a];
    }
    for (int a = 0; a < o->algorithm_count; a++) {
        if (algorithm_is_numacoll(&o->algorithms[a]))
            return;
    }
    refuse(state, "--sweep=%s: needs numacoll among --algorithms", s->variable);
}

/* ---- without numacoll ---- */

/* For the options that choose algorithms, of which a plain numacoll-bench knows one. */
static void refuse_if_plain(struct argp_state *state, const char *option, const char *value)
{
    if (PLAIN)
        refuse(state,
               "--%s=%s: this numacoll-bench was built without numacoll and measures only what MPI "
               "chooses itself",
               option, value);
}

/* ---- the floor ---- */

static void add_floor(struct argp_state *state, struct options *o)
{
    for (int i = 0; i < o->collective_count; i++) {
        if (!o->collectives[i]->floor)
            refuse(state, "--floor: %s copies nothing", o->collectives[i]->name);
    }
    if (o->algorithm_count == MAX_ALGORITHMS)
        refuse(state, "--floor: must be at most %d algorithms without it", MAX_ALGORITHMS - 1);
    o->algorithms[o->algorithm_count++] = (struct algorithm){
        .label = "floor", .name = "auto", .floor = true};
}

/* ---- all of it ---- */

static void parse_plot(struct argp_state *state, struct options *o, const char *file)
{
    if (!gnuplot_writes(file))
        refuse(state, "--plot=%s: must end in .png or .svg", file);
    o->plot = file;
}

static void parse_buffers(struct argp_state *state, struct options *o, const char *text)
{
    o->alloc_mem = !strcmp(text, "alloc_mem");
    if (!o->alloc_mem && strcmp(text, "malloc"))
        refuse(state, "--buffers=%s: must be malloc or alloc_mem", text);
}

static void parse_seconds(struct argp_state *state, struct options *o, const char *text)
{
    char *end;

    o->seconds = strtod(text, &end);
    if (end == text || *end || !(o->seconds > 0 && o->seconds <= 1e6))
        refuse(state, "--seconds=%s: must be above 0 and at most 1000000", text);
}

static void finish(struct argp_state *state, struct options *o)
{
    if (o->collective_count == 0)
        parse_collectives(state, o, "bcast");
    for (int i = 0; i < o->sweep_count; i++)
        apply_sweep(state, o, &o->sweeps[i]);
    if (o->floor)
        add_floor(state, o);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
        case 'a':
            refuse_if_plain(state, "algorithms", arg);
            parse_algorithms(state, o, arg);
            break;
        case 'w':
            refuse_if_plain(state, "sweep", arg);
            parse_sweep(state, o, arg);
            break;
        case 's':
            if (!parse_sizes(o, arg))
                refuse(state,
                       "--sizes=%s: must be LO:HI,LO:HI.. or single sizes, ascending, in bytes "
                       "(suffixes K and M), 0 to 1024M, at most %d",
                       arg, MAX_SIZES);
            break;
        case 'n':
            if (!parse_ranks(o, arg))
                refuse(state, "--ranks=%s: must be 1 to %d numbers of ranks, each at least 2", arg,
                       MAX_RANK_COUNTS);
            break;
        case 'r':
            if (!parse_int(arg, 1, MAX_ROUNDS, &o->rounds))
                refuse(state, "--rounds=%s: must be 1 to %d", arg, MAX_ROUNDS);
            break;
        case 't':
            parse_seconds(state, o, arg);
            break;
        case 'o':
            o->off_cache = true;
            break;
        case 'f':
            o->floor = true;
            break;
        case 'b':
            parse_buffers(state, o, arg);
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
            parse_plot(state, o, arg);
            break;
        case ARGP_KEY_ARG:
            parse_collectives(state, o, arg);
            break;
        case ARGP_KEY_INIT:
            *o = (struct options){.rounds = 5, .seconds = 20};
            parse_algorithms(state, o, PLAIN ? "auto" : "auto,numacoll");
            parse_sizes(o, "1:4M");
            break;
        case ARGP_KEY_END:
            finish(state, o);
            break;
        default:
            return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Sends what this process writes to stdout and stderr nowhere. Returns where its stderr was. */
static int be_silent(void)
{
    int errors = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);

    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    return errors;
}

/* If argp ends the process, it does so on all ranks; only rank 0 may write then. Afterwards the
 * other ranks have their stderr back, but not their stdout. */
void options_parse(struct options *o, int argc, char **argv, int rank)
{
    static const struct argp argp = {choices, parse, "[COLLECTIVE[,COLLECTIVE..]]", doc, 0, 0, 0};
    int errors = rank > 0 ? be_silent() : -1;
    /* in the user's order: argp puts options first */
    char **words = calloc((size_t) argc + 1, sizeof *words);

    for (int i = 0; i < argc && words; i++)
        words[i] = argv[i];
    argp_err_exit_status = EXIT_FAILURE;
    argp_parse(&argp, argc, argv, 0, 0, o);
    o->command = words;
    if (rank > 0) {
        dup2(errors, STDERR_FILENO);
        close(errors);
    }
}

int options_sizes_of(const struct options *o, const struct collective *collective)
{
    return collective_has_size(collective) ? o->size_count : 1;
}

int options_longest_label(const struct options *o)
{
    int longest = 0;

    for (int a = 0; a < o->algorithm_count; a++) {
        int n = (int) strlen(o->algorithms[a].label);
        longest = n > longest ? n : longest;
    }
    return longest;
}

int options_rounds_in_all(const struct options *o)
{
    int sizes = 0;

    for (int c = 0; c < o->collective_count; c++)
        sizes += options_sizes_of(o, o->collectives[c]);
    return sizes * o->rounds * o->rank_count_count;
}
