/* Where the ranks are: on this machine or an assumed one, and in the network.
 *
 * On this machine their affinity masks say it, or, where these say nothing of some rank, what the
 * launcher says of all (locality.c): the two may number units differently, and are not mixed among
 * the ranks of a node.
 *
 * MPICH has loaded hwloc's topology in every process. One that the user describes instead is loaded
 * by one process of a communicator's node when its segment is made, and by local rank 0 at the
 * start, so that an error is one of MPI_Init. */

#include "location.h"

#include <errno.h>

#include "diag.h"
#include "locality.h"
#include "machine.h"
#include "text_file.h"
#include "../core/nc_netfile.h"
#include "numacoll_mpir.h"

static struct nc_machine *machine; /* NULL until it is needed in this process */
static int *processors;            /* [local_size] where a MAPPING puts the local ranks, or NULL */
static char *mapped;               /* that mapping */
static struct nc_cpus *masks;      /* [local_size] affinity masks of the local ranks */

static struct {
    bool loaded;
    int switches[NC_SWITCHES]; /* of this node, -1 where there is none */
    int checksum;              /* of the file's text, 0 without one */
} network;

static bool is_binding(const char *mapping)
{
    return !*mapping || !strcmp(mapping, "binding");
}

/* Only this process has looked. */
static bool complain(const char *variable, const char *problem)
{
    MPIDI_NUMACOLL_complain(0, "MPIR_CVAR_NUMACOLL_%s: %s", variable, problem);
    return false;
}

/* ---- machine and mapping ---- */

static bool load(void)
{
    char problem[512];

    if (!machine && !*MPIR_CVAR_NUMACOLL_TOPOLOGY && MPIR_numacoll_hwloc())
        machine = nc_machine_borrow(MPIR_numacoll_hwloc());
    if (!machine)
        machine = nc_machine_load(MPIR_CVAR_NUMACOLL_TOPOLOGY, problem, sizeof problem);
    return machine || complain("TOPOLOGY", problem);
}

static void forget_mapping(void)
{
    MPL_free(processors);
    MPL_free(mapped);
    processors = NULL;
    mapped = NULL;
}

/* Makes processors those of a mapping, if they are not. */
static bool map(const char *mapping)
{
    char problem[512];

    if (mapped && !strcmp(mapped, mapping))
        return true;
    forget_mapping();
    processors = MPL_malloc(sizeof *processors * (size_t) MPIR_Process.local_size, MPL_MEM_OTHER);
    mapped = MPL_strdup(mapping);
    if (!processors || !mapped)
        snprintf(problem, sizeof problem, "no memory");
    else if (nc_machine_map(machine, mapping, MPIR_Process.local_size, processors, problem,
                            sizeof problem))
        return true;
    forget_mapping();
    return complain("MAPPING", problem);
}

/* What the user describes can be loaded, and has the processors. */
static bool check_machine(void)
{
    const char *mapping = MPIR_CVAR_NUMACOLL_MAPPING;

    if (is_binding(mapping) && *MPIR_CVAR_NUMACOLL_TOPOLOGY)
        return complain(
            "TOPOLOGY",
            "must have MPIR_CVAR_NUMACOLL_MAPPING=core, numa, package or list:.. beside it: "
            "ranks are not bound on a machine that is assumed");
    return is_binding(mapping) || (load() && map(mapping));
}

/* ---- network ---- */

/* This node's name in the network file. */
static void node_name(char *name, size_t size)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (MPIR_CVAR_NUM_CLIQUES > 1)
        snprintf(name, size, "%s.%d", host, MPIR_Process.node_map[MPIR_Process.rank]);
    else
        snprintf(name, size, "%s", host);
}

/* The switches this node is under, by the text of the file. */
static bool find_switches(const char *text)
{
    char problem[512] = "", line[1024], name[300];
    struct nc_netfile file;
    void *memory = MPL_malloc(nc_netfile_bytes(text), MPL_MEM_OTHER);
    bool good = false;

    node_name(name, sizeof name);
    if (!memory)
        snprintf(problem, sizeof problem, "no memory");
    else if (nc_netfile_parse(&file, memory, text, problem, sizeof problem) &&
             !(good = nc_netfile_find(&file, name, network.switches)))
        snprintf(problem, sizeof problem, "must have a line for node %s", name);
    MPL_free(memory);
    snprintf(line, sizeof line, "%s: %s", MPIR_CVAR_NUMACOLL_NETWORK_FILE, problem);
    return good || complain("NETWORK_FILE", line);
}

/* Reads the network file, once in a process. */
static bool load_network(void)
{
    char problem[512];
    char *text;
    bool good;

    if (network.loaded || !*MPIR_CVAR_NUMACOLL_NETWORK_FILE)
        return true;
    network.loaded = true;
    text = MPIDI_NUMACOLL_text_file_read(MPIR_CVAR_NUMACOLL_NETWORK_FILE);
    if (!text) {
        snprintf(problem, sizeof problem, "%s: must be a file that can be read: %s",
                 MPIR_CVAR_NUMACOLL_NETWORK_FILE, strerror(errno));
        return complain("NETWORK_FILE", problem);
    }
    good = find_switches(text);
    if (good)
        network.checksum = (int) MPIDI_NUMACOLL_text_checksum(text);
    MPL_free(text);
    return good;
}

/* ---- start and end ---- */

int MPIDI_NUMACOLL_locations_init(struct nc_cpus *all_masks)
{
    int mpi_errno = MPI_SUCCESS;
    bool good = true;

    masks = all_masks;
    network.loaded = false;
    network.checksum = 0;
    for (int i = 0; i < NC_SWITCHES; i++)
        network.switches[i] = -1;
    if (MPIR_Process.local_rank == 0)
        good = check_machine() && load_network();
    if (!good)
        MPIDI_NUMACOLL_pause_before_error(MPIR_Process.rank);
    MPIR_ERR_CHKANDJUMP(!good, mpi_errno, MPI_ERR_OTHER, "**other");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_locations_finalize(void)
{
    nc_machine_free(machine);
    forget_mapping();
    MPL_free(masks);
    machine = NULL;
    masks = NULL;
}

/* ---- a communicator's ranks ---- */

/* Columns of a rank in a table of locations, words behind the ranks; the ranks' numbers on this
 * node follow. */
enum { COLUMNS = NC_LEVELS, EXTRA = 2 };

/* The row of a local rank, in the process that loaded machine and network; -1 inside the node
 * without a machine. */
static void look_up(int local_rank, bool bound, int *unit)
{
    for (int level = 0; level < NC_MACHINE_LEVELS; level++)
        unit[level] = -1;
    if (machine && !bound && processors)
        nc_machine_units(machine, processors[local_rank], unit);
    else if (machine && bound && masks)
        nc_machine_units_of_mask(machine, &masks[local_rank], unit);
    unit[NC_LEVEL_NODE] = 0;
    memcpy(unit + NC_LEVEL_SWITCH1, network.switches, sizeof network.switches);
}

static void look_up_all(int *units, const int *local_rank, int ranks, bool bound)
{
    for (int i = 0; i < ranks; i++)
        look_up(local_rank[i], bound, units + i * COLUMNS);
}

/* hwloc's caches are the machine's; those of an assumed one are not. */
static int cache_kib(void)
{
    return machine && !*MPIR_CVAR_NUMACOLL_TOPOLOGY ? (int) (nc_machine_cache_bytes(machine) >> 10)
                                                    : 0;
}

/* The masks tell where each rank is. */
static bool all_told(const int *units, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        if (!machine || !nc_machine_tells(machine, units + i * COLUMNS))
            return false;
    }
    return true;
}

/* The units inside the node as the launcher knows them. False if it does not know them of all; then
 * rows are lost. */
static bool ask_launcher(int *units, const int *local_rank, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        if (!MPIDI_NUMACOLL_locality_get(local_rank[i], units + i * COLUMNS))
            return false;
    }
    return true;
}

static void fill(int *units, const int *local_rank, int ranks, const char *mapping)
{
    bool bound = is_binding(mapping);

    if (load() && !bound)
        map(mapping);
    load_network();
    look_up_all(units, local_rank, ranks, bound);
    if (bound && !all_told(units, ranks) && !ask_launcher(units, local_rank, ranks))
        look_up_all(units, local_rank, ranks, bound);
    units[ranks * COLUMNS] = cache_kib();
    units[ranks * COLUMNS + 1] = network.checksum;
}

int MPIDI_NUMACOLL_network_checksum(void)
{
    return network.checksum;
}

size_t MPIDI_NUMACOLL_locate_ints(int ranks)
{
    return (size_t) ranks * (COLUMNS + 1) + EXTRA;
}

int MPIDI_NUMACOLL_locate(MPIR_Comm *node_comm, const char *mapping, int *units,
                          size_t *cache_bytes)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, mine = MPIR_Process.local_rank,
        ranks = node_comm ? node_comm->local_size : 1;
    const int *extra = units + ranks * COLUMNS;
    int *local_rank = units + ranks * COLUMNS + EXTRA;

    local_rank[0] = mine;
    if (node_comm)
        mpi_errno = MPIR_Allgather_intra_brucks(&mine, 1, MPI_INT, local_rank, 1, MPI_INT,
                                                node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (!node_comm || node_comm->rank == 0)
        fill(units, local_rank, ranks, mapping);
    if (node_comm)
        mpi_errno = MPIR_Bcast_intra_binomial(units, ranks * COLUMNS + EXTRA, MPI_INT, 0, node_comm,
                                              errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (extra[0])
        *cache_bytes = (size_t) extra[0] << 10;
    network.checksum = extra[1];

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
