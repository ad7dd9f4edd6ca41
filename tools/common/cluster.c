/* Parses the options that describe machines, and makes the table of locations of all ranks from
 * them: the machine, the mapping, the nodes and the network file. See cluster.h. */

#include "cluster.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "core/nc_netfile.h"
#include "mpich/machine.h"

/* ---- options ---- */

enum {
    KEY_SYNTHETIC = 512, /* beyond the keys of the tools */
    KEY_XML,
    KEY_TOPOLOGY,
    KEY_THIS,
    KEY_NODES,
    KEY_NETWORK,
    KEY_LEVELS
};

static const struct argp_option choices[] = {
    {"this", KEY_THIS, 0, 0, "each node is as this machine (the default)", 0},
    {"synthetic", KEY_SYNTHETIC, "S", 0,
     "each node is as this string of hwloc describes: "
     "\"package:2 numa:2 core:32 pu:1\"",
     0},
    {"xml", KEY_XML, "F", 0, "each node is as this XML file of hwloc describes (lstopo F.xml)", 0},
    {"topology", KEY_TOPOLOGY, "T", 0, "as TOPOLOGY: synthetic:S or xml:F", 0},
    {"map-by", 'm', "HOW", 0,
     "where the ranks of a node are: core (core after core), numa, "
     "package (dealt out in turn) or list:PROCESSOR,PROCESSOR,.. (core)",
     0},
    {"np", 'n', "P", 0, "ranks (one for each processor)", 0},
    {"nodes", KEY_NODES, "A,B,..", 0,
     "names of the nodes; each takes a rank for each core before "
     "the next one is filled (those of the network file, or one)",
     0},
    {"network", KEY_NETWORK, "F", 0,
     "which switches join the nodes: lines of NODE SWITCH1 "
     "[SWITCH2 ..]",
     0},
    {"levels", KEY_LEVELS, "L,..", 0,
     "the levels that may be used, of l2, l3, numa, package, "
     "node, switch1, .. (all)",
     0},
    {0, 0, 0, 0, 0, 0}};

/* Takes the topology KIND:TEXT. */
static void describe(struct cluster_options *o, const char *kind, const char *text)
{
    char *topology, *given;

    if (asprintf(&topology, "%s:%s", kind, text) < 0 || asprintf(&given, "--%s=%s", kind, text) < 0)
        errx(EXIT_FAILURE, "no memory");
    o->topology = topology;
    o->given = given;
}

static void parse_topology(struct cluster_options *o, const char *text)
{
    char *given;

    if (strncmp(text, "synthetic:", strlen("synthetic:")) && strncmp(text, "xml:", strlen("xml:")))
        errx(argp_err_exit_status, "--topology=%s: must be synthetic:S or xml:F", text);
    if (asprintf(&given, "--topology=%s", text) < 0)
        errx(EXIT_FAILURE, "no memory");
    o->topology = text;
    o->given = given;
}

static void parse_levels(struct cluster_options *o, const char *text)
{
    char error[512];

    if (!nc_levels_parse(text, &o->levels, error, sizeof error))
        errx(argp_err_exit_status, "--levels=%s: %s", text, error);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cluster_options *o = state->input;

    switch (key) {
        case KEY_SYNTHETIC:
            describe(o, "synthetic", arg);
            break;
        case KEY_XML:
            describe(o, "xml", arg);
            break;
        case KEY_TOPOLOGY:
            parse_topology(o, arg);
            break;
        case KEY_THIS:
            o->topology = "";
            o->given = "--this";
            break;
        case 'm':
            o->mapping = arg;
            break;
        case 'n':
            o->ranks = argument_number("-n ", arg, 1, MAX_RANKS);
            break;
        case KEY_NODES:
            o->nodes = arg;
            break;
        case KEY_NETWORK:
            o->network = arg;
            break;
        case KEY_LEVELS:
            parse_levels(o, arg);
            break;
        case ARGP_KEY_INIT:
            *o = (struct cluster_options){
                .topology = "", .given = "--this", .mapping = "core", .levels = NC_LEVELS_ALL};
            break;
        default:
            return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cluster_argp = {choices, parse, 0, 0, 0, 0, 0};

/* ---- the machine ---- */

static struct nc_machine *load(const struct cluster_options *o)
{
    char error[1024];
    struct nc_machine *machine = nc_machine_load(o->topology, error, sizeof error);
    const char *problem;

    if (machine)
        return machine;
    /* errors of mpich/machine.c begin with the value of TOPOLOGY */
    problem = error + strlen(o->topology);
    if (!strncmp(o->topology, "synthetic:", strlen("synthetic:")))
        problem = ": must be a synthetic topology of hwloc, such as "
                  "\"package:2 numa:2 core:32 pu:1\"";
    errx(argp_err_exit_status, "%s%s", o->given, problem);
}

/* The processor of each rank on a node. */
static int *map(const struct nc_machine *machine, const char *mapping, int ranks)
{
    int *processor = allocate(sizeof *processor * (size_t) ranks);
    char error[1024];

    if (!nc_machine_map(machine, mapping, ranks, processor, error, sizeof error))
        errx(argp_err_exit_status, "--map-by=%s", error);
    return processor;
}

/* The number of cores: ranks mapped by core until the mapping starts again with the first core. (A
 * single core with several processors counts as several cores.) */
static int count_cores(const struct nc_machine *machine)
{
    int processors = nc_machine_processors(machine), cores = 1;
    int *processor = map(machine, "core", processors);

    while (cores < processors && processor[cores] > processor[cores - 1])
        cores++;
    free(processor);
    return cores;
}

/* ---- the network ---- */

static const char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    /* the delimiter is NUL, so that it reads the whole file */
    ssize_t read = f ? getdelim(&text, &size, 0, f) : -1;

    if (!f || ferror(f))
        err(argp_err_exit_status, "--network=%s: must be a file that can be read", path);
    fclose(f);
    return read > 0 ? text : "";
}

static void read_network(struct nc_netfile *file, const char *path)
{
    const char *text = read_file(path);
    char error[1024];

    if (!nc_netfile_parse(file, allocate(nc_netfile_bytes(text)), text, error, sizeof error))
        errx(argp_err_exit_status, "--network=%s: %s", path, error);
    if (file->columns == 0)
        errx(argp_err_exit_status, "--network=%s: must have a line for each node", path);
}

/* ---- the nodes ---- */

static void name_nodes(struct cluster *c, const char *list)
{
    char *rest = strcpy(allocate(strlen(list) + 1), list), *name;

    c->name = allocate(sizeof *c->name * (strlen(list) + 1));
    while ((name = strsep(&rest, ","))) {
        for (int i = 0; i < c->nodes; i++) {
            if (!strcmp(c->name[i], name))
                errx(argp_err_exit_status, "--nodes=%s: %s: must be there once", list, name);
        }
        if (!*name)
            errx(argp_err_exit_status, "--nodes=%s: must be names with single commas between",
                 list);
        c->name[c->nodes++] = name;
    }
}

static void take_nodes_of_file(struct cluster *c, const struct nc_netfile *file)
{
    c->name = allocate(sizeof *c->name * (size_t) file->count[0]);
    for (int i = 0; i < file->names; i++) {
        if (file->name[i].column == 0)
            c->name[c->nodes++] = strndup(file->name[i].text, (size_t) file->name[i].length);
    }
}

/* ---- the ranks ---- */

static int count_ranks(const struct cluster *c, const struct cluster_options *o, int processors)
{
    long long ranks = o->ranks ? o->ranks : (long long) c->nodes * processors;

    if (ranks > MAX_RANKS)
        errx(argp_err_exit_status, "-n: must be given, 1 to %d: there are %lld processors",
             MAX_RANKS, ranks);
    return (int) ranks;
}

struct seat {
    int node;
    int local_rank;
};

/* The seat of a rank: ranks fill the nodes in turn, `cores` ranks at a time. */
static struct seat seat_of(int rank, int nodes, int cores)
{
    int turn = rank / cores;

    return (struct seat){turn % nodes, turn / nodes * cores + rank % cores};
}

static int count_on_first(int ranks, int nodes, int cores)
{
    int n = 0;

    for (int rank = 0; rank < ranks; rank++)
        n += seat_of(rank, nodes, cores).node == 0;
    return n;
}

/* Takes the nodes from the options. A network file must have all of them. */
static void take_nodes(struct cluster *c, struct nc_netfile *file, const struct cluster_options *o)
{
    int switches[NC_SWITCHES];

    if (o->network)
        read_network(file, o->network);
    if (o->network && !o->nodes)
        take_nodes_of_file(c, file);
    else
        name_nodes(c, o->nodes ? o->nodes : "node0");
    for (int i = 0; i < c->nodes && o->network; i++) {
        if (!nc_netfile_find(file, c->name[i], switches))
            errx(argp_err_exit_status, "--network=%s: must have a line for node %s", o->network,
                 c->name[i]);
    }
}

/* Writes the units of a rank on all levels to unit[]. */
static void locate(const struct cluster *c, const struct nc_machine *machine, int processor,
                   int node, const struct nc_netfile *file, int *unit)
{
    nc_machine_units(machine, processor, unit);
    unit[NC_LEVEL_NODE] = node;
    if (file->columns > 0)
        nc_netfile_find(file, c->name[node], unit + NC_LEVEL_SWITCH1);
}

void cluster_make(struct cluster *c, const struct cluster_options *o)
{
    struct nc_machine *machine = load(o);
    struct nc_netfile file = {0};
    int ranks, cores, columns, *processor, *unit;

    take_nodes(c, &file, o);
    ranks = count_ranks(c, o, nc_machine_processors(machine));
    cores = c->nodes > 1 ? count_cores(machine) : ranks;
    c->largest = count_on_first(ranks, c->nodes, cores);
    processor = map(machine, o->mapping, c->largest);

    columns = NC_LEVEL_NODE + (file.columns ? file.columns : 1);
    unit = allocate(sizeof *unit * (size_t) ranks * (size_t) columns);
    c->locations = (struct nc_locations){.ranks = ranks, .columns = columns, .unit = unit};
    for (int rank = 0; rank < ranks; rank++) {
        struct seat seat = seat_of(rank, c->nodes, cores);

        locate(c, machine, processor[seat.local_rank], seat.node, &file,
               unit + (size_t) rank * (size_t) columns);
    }
    c->processors = nc_machine_processors(machine);
    c->l2_bytes = nc_machine_cache_bytes(machine, NC_CACHE_L2);
    nc_machine_free(machine);
}

int cluster_node(const struct cluster *c, int rank)
{
    return c->locations.unit[(size_t) rank * (size_t) c->locations.columns + NC_LEVEL_NODE];
}

struct nc_topo cluster_levels(const struct cluster *c, unsigned levels)
{
    struct nc_topo topo;

    nc_topo_make(&topo, allocate(nc_topo_bytes(&c->locations)), &c->locations, levels);
    return topo;
}

bool cluster_shorten(struct nc_geometry *g, size_t taken, size_t budget, uint32_t least)
{
    while (taken + nc_layout_bytes(g) > nc_geometry_share(g, false, budget)) {
        if (!nc_geometry_shorten(g) || g->slots < least)
            return false;
    }
    return true;
}
