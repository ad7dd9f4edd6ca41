/* Parses the command line of numacoll-bench, before MPI_Init. What needs MPI (do the collectives
 * have these algorithms and variables?) is checked in main.c and switch.c. */

#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/gnuplot.h"
#include "shm/nc_copy.h"

#define LARGEST       ((size_t) 1 << 30)
#define MOST_FRACTION 1e6

const char *argp_program_version = "numacoll-bench " NUMACOLL_VERSION;
static const char doc[] =
    "Time collectives under several algorithms in one run: mpiexec -n P numacoll-bench bcast; in "
    "several launches: numacoll-bench --launches 10 --launcher \"mpiexec -n P\" bcast\v"
    "Blocks of calls take turns; the first calls of a block are dropped and serve to verify the "
    "data. An algorithm may carry parameters: numacoll:bcast_tree=kary:bcast_tree_k=3. Exit "
    "status 2: a wrong option, or a file that cannot be used. Exit status 1: an algorithm that "
    "did not serve, wrong data, or, with --compare, something is slower.";

/* The groups of options. A launch is told those that say what is measured. */
enum { MEASURED = 1, ALGORITHMS, WRITTEN, LAUNCHED };

enum {
    KEY_ERROR = 256,
    KEY_TOUCH,
    KEY_USE,
    KEY_MEMCPY,
    KEY_STREAMED,
    KEY_BASELINE,
    KEY_SKEW,
    KEY_COUNTS,
    KEY_RAW,
    KEY_FORMAT,
    KEY_LAUNCHES,
    KEY_LAUNCHER,
    KEY_TIMEOUT,
    KEY_OTHER,
    KEY_RESULTS,
    KEY_COMPARE,
    KEY_TOLERANCE
};

static const struct argp_option choices[] = {
    {"sizes", 's', "LO:HI,..", 0,
     "bytes, doubling from LO to HI, or single sizes; suffixes K and M (1:4M)", MEASURED},
    {"ranks", 'n', "N1,N2", 0, "the first N1 ranks, then the first N2 (all)", MEASURED},
    {"rounds", 'r', "N", 0, "rounds, 1 to 100 (6)", MEASURED},
    {"seconds", 't', "S", 0, "how long the run may take, about (20)", MEASURED},
    {"error", KEY_ERROR, "F", 0,
     "rounds until the medians are known to this fraction, as 1%, or the time is up", MEASURED},
    {"touch", KEY_TOUCH, 0, 0, "write the inputs again before each call", MEASURED},
    {"use", KEY_USE, 0, 0, "each rank reads all it has received, in the time of the call",
     MEASURED},
    {"skew", KEY_SKEW, "HOW", 0,
     "how ranks arrive at a call, within US microseconds: none, linear:US, random:US or late:US "
     "(none)",
     MEASURED},
    {"counts", KEY_COUNTS, "HOW", 0,
     "blocks of collectives that have a count for each rank: even, linear or one (even)", MEASURED},
    {"off-cache", 'o', 0, 0, "a fresh buffer for every call", MEASURED},
    {"buffers", 'b', "HOW", 0,
     "malloc, or alloc_mem: of MPI_Alloc_mem, as shared buffers where these are (malloc)",
     MEASURED},
    {"rotate-root", 'R', 0, 0, "every rank is root in turn", MEASURED},
    {"algorithms", 'a', "A,B", 0,
     "names as in the INTRA_ALGORITHM variable; ratios are to the first (auto,numacoll)",
     ALGORITHMS},
    {"sweep", 'w', "VAR=V1,V2", 0,
     "numacoll once with each value of this variable; several sweeps multiply", ALGORITHMS},
    {"floor", 'f', 0, 0,
     "last, the copies through shared memory that no algorithm avoids, as if nobody waited",
     ALGORITHMS},
    {"memcpy", KEY_MEMCPY, 0, 0,
     "last, one core's copy of as many bytes as a call gives a rank, by memcpy", ALGORITHMS},
    {"streamed", KEY_STREAMED, 0, 0, "last, the same copy by streaming stores, past the caches",
     ALGORITHMS},
    {"baseline", KEY_BASELINE, "NAME", 0,
     "ratios are to this one of the algorithms, or to floor, memcpy or streamed (the first)",
     ALGORITHMS},
    {"selection-files", 'S', 0, 0,
     "auto is what the selection files of the environment choose, not MPICH's own choice",
     ALGORITHMS},
    {"format", KEY_FORMAT, "HOW", 0,
     "what stdout gets: table, json, or, with other benchmarks' columns, osu or imb (table)",
     WRITTEN},
    {"csv", 'c', "FILE", 0, "also as CSV", WRITTEN},
    {"json", 'j', "FILE", 0, "also as JSON", WRITTEN},
    {"plot", 'p', "FILE", 0,
     "also as a picture, .png or .svg; several get -COLL-N before the suffix", WRITTEN},
    {"raw", KEY_RAW, "FILE", 0,
     "also each call as a line of CSV; of several launches one file each, -K before the suffix",
     WRITTEN},
    {"results", KEY_RESULTS, "FILE", 0,
     "measure nothing, take the results of this JSON file; without mpiexec", WRITTEN},
    {"compare", KEY_COMPARE, "FILE", 0,
     "say what is slower or faster than in this JSON file; exit status 1 if slower", WRITTEN},
    {"tolerance", KEY_TOLERANCE, "F", 0, "smaller changes are none, as 5% or 0.05 (5%)", WRITTEN},
    {"launches", KEY_LAUNCHES, "N", 0,
     "without mpiexec: launch this program N times, 1 to 100; the median of the launches",
     LAUNCHED},
    {"launcher", KEY_LAUNCHER, "COMMAND", 0,
     "what starts the ranks of a launch, such as \"mpiexec -n 4\"", LAUNCHED},
    {"timeout", KEY_TIMEOUT, "S", 0,
     "seconds after which a launch is ended and has failed; 0: never (600, and 10 times --seconds)",
     LAUNCHED},
    {"other", KEY_OTHER, "COMMAND", 0,
     "another MPI's plain numacoll-bench with its launcher, in turn in each launch; up to 8 of "
     "them",
     LAUNCHED},
    {0, 0, 0, 0, 0, 0}};

_Noreturn void refuse(struct argp_state *state, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    argp_failure(state, WRONG_INPUT, 0, "%s", text);
    exit(WRONG_INPUT);
}

/* ---- values ---- */

/* A fraction above 0, 5% or 0.05. */
static double parse_fraction(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end), fraction = *end == '%' ? value / 100 : value;

    if (end == text || end[*end == '%'] || !(fraction > 0 && fraction <= MOST_FRACTION))
        refuse(state, "--%s=%s: must be a fraction, as 5%% or 0.05, at most %g", option, text,
               MOST_FRACTION);
    return fraction;
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

static bool read_sizes(struct options *o, const char *text)
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

static void parse_sizes(struct argp_state *state, struct options *o, const char *text)
{
    if (!read_sizes(o, text))
        refuse(state,
               "--sizes=%s: must be LO:HI,LO:HI.. or single sizes, ascending, in bytes "
               "(suffixes K and M), 0 to 1024M, at most %d",
               text, MAX_SIZES);
}

static void parse_ranks(struct argp_state *state, struct options *o, const char *text)
{
    char *copy = strdup(text), *rest = copy;

    o->rank_count_count = 0;
    for (char *word; (word = strsep(&rest, ","));) {
        int n = argument_number("--ranks=", word, 2, 1 << 30);
        if (o->rank_count_count == MAX_RANK_COUNTS)
            refuse(state, "--ranks=%s: more than %d", text, MAX_RANK_COUNTS);
        for (int i = 0; i < o->rank_count_count; i++) {
            if (o->rank_counts[i] == n)
                refuse(state, "--ranks=%s: has %d twice", text, n);
        }
        o->rank_counts[o->rank_count_count++] = n;
    }
    free(copy);
}

static void parse_collectives(struct argp_state *state, struct options *o, const char *text)
{
    char *copy = strdup(text), *rest = copy, known[512];

    for (char *name; (name = strsep(&rest, ","));) {
        const struct collective *c = collective_find(name);
        collective_names(known, sizeof known);
        if (!c)
            refuse(state, "%s: no such collective; there are %s", *name ? name : "''", known);
        for (int i = 0; i < o->collective_count; i++) {
            if (o->collectives[i] == c)
                refuse(state, "%s: is named twice", name);
        }
        if (o->collective_count == MAX_COLLECTIVES)
            refuse(state, "%s: more than %d collectives", name, MAX_COLLECTIVES);
        o->collectives[o->collective_count++] = c;
    }
    free(copy);
}

/* ---- without numacoll ---- */

/* For the options that choose algorithms, of which a plain numacoll-bench knows one. option: with
 * its equals sign, if it has a value. */
static void refuse_if_plain(struct argp_state *state, const char *option, const char *value)
{
    if (PLAIN)
        refuse(state,
               "%s%s: this numacoll-bench was built without numacoll and measures only what MPI "
               "chooses itself",
               option, value);
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

static void parse_timeout(struct argp_state *state, struct options *o, const char *text)
{
    char *end;

    o->timeout = strtod(text, &end);
    if (end == text || *end || !(o->timeout >= 0 && o->timeout <= 1e8))
        refuse(state, "--timeout=%s: must be 0, for no limit, to 100000000 seconds", text);
    if (o->timeout == 0)
        o->timeout = INFINITY;
}

static void parse_format(struct argp_state *state, struct options *o, const char *text)
{
    static const char *const names[FORMATS] = {[FORMAT_TABLE] = "table",
                                               [FORMAT_JSON] = "json",
                                               [FORMAT_OSU] = "osu",
                                               [FORMAT_IMB] = "imb"};

    for (o->format = FORMAT_TABLE; o->format < FORMATS; o->format++) {
        if (!strcmp(text, names[o->format]))
            return;
    }
    refuse(state, "--format=%s: must be table, json, osu or imb", text);
}

static void parse_skew(struct argp_state *state, struct options *o, const char *text)
{
    if (!skew_parse(text, &o->skew))
        refuse(state,
               "--skew=%s: must be none, linear:US, random:US or late:US, with US above 0 and at "
               "most 1000000 microseconds",
               text);
}

/* ---- launches ---- */

/* For whom an option is, among the launches. */
static int word_kind(const struct argp_option *option)
{
    switch (option->key) {
        case 'a':
        case 'w':
        case KEY_BASELINE:
            return WORD_OF_CHOICE;
        case 'f':
        case KEY_MEMCPY:
        case KEY_STREAMED:
            return WORD_OF_COPIES;
        default:
            return option->group == ALGORITHMS ? WORD_FOR_OWN : WORD_FOR_ALL;
    }
}

/* Keeps a word for the launches. */
static void pass_on(struct argp_state *state, struct options *o, int key, const char *value)
{
    const struct argp_option *c = choices;
    struct word *words = realloc(o->words, sizeof *words * ((size_t) o->word_count + 1));
    struct word *word;
    int length;

    if (!words)
        refuse(state, "no memory");
    o->words = words;
    word = words + o->word_count;
    while (c->name && c->key != key)
        c++;
    if (key == ARGP_KEY_ARG)
        length = asprintf(&word->text, "%s", value);
    else if (c->group == MEASURED || c->group == ALGORITHMS)
        length = asprintf(&word->text, "--%s%s%s", c->name, value ? "=" : "", value ? value : "");
    else
        return;
    if (length < 0)
        refuse(state, "no memory");
    word->kind = word_kind(c);
    o->word_count++;
}

static void check_launches(struct argp_state *state, const struct options *o)
{
    if (o->launches && !o->launcher)
        refuse(state, "--launches=%d: needs --launcher, such as --launcher \"mpiexec -n 2\"",
               o->launches);
    if (!o->launches && (o->launcher || o->other_count || o->timeout > 0))
        refuse(state, "--%s: needs --launches",
               o->launcher      ? "launcher"
               : o->other_count ? "other"
                                : "timeout");
    if (o->results && o->raw)
        refuse(state, "--raw=%s: must be without --results, which has no single calls", o->raw);
    if (o->results && (o->launches || o->word_count))
        refuse(state, "--results=%s: measures nothing, so must be without %s", o->results,
               o->launches ? "--launches" : o->words[0].text);
    if (o->algorithm_count + o->other_count > MAX_ALGORITHMS)
        refuse(state, "--other: must be at most %d algorithms with it", MAX_ALGORITHMS);
    if (o->tolerance && !o->compare)
        refuse(state, "--tolerance=%g: needs --compare", o->tolerance);
    if (o->compare && o->format != FORMAT_TABLE)
        refuse(state, "--compare: must be without --format");
}

/* Seconds of a launch without --timeout: so many that none is ended which only takes longer than
 * --seconds says, as one of many more ranks than processors does. */
static double usual_timeout(const struct options *o)
{
    return 600 + 10 * o->seconds;
}

static void finish(struct argp_state *state, struct options *o)
{
    if (o->collective_count == 0)
        parse_collectives(state, o, "bcast");
    for (int i = 0; i < o->sweep_count; i++)
        sweep_apply(state, o, &o->sweeps[i]);
    if (o->floor)
        copies_add(state, o, "floor", KIND_FLOOR);
    if (o->memcpy)
        copies_add(state, o, "memcpy", KIND_MEMCPY);
    if (o->streamed && !NC_COPY_STREAMS)
        refuse(state, "--streamed: this processor has no streaming stores");
    if (o->streamed)
        copies_add(state, o, "streamed", KIND_STREAMED);
    baseline_find(state, o);
    check_launches(state, o);
    if (!o->tolerance)
        o->tolerance = 0.05;
    if (!(o->timeout > 0))
        o->timeout = usual_timeout(o);
}

/* ---- one option ---- */

/* An option without a value, or NULL. */
static bool *flag_of(struct options *o, int key)
{
    switch (key) {
        case 'o':
            return &o->off_cache;
        case 'R':
            return &o->rotate_root;
        case KEY_TOUCH:
            return &o->touch;
        case KEY_USE:
            return &o->use;
        case 'f':
            return &o->floor;
        case KEY_MEMCPY:
            return &o->memcpy;
        case KEY_STREAMED:
            return &o->streamed;
        case 'S':
            return &o->selection_files;
        default:
            return NULL;
    }
}

/* An option whose value is taken as it is, or NULL. */
static const char **text_of(struct options *o, int key)
{
    switch (key) {
        case 'c':
            return &o->csv;
        case 'j':
            return &o->json;
        case KEY_RAW:
            return &o->raw;
        case KEY_BASELINE:
            return &o->baseline_name;
        case KEY_RESULTS:
            return &o->results;
        case KEY_COMPARE:
            return &o->compare;
        case KEY_LAUNCHER:
            return &o->launcher;
        default:
            return NULL;
    }
}

/* The options that say what is measured. Returns whether this is one. */
static bool parse_measured(struct argp_state *state, struct options *o, int key, const char *arg)
{
    switch (key) {
        case 's':
            parse_sizes(state, o, arg);
            return true;
        case 'n':
            parse_ranks(state, o, arg);
            return true;
        case 'r':
            o->rounds = argument_number("--rounds=", arg, 1, MAX_UNITS);
            return true;
        case 't':
            parse_seconds(state, o, arg);
            return true;
        case 'b':
            parse_buffers(state, o, arg);
            return true;
        case KEY_ERROR:
            o->error = parse_fraction(state, "error", arg);
            return true;
        case KEY_SKEW:
            parse_skew(state, o, arg);
            return true;
        case KEY_COUNTS:
            if (!counts_parse(arg, &o->counts))
                refuse(state, "--counts=%s: must be even, linear or one", arg);
            return true;
        case ARGP_KEY_ARG:
            parse_collectives(state, o, arg);
            return true;
        default:
            return false;
    }
}

/* The options that choose algorithms. */
static bool parse_chosen(struct argp_state *state, struct options *o, int key, const char *arg)
{
    switch (key) {
        case 'a':
            refuse_if_plain(state, "--algorithms=", arg);
            algorithms_parse(state, o, arg);
            return true;
        case 'w':
            refuse_if_plain(state, "--sweep=", arg);
            sweep_parse(state, o, arg);
            return true;
        default:
            return false;
    }
}

static bool parse_written(struct argp_state *state, struct options *o, int key, const char *arg)
{
    switch (key) {
        case 'p':
            parse_plot(state, o, arg);
            return true;
        case KEY_FORMAT:
            parse_format(state, o, arg);
            return true;
        case KEY_TOLERANCE:
            o->tolerance = parse_fraction(state, "tolerance", arg);
            return true;
        default:
            return false;
    }
}

static bool parse_launched(struct argp_state *state, struct options *o, int key, const char *arg)
{
    switch (key) {
        case KEY_LAUNCHES:
            o->launches = argument_number("--launches=", arg, 1, MAX_UNITS);
            return true;
        case KEY_TIMEOUT:
            parse_timeout(state, o, arg);
            return true;
        case KEY_OTHER:
            if (o->other_count == MAX_OTHERS)
                refuse(state, "--other=%s: more than %d", arg, MAX_OTHERS);
            o->others[o->other_count++] = arg;
            return true;
        default:
            return false;
    }
}

/* Returns whether this is an option, or the name of a collective. */
static bool parse_one(struct argp_state *state, struct options *o, int key, const char *arg)
{
    bool *flag = flag_of(o, key);
    const char **text = text_of(o, key);

    if (key == 'S')
        refuse_if_plain(state, "--selection-files", "");
    if (flag)
        *flag = true;
    if (text)
        *text = arg;
    return flag || text || parse_measured(state, o, key, arg) || parse_chosen(state, o, key, arg) ||
           parse_written(state, o, key, arg) || parse_launched(state, o, key, arg);
}

static void set_defaults(struct argp_state *state, struct options *o)
{
    *o = (struct options){.rounds = 6, .seconds = 20};
    algorithms_parse(state, o, PLAIN ? "auto" : "auto,numacoll");
    parse_sizes(state, o, "1:4M");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    if (key == ARGP_KEY_INIT)
        set_defaults(state, o);
    else if (key == ARGP_KEY_END)
        finish(state, o);
    else if (parse_one(state, o, key, arg))
        pass_on(state, o, key, arg);
    else
        return ARGP_ERR_UNKNOWN;
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
    argp_err_exit_status = WRONG_INPUT;
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

int options_rounds(const struct options *o)
{
    enum { IF_UNTIL_ERROR = 20 };

    return o->error > 0 && o->rounds < IF_UNTIL_ERROR ? IF_UNTIL_ERROR : o->rounds;
}

int options_rounds_in_all(const struct options *o)
{
    int sizes = 0;

    for (int c = 0; c < o->collective_count; c++)
        sizes += options_sizes_of(o, o->collectives[c]);
    return sizes * options_rounds(o) * o->rank_count_count;
}
