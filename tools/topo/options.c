/* Parses the command line of numacoll-topo. What depends on the machine is checked in
 * common/cluster.c and hierarchy.c. */

#include "topo.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/nc_variable.h"

const char *argp_program_version = "numacoll-topo " NUMACOLL_VERSION;
static const char doc[] =
    "Show the groups that numacoll forms of the ranks of a job, on this machine or any other, "
    "without mpiexec. Defaults are in parentheses.\v"
    "Of options that exclude each other the last one counts. Exit status 1, after one line: a "
    "wrong option, or a file that cannot be used.";

enum { KEY_ROOT = 256, KEY_RANK, KEY_JSON, KEY_DOT, KEY_SETTING };

static const struct argp_option choices[] = {
    {"root", KEY_ROOT, "R", 0, "the root of the call (0)", 0},
    {"rank", KEY_RANK, "R", 0, "whose groups are listed (of each lowest group two)", 0},
    {"slots", KEY_SETTING + SET_SLOTS, "S", 0, "QUEUE_LENGTH", 1},
    {"fragment", KEY_SETTING + SET_FRAGMENT, "F", 0, "FRAGMENT_SIZE", 1},
    {"sets", KEY_SETTING + SET_SETS, "Q", 0, "QUEUE_SETS", 1},
    {"budget", KEY_SETTING + SET_BUDGET, "B", 0, "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE", 1},
    {"tree", KEY_SETTING + SET_TREE, "KIND", 0, "BCAST_TREE", 1},
    {"degree", KEY_SETTING + SET_DEGREE, "K", 0, "BCAST_TREE_K", 1},
    {"json", KEY_JSON, 0, 0, "write JSON", 2},
    {"dot", KEY_DOT, 0, 0, "write the groups as a graph for Graphviz", 2},
    {0, 0, 0, 0, 0, 0}};

/* ---- settings ---- */

/* Ranges and defaults are those of cvars.yaml, and test/mpi/topo checks that. */
static const struct {
    struct nc_variable variable;
    int value;
} settings[SETTINGS] = {
    [SET_SLOTS] = {{"slots", NC_KIND_INT, NC_PER_COMMUNICATOR, 0, 4096, "slots", NULL}, 0},
    [SET_FRAGMENT] = {{"fragment", NC_KIND_INT, NC_PER_COMMUNICATOR, -1, 16777216, "bytes", NULL},
                      -1},
    [SET_SETS] = {{"sets", NC_KIND_INT, NC_PER_COMMUNICATOR, 1, 64, "sets", NULL}, 2},
    [SET_TREE] = {{"tree", NC_KIND_ENUM, NC_PER_CALL, 0, 4, "", "flat kary balanced knomial chain"},
                  NC_TREE_KNOMIAL},
    [SET_BUDGET] = {{"budget", NC_KIND_INT, NC_PER_COMMUNICATOR, 0, 2097151, "KiB", NULL}, 65536},
    [SET_DEGREE] = {{"degree", NC_KIND_INT, NC_PER_CALL, 2, 128, "degree", NULL}, 8},
};

static void parse_setting(struct options *o, int i, const char *text)
{
    char allowed[128];

    if (nc_variable_parse(&settings[i].variable, text, &o->setting[i]))
        return;
    nc_variable_allowed(&settings[i].variable, allowed, sizeof allowed);
    errx(EXIT_FAILURE, "--%s=%s: must be %s", settings[i].variable.name, text, allowed);
}

const char *options_setting(const struct options *o, enum setting setting)
{
    static char text[32];

    nc_variable_format(&settings[setting].variable, o->setting[setting], text, sizeof text);
    return text;
}

/* The help of an option that is a setting: the variable, what it allows, and the default. */
static char *help(int key, const char *text, void *input)
{
    int i = key - KEY_SETTING;
    char allowed[128], value[32], *whole;

    (void) input;
    if (i < 0 || i >= SETTINGS)
        return (char *) text;
    nc_variable_allowed(&settings[i].variable, allowed, sizeof allowed);
    nc_variable_format(&settings[i].variable, settings[i].value, value, sizeof value);
    return asprintf(&whole, "as %s: %s (%s)", text, allowed, value) < 0 ? NULL : whole;
}

static void set_defaults(struct options *o)
{
    *o = (struct options){.root = "0"};
    for (int i = 0; i < SETTINGS; i++)
        o->setting[i] = settings[i].value;
}

/* ---- all of it ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
        case KEY_ROOT:
            o->root = arg;
            break;
        case KEY_RANK:
            o->rank = arg;
            break;
        case KEY_JSON:
            o->output = OUTPUT_JSON;
            break;
        case KEY_DOT:
            o->output = OUTPUT_DOT;
            break;
        case ARGP_KEY_END:
            if (o->rank && o->output != OUTPUT_TEXT)
                errx(EXIT_FAILURE,
                     "--rank: must be without --json and --dot, which have all ranks");
            break;
        case ARGP_KEY_ARG:
            errx(EXIT_FAILURE, "%s: must be an option; --help lists them", arg);
        case ARGP_KEY_INIT:
            set_defaults(o);
            state->child_inputs[0] = &o->cluster;
            break;
        default:
            if (key < KEY_SETTING || key >= KEY_SETTING + SETTINGS)
                return ARGP_ERR_UNKNOWN;
            parse_setting(o, key - KEY_SETTING, arg);
    }
    return 0;
}

void options_parse(struct options *o, int argc, char **argv)
{
    static const struct argp_child children[] = {{&cluster_argp, 0, 0, 0}, {0, 0, 0, 0}};
    static const struct argp argp = {choices, parse, 0, doc, children, help, 0};

    argp_err_exit_status = EXIT_FAILURE;
    argp_parse(&argp, argc, argv, 0, 0, o);
}
