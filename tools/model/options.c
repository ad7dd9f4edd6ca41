/* Parses the command line of numacoll-model: a command, its words and its options. What depends on
 * the machine is checked in common/cluster.c. */

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/gnuplot.h"
#include "model.h"

const char *argp_program_version = "numacoll-model " NUMACOLL_VERSION;

#define WORDS "COLLECTIVE [SIZE]"

static const struct {
    const char *name;
    int collectives; /* so many of collective_names may be asked about */
    const char *doc;
} commands[COMMANDS] = {
    [QUEUE] = {"queue", 0,
               "The time of a Bcast through a queue in shared memory, by the formulas of Kurnosov, "
               "Tokmasheva 2020: over fragments, slots or messages, and its best fragment."},
    [TREE] = {"tree", 0,
              "The time of trees of messages, by the formulas of Kurnosov 2019 (Hockney's model): "
              "the best degree and segment of each, and which is best for messages of which size."},
    [BARRIER] = {"barrier", 0,
                 "What the barriers cost on a machine: signals, crossings of NUMA nodes and "
                 "packages, and time."},
    [MESSAGES] = {"messages", ALLREDUCE + 1,
                  "How many messages leave each NUMA node, package, node or switch: by trees and "
                  "exchanges of all ranks, and by the groups of the levels."},
    [PREDICT] = {"predict", COLLECTIVES,
                 "The time of the algorithms of a collective on a machine and network, by formulas "
                 "of pipelines."},
    [WHY] = {"why", COLLECTIVES,
             "What the library chooses by itself (auto) on a machine and network, and by which "
             "rule."},
};

const char *const tree_names[TREES] = {"linear",
                                       "kary",
                                       "balanced",
                                       "knomial",
                                       "chain",
                                       "pipelined_binary",
                                       "pipelined_binomial",
                                       "scatter_allgather"};

const char *const collective_names[COLLECTIVES] = {
#define TEXT(NAME, name) [NAME] = #name,
    COLLECTIVE_ROWS(TEXT)
#undef TEXT
};

static const char *const rule_names[] = {
    [NC_FRAG_QUARTER] = "quarter", [NC_FRAG_FIXED] = "fixed", [NC_FRAG_SQRT] = "sqrt"};

static const char *const over_names[] = {"nothing", "fragment", "slots", "message",
                                         "segment", "degree",   "ranks"};

/* ---- the options, each with the commands that have it ---- */

enum {
    KEY_CSV = 256,
    KEY_JSON,
    KEY_PLOT,
    KEY_OVER,
    KEY_FROM,
    KEY_TO,
    KEY_STEP,
    KEY_MESSAGE,
    KEY_FRAGMENT,
    KEY_SLOTS,
    KEY_QUEUE,
    KEY_SETS,
    KEY_TABLE,
    KEY_WAIT_SET,
    KEY_LEAVE,
    KEY_NOTICE,
    KEY_BYTE,
    KEY_DEGREE,
    KEY_ALGORITHMS,
    KEY_LINK,
    KEY_LINES,
    KEY_LINKS,
    KEY_TURN,
    KEY_COMBINE,
    KEY_MEMORY,
    KEY_CALL,
    KEY_CACHED,
    KEY_STREAMING,
    KEY_FRAGMENT_RULE,
    KEY_RANKS, /* -n of tree */
    KEYS
};
_Static_assert(KEYS - KEY_CSV <= 64, "a bit for each in struct options");

enum {
    OF_QUEUE = 1 << QUEUE,
    OF_TREE = 1 << TREE,
    OF_MACHINE = 1 << BARRIER | 1 << MESSAGES | 1 << PREDICT | 1 << WHY,
    OF_ALL = OF_QUEUE | OF_TREE | OF_MACHINE
};

#define LINES "*:0.4/0.1,package:0.2/0.1,numa:0.1/0.1,l3:0.1/0.1,l2:0.1/0.1"

static const struct {
    struct argp_option option;
    unsigned commands;
} choices[] = {
    {{"over", KEY_OVER, "WHAT", 0, "a row for each fragment, slots or message (fragment)", 0},
     OF_QUEUE},
    {{"over", KEY_OVER, "WHAT", 0, "a row for each message, segment, degree or ranks (none)", 0},
     OF_TREE},
    {{"from", KEY_FROM, "N", 0, "the first row", 0}, OF_QUEUE | OF_TREE},
    {{"to", KEY_TO, "N", 0, "the last row", 0}, OF_QUEUE | OF_TREE},
    {{"step", KEY_STEP, "N", 0,
      "from row to row (4096 for fragments, 1 for degrees, else the double)", 0},
     OF_QUEUE | OF_TREE},
    {{"message", KEY_MESSAGE, "M", 0, "bytes of the message (16M)", 0}, OF_QUEUE},
    {{"message", KEY_MESSAGE, "M", 0, "bytes of the message (1M)", 0}, OF_TREE},
    {{"fragment", KEY_FRAGMENT, "F", 0, "bytes of a fragment (8K)", 0}, OF_QUEUE},
    {{"slots", KEY_SLOTS, "S", 0, "slots of a queue (of --queue, so many as fit)", 0}, OF_QUEUE},
    {{"queue", KEY_QUEUE, "B", 0, "bytes of a queue (4M)", 0}, OF_QUEUE},
    {{"sets", KEY_SETS, "Q", 0, "sets of a queue (1)", 0}, OF_QUEUE},
    {{"table", KEY_TABLE, 0, 0, "bytes of a queue of F-byte fragments and F/2 to F/512 slots", 0},
     OF_QUEUE},
    {{"wait-set", KEY_WAIT_SET, "NS", 0, "t_WO, wait for a set, nanoseconds (100)", 1}, OF_QUEUE},
    {{"leave", KEY_LEAVE, "NS", 0, "t_A, leave a set (10)", 1}, OF_QUEUE},
    {{"notice", KEY_NOTICE, "NS", 0, "t_W, wait for a notification (50)", 1}, OF_QUEUE},
    {{"byte", KEY_BYTE, "NS", 0, "t, copy a byte (1)", 1}, OF_QUEUE},
    {{"np", 'n', "P", 0, "processes (128)", 0}, OF_TREE},
    {{"degree", KEY_DEGREE, "K", 0, "degree of k-ary and k-nomial trees (the best)", 0}, OF_TREE},
    {{"degree", KEY_DEGREE, "K", 0, "rows of trees of this degree beside those of degree 2", 0},
     1 << PREDICT},
    {{"fragment-rule", KEY_FRAGMENT_RULE, "RULE", 0, "quarter, fixed or sqrt, as FRAGMENT_RULE", 0},
     1 << PREDICT},
    {{"streaming", KEY_STREAMING, "B", 0,
      "bytes above which writers use streaming stores, as STREAMING (4095); 0: never", 0},
     1 << PREDICT},
    {{"algorithms", KEY_ALGORITHMS, "A,..", 0,
      "which algorithms, and among which the best is looked for (all; the best among those that "
      "send one message at a time)",
      0},
     OF_TREE},
    {{"link", KEY_LINK, "A/B", 0, "microseconds per message, nanoseconds per byte (50/47)", 1},
     OF_TREE},
    {{"lines", KEY_LINES, "L:A/B,..", 0,
      "inside a node: microseconds to fetch a line across a level, nanoseconds to copy a byte "
      "(" LINES ")",
      1},
     1 << BARRIER | 1 << PREDICT},
    {{"turn", KEY_TURN, "NS", 0,
      "nanoseconds that a line is busy with each rank that fetches it (20)", 1},
     1 << BARRIER | 1 << PREDICT},
    {{"combine", KEY_COMBINE, "NS", 0, "nanoseconds to combine a byte in a reduction (0.1)", 1},
     1 << PREDICT},
    {{"memory", KEY_MEMORY, "NS", 0,
      "nanoseconds that the memory of a NUMA node takes for a byte (0.0125)", 1},
     1 << PREDICT},
    {{"call", KEY_CALL, "NS", 0, "nanoseconds that a call takes beside that (0)", 1}, 1 << PREDICT},
    {{"cached", KEY_CACHED, "NS", 0,
      "nanoseconds more to copy a byte of a message too short for streaming stores (0)", 1},
     1 << PREDICT},
    {{"links", KEY_LINKS, "L:A/B,..", 0, "between nodes, as LINKS", 1},
     OF_MACHINE & ~(1 << MESSAGES)},
    {{"csv", KEY_CSV, 0, 0, "write the rows as CSV", 2}, OF_ALL},
    {{"json", KEY_JSON, 0, 0, "write JSON", 2}, OF_ALL},
    {{"plot", KEY_PLOT, "FILE", 0, "also draw the rows: .png or .svg", 2}, OF_ALL}};

enum { CHOICES = sizeof choices / sizeof *choices };

/* ---- values ---- */

static uint64_t parse_number(const char *option, const char *text, uint64_t low, uint64_t high)
{
    uint64_t n;
    char *end;

    if (!argument_bytes(text, &end, high, &n) || *end || n < low)
        errx(WRONG_ARGUMENTS,
             "%s%s: must be %llu to %llu, with K, M or G behind it for units of "
             "1024, ..",
             option, text, (unsigned long long) low, (unsigned long long) high);
    return n;
}

static double parse_nanoseconds(const char *option, const char *text)
{
    char *end;
    double n = strtod(text, &end);

    if (end == text || *end || !(n >= 0 && n <= 1e9))
        errx(WRONG_ARGUMENTS, "%s%s: must be 0 to 1e9 nanoseconds", option, text);
    return n * 1e-9;
}

/* The index of a word in a list of n; ends the process if it is not there. */
static int parse_word(const char *option, const char *text, const char *const *list, int n)
{
    char known[256] = "";

    for (int i = 0; i < n; i++) {
        if (!strcmp(text, list[i]))
            return i;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 list[i]);
    }
    errx(WRONG_ARGUMENTS, "%s%s: must be one of %s", option, text, known);
}

static void parse_over(struct options *o, const char *text)
{
    static const unsigned of[COMMANDS] = {
        [QUEUE] = 1u << OVER_FRAGMENT | 1u << OVER_SLOTS | 1u << OVER_MESSAGE,
        [TREE] = 1u << OVER_MESSAGE | 1u << OVER_SEGMENT | 1u << OVER_DEGREE | 1u << OVER_RANKS};
    const char *allowed[8];
    int n = 0, value[8] = {0};

    for (int i = 0; i <= OVER_RANKS; i++) {
        if (of[o->command] >> i & 1) {
            allowed[n] = over_names[i];
            value[n++] = i;
        }
    }
    o->over = (enum over) value[parse_word("--over=", text, allowed, n)];
}

static void parse_trees(struct options *o, const char *text)
{
    char *copy = strcpy(allocate(strlen(text) + 1), text), *name;

    o->trees = 0;
    while ((name = strsep(&copy, ",")))
        o->trees |= 1u << parse_word("--algorithms=", name, tree_names, TREES);
}

static void parse_links(struct nc_links *links, const char *option, const char *text)
{
    if (!nc_links_parse(links, text))
        errx(WRONG_ARGUMENTS, "%s%s: must be LEVEL:MICROSECONDS/NANOSECONDS,.., levels of %s or *",
             option, text, nc_level_names());
}

static void parse_link(struct options *o, const char *text)
{
    struct nc_links links;
    char *all;

    if (asprintf(&all, "*:%s", text) < 0)
        errx(EXIT_FAILURE, "no memory");
    if (strchr(text, ',') || !nc_links_parse(&links, all))
        errx(WRONG_ARGUMENTS, "--link=%s: must be MICROSECONDS/NANOSECONDS", text);
    o->link = links.link[NC_LEVEL_TOP];
}

static void parse_plot(struct options *o, const char *file)
{
    if (!gnuplot_writes(file))
        errx(WRONG_ARGUMENTS, "--plot=%s: must end in .png or .svg", file);
    o->plot = file;
}

/* ---- words ---- */

static void parse_argument(struct options *o, const char *text, unsigned number)
{
    int collectives = commands[o->command].collectives;

    if (collectives && number == 0)
        o->collective = (enum collective) parse_word("COLLECTIVE ", text, collective_names,
                                                     collectives);
    else if (collectives && number == 1)
        o->message = parse_number("SIZE ", text, 0, (uint64_t) 1 << 40);
    else
        errx(WRONG_ARGUMENTS, "%s: must be an option; numacoll-model %s --help lists them", text,
             commands[o->command].name);
}

static void set_defaults(struct options *o)
{
    enum command command = o->command;

    *o = (struct options){.command = command,
                          .over = command == QUEUE ? OVER_FRAGMENT : OVER_NOTHING,
                          .message = command == QUEUE  ? (uint64_t) 16 << 20
                                     : command == TREE ? (uint64_t) 1 << 20
                                                       : 0,
                          .sets = 1,
                          .costs = {100e-9, 10e-9, 50e-9, 1e-9},
                          .ranks = 128,
                          .link = {50e-6, 47e-9},
                          .turn = 20e-9,
                          .combine = 0.1e-9,
                          .memory = 0.0125e-9,
                          .streaming = NC_PACES_ABOVE};
    parse_links(&o->lines, "", LINES);
    parse_links(&o->links, "", "");
}

static bool is_given(const struct options *o, int key)
{
    return o->given >> (key - KEY_CSV) & 1;
}

/* Ends the process if an option is given that rows over something, or --table, would ignore. */
static void refuse_ignored(const struct options *o)
{
    static const struct {
        enum over over;
        int key;
        const char *option;
    } varied[] = {{OVER_FRAGMENT, KEY_FRAGMENT, "fragment"}, {OVER_SLOTS, KEY_SLOTS, "slots"},
                  {OVER_MESSAGE, KEY_MESSAGE, "message"},    {OVER_DEGREE, KEY_DEGREE, "degree"},
                  {OVER_SEGMENT, KEY_DEGREE, "degree"},      {OVER_RANKS, KEY_RANKS, "np"}};
    const uint64_t with_table = 1 | 1 << (KEY_JSON - KEY_CSV) | 1 << (KEY_PLOT - KEY_CSV) |
                                1 << (KEY_TABLE - KEY_CSV);

    for (size_t i = 0; i < sizeof varied / sizeof *varied; i++) {
        if (o->over == varied[i].over && is_given(o, varied[i].key))
            errx(WRONG_ARGUMENTS, "--%s: must not be with --over=%s", varied[i].option,
                 over_names[o->over]);
    }
    if (o->over == OVER_NOTHING && (o->from || o->to || o->step))
        errx(WRONG_ARGUMENTS, "--from, --to, --step: need --over");
    if (o->table && o->given & ~with_table)
        errx(WRONG_ARGUMENTS, "--table: must be alone, but for --csv, --json and --plot");
}

/* Ranges that are not given; and what cannot be together. */
static void finish(struct options *o, unsigned words)
{
    static const uint64_t
        from[] =
            {[OVER_NOTHING] = 1,  [OVER_FRAGMENT] = 4096, [OVER_SLOTS] = 1, [OVER_MESSAGE] = 1024,
             [OVER_SEGMENT] = 64, [OVER_DEGREE] = 2,      [OVER_RANKS] = 2},
        to[] = {[OVER_NOTHING] = 1,        [OVER_FRAGMENT] = 65536,  [OVER_SLOTS] = 512,
                [OVER_MESSAGE] = 16 << 20, [OVER_SEGMENT] = 1 << 20, [OVER_DEGREE] = 16,
                [OVER_RANKS] = 1024};
    enum { MOST_ROWS = 100000 };

    refuse_ignored(o);
    if (!o->step)
        o->step = o->over == OVER_DEGREE ? 1 : o->over == OVER_FRAGMENT ? 4096 : 0;
    o->from = o->from ? o->from : from[o->over];
    o->to = o->to ? o->to : o->from > to[o->over] ? o->from : to[o->over];
    if (o->to < o->from)
        errx(WRONG_ARGUMENTS, "--to=%llu: must be at least --from=%llu", (unsigned long long) o->to,
             (unsigned long long) o->from);
    if (o->step && (o->to - o->from) / o->step >= MOST_ROWS)
        errx(WRONG_ARGUMENTS, "--step=%llu: must make at most %d rows",
             (unsigned long long) o->step, MOST_ROWS);
    if ((o->over == OVER_RANKS || o->over == OVER_DEGREE) && o->to > MAX_RANKS)
        errx(WRONG_ARGUMENTS, "--to=%llu: must be at most %d", (unsigned long long) o->to,
             MAX_RANKS);
    if (o->over == OVER_DEGREE && o->from < 2)
        errx(WRONG_ARGUMENTS, "--from=%llu: must be at least 2", (unsigned long long) o->from);
    if ((o->fragment || o->over == OVER_FRAGMENT) && (o->slots || o->over == OVER_SLOTS) &&
        o->queue)
        errx(WRONG_ARGUMENTS, "--queue: must not be with both fragments and slots");
    if (commands[o->command].collectives && words == 0)
        errx(WRONG_ARGUMENTS, "%s: must be followed by a collective: numacoll-model %s " WORDS,
             commands[o->command].name, commands[o->command].name);
}

/* ---- all of it ---- */

/* Of queue and tree; predict has --degree, too. */
static bool parse_formula(struct options *o, int key, const char *arg)
{
    const uint64_t most = (uint64_t) 1 << 40;

    switch (key) {
        case KEY_OVER:
            parse_over(o, arg);
            return true;
        case KEY_FROM:
            o->from = parse_number("--from=", arg, 1, most);
            return true;
        case KEY_TO:
            o->to = parse_number("--to=", arg, 1, most);
            return true;
        case KEY_STEP:
            o->step = parse_number("--step=", arg, 1, most);
            return true;
        case KEY_MESSAGE:
            o->message = parse_number("--message=", arg, 0, most);
            return true;
        case KEY_FRAGMENT:
            o->fragment = parse_number("--fragment=", arg, 1, most);
            return true;
        case KEY_SLOTS:
            o->slots = parse_number("--slots=", arg, 1, most);
            return true;
        case KEY_QUEUE:
            o->queue = parse_number("--queue=", arg, 1, most);
            return true;
        case KEY_SETS:
            o->sets = parse_number("--sets=", arg, 1, most);
            return true;
        case KEY_TABLE:
            o->table = true;
            return true;
        case KEY_WAIT_SET:
            o->costs.set = parse_nanoseconds("--wait-set=", arg);
            return true;
        case KEY_LEAVE:
            o->costs.leave = parse_nanoseconds("--leave=", arg);
            return true;
        case KEY_NOTICE:
            o->costs.notice = parse_nanoseconds("--notice=", arg);
            return true;
        case KEY_BYTE:
            o->costs.byte = parse_nanoseconds("--byte=", arg);
            return true;
        case KEY_DEGREE:
            o->degree = argument_number("--degree=", arg, 2,
                                        o->command == PREDICT ? NC_LEVEL_SPEC_LARGEST_DEGREE
                                                              : MAX_RANKS);
            return true;
        case KEY_ALGORITHMS:
            parse_trees(o, arg);
            return true;
        case KEY_LINK:
            parse_link(o, arg);
            return true;
        default:
            return false;
    }
}

/* Without a stream argp does not add a line on --help to the one that says what is wrong, which is
 * getopt's; and it comes back instead of ending the process. */
static void parse_or_end(const struct argp *argp, int argc, char **argv, struct options *o)
{
    if (argp_parse(argp, argc, argv, 0, 0, o))
        exit(WRONG_ARGUMENTS);
}

static error_t parse_none(int key, char *arg, struct argp_state *state)
{
    (void) arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->err_stream = NULL;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    if (key >= KEY_CSV && key < KEYS)
        o->given |= (uint64_t) 1 << (key - KEY_CSV);
    switch (key) {
        case 'n':
            o->given |= (uint64_t) 1 << (KEY_RANKS - KEY_CSV);
            o->ranks = argument_number("-n ", arg, 1, MAX_RANKS);
            break;
        case KEY_LINES:
            parse_links(&o->lines, "--lines=", arg);
            break;
        case KEY_LINKS:
            parse_links(&o->links, "--links=", arg);
            break;
        case KEY_TURN:
            o->turn = parse_nanoseconds("--turn=", arg);
            break;
        case KEY_COMBINE:
            o->combine = parse_nanoseconds("--combine=", arg);
            break;
        case KEY_MEMORY:
            o->memory = parse_nanoseconds("--memory=", arg);
            break;
        case KEY_CALL:
            o->call = parse_nanoseconds("--call=", arg);
            break;
        case KEY_CACHED:
            o->cached = parse_nanoseconds("--cached=", arg);
            break;
        case KEY_STREAMING:
            o->streaming = parse_number("--streaming=", arg, 0, INT32_MAX);
            break;
        case KEY_FRAGMENT_RULE:
            o->rule = (enum nc_frag_rule) parse_word("--fragment-rule=", arg, rule_names, 3);
            break;
        case KEY_CSV:
            o->output = OUTPUT_CSV;
            break;
        case KEY_JSON:
            o->output = OUTPUT_JSON;
            break;
        case KEY_PLOT:
            parse_plot(o, arg);
            break;
        case ARGP_KEY_INIT:
            set_defaults(o);
            state->err_stream = NULL;
            state->child_inputs[0] = &o->cluster;
            break;
        case ARGP_KEY_ARG:
            parse_argument(o, arg, state->arg_num);
            break;
        case ARGP_KEY_END:
            finish(o, state->arg_num);
            break;
        default:
            return parse_formula(o, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The command that the first word names. The options of one that begins with no command are --help
 * and --version. */
static void find_command(struct options *o, int argc, char **argv)
{
    static const char doc[] =
        "Commands: queue, tree (the formulas of the papers), barrier, messages, predict, why (any "
        "machine). "
        "numacoll-model COMMAND --help lists the options of a command.\v"
        "Exit status 2, after one line: a wrong word or option.";
    const struct argp all = {0, parse_none, "COMMAND [OPTION...]", doc, 0, 0, 0};
    const char *names[COMMANDS];

    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    if (argc > 1 && argv[1][0] == '-' && argv[1][1])
        parse_or_end(&all, 2, argv, NULL);
    if (argc < 2)
        errx(WRONG_ARGUMENTS,
             "COMMAND: must be one of queue, tree, barrier, messages, predict, why");
    o->command = (enum command) parse_word("COMMAND ", argv[1], names, COMMANDS);
}

void options_parse(struct options *o, int argc, char **argv)
{
    static const struct argp_child machine[] = {{&cluster_argp, 0, 0, 0}, {0, 0, 0, 0}},
                                   none[] = {{0, 0, 0, 0}};
    struct argp_option of_command[CHOICES + 1] = {{0}};
    struct argp argp = {of_command, parse, 0, 0, none, 0, 0};
    int n = 0;

    argp_err_exit_status = WRONG_ARGUMENTS;
    argv[0] = program_invocation_short_name; /* what getopt says begins with it */
    find_command(o, argc, argv);
    for (int i = 0; i < CHOICES; i++) {
        if (choices[i].commands >> o->command & 1)
            of_command[n++] = choices[i].option;
    }
    argp.args_doc = commands[o->command].collectives ? WORDS : "";
    argp.doc = commands[o->command].doc;
    if (OF_MACHINE >> o->command & 1)
        argp.children = machine;
    if (asprintf(&argv[1], "%s %s", argv[0], commands[o->command].name) < 0)
        errx(EXIT_FAILURE, "no memory");
    parse_or_end(&argp, argc - 1, argv + 1, o);
}
