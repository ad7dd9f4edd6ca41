/* Where the ranks are: on this machine or an assumed one, and in the network. See location.h.
 *
 * On this machine the affinity masks of the ranks tell it. If the masks of some rank do not, the
 * launcher is asked for all ranks of the node (locality.c). The two sources may number units
 * differently, so the ranks of a node never mix them.
 *
 * MPICH has loaded hwloc's topology in every process. A topology that the user describes is loaded
 * only by the process that fills the table of a communicator's node, and at MPI_Init by local rank
 * 0, so that a wrong description is an error of MPI_Init. */

#include "location.h"

#include <errno.h>
#include <pthread.h>

#include "diag.h"
#include "locality.h"
#include "machine.h"
#include "text_file.h"
#include "../core/nc_netfile.h"
#include "numacoll_mpir.h"

/* Threads may set up communicators at the same time: the lock protects all of these but `masks`,
 * which stays as it is from MPI_Init on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nc_machine *machine; /* NULL until this process needs it */
static bool unusable;              /* the machine could not be loaded */
static int *processors;            /* [local_size] where a MAPPING puts the local ranks, or NULL */
static char *mapped;               /* the mapping that `processors` was made by */
/* [local_size][NC_MACHINE_LEVELS] the units that the local ranks are in by `processors` and by
 * `masks`, kept as each look goes through all units of the machine; NULL: not looked up */
static int *places[2];
static const struct nc_masks *masks; /* affinity masks of the local ranks, or NULL */

static struct {
    bool loaded;
    int switches[NC_SWITCHES]; /* of this node, -1: no switch on that level */
    int checksum;              /* of the file's text; 0: no file */
} network;

static bool is_binding(const char *mapping)
{
    return !*mapping || !strcmp(mapping, "binding");
}

/* Writes a line whatever this process's rank: only this process has looked. Always false. */
static bool complain(const char *variable, const char *problem)
{
    MPIDI_NUMACOLL_complain(0, "MPIR_CVAR_NUMACOLL_%s: %s", variable, problem);
    return false;
}

/* ---- machine and mapping ---- */

/* Loads the machine, once in a process. False, the first time with a line: it cannot be loaded. */
static bool load(void)
{
    char problem[512];

    if (unusable)
        return false;
    if (!machine && !*MPIR_CVAR_NUMACOLL_TOPOLOGY && MPIR_numacoll_hwloc())
        machine = nc_machine_borrow(MPIR_numacoll_hwloc());
    if (!machine)
        machine = nc_machine_load(MPIR_CVAR_NUMACOLL_TOPOLOGY, problem, sizeof problem);
    unusable = !machine;
    return machine || complain("TOPOLOGY", problem);
}

static void forget_mapping(void)
{
    MPL_free(processors);
    MPL_free(mapped);
    MPL_free(places[false]);
    processors = places[false] = NULL;
    mapped = NULL;
}

/* Fills `processors` by a mapping, unless that has been done. False, and a line: the mapping is
 * wrong. */
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

bool MPIDI_NUMACOLL_mapping_fits(const char *mapping, char *problem, size_t size)
{
    bool fits = true;
    int *where = MPL_malloc(sizeof *where * (size_t) MPIR_Process.local_size, MPL_MEM_OTHER);

    pthread_mutex_lock(&lock);
    if (is_binding(mapping) && *MPIR_CVAR_NUMACOLL_TOPOLOGY) {
        snprintf(problem, size, "ranks are not bound on a machine that TOPOLOGY assumes");
        fits = false;
    } else if (!is_binding(mapping) && where && load()) {
        fits = nc_machine_map(machine, mapping, MPIR_Process.local_size, where, problem, size);
    }
    pthread_mutex_unlock(&lock);
    MPL_free(where);
    return fits;
}

/* Checks at MPI_Init that TOPOLOGY and MAPPING fit each other and can be used; a line if not. */
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

/* This node's name in the network file: the host's; with MPIR_CVAR_NUM_CLIQUES HOST.i. */
static void node_name(char *name, size_t size)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (MPIR_CVAR_NUM_CLIQUES > 1)
        snprintf(name, size, "%s.%d", host, MPIR_Process.node_map[MPIR_Process.rank]);
    else
        snprintf(name, size, "%s", host);
}

/* Fills network.switches from the text of the network file; a line if that is not possible. */
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
        snprintf(problem, sizeof problem, "%s: must be a regular file that can be read: %s",
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

bool MPIDI_NUMACOLL_locations_check(void)
{
    unusable = false;
    network.loaded = false;
    network.checksum = 0;
    for (int i = 0; i < NC_SWITCHES; i++)
        network.switches[i] = -1;
    return MPIR_Process.local_rank != 0 || (check_machine() && load_network());
}

void MPIDI_NUMACOLL_locations_init(const struct nc_masks *all_masks)
{
    masks = all_masks;
}

void MPIDI_NUMACOLL_locations_finalize(void)
{
    nc_machine_free(machine);
    forget_mapping();
    MPL_free(places[true]);
    places[true] = NULL;
    machine = NULL;
    masks = NULL;
}

/* ---- a communicator's ranks ---- */

/* The table that the process of rank 0 fills and broadcasts: COLUMNS ints for each rank, then EXTRA
 * ints. */
enum { COLUMNS = NC_LEVELS };
enum { CHECKSUM, LAST_KIB, PROCESSORS, L2_KIB, EXTRA };

/* Looks up the units inside the node that a local rank is in, by its affinity mask or by the
 * mapping. -1 without a machine. */
static void look_up(int local_rank, bool bound, int *unit)
{
    for (int level = 0; level < NC_MACHINE_LEVELS; level++)
        unit[level] = -1;
    if (machine && !bound && processors)
        nc_machine_units(machine, processors[local_rank], unit);
    else if (machine && bound && masks)
        nc_machine_units_of_mask(machine, nc_masks_of(masks, local_rank), masks->words, unit);
}

/* Looks up all local ranks, unless that has been done. Without memory nothing is kept. */
static void look_up_places(bool bound)
{
    size_t n = (size_t) MPIR_Process.local_size;

    if (places[bound])
        return;
    places[bound] = MPL_malloc(n * NC_MACHINE_LEVELS * sizeof(int), MPL_MEM_OTHER);
    for (size_t r = 0; r < n && places[bound]; r++)
        look_up((int) r, bound, places[bound] + r * NC_MACHINE_LEVELS);
}

/* Fills the row of a local rank, in the process that has loaded machine and network. */
static void fill_row(int local_rank, bool bound, int *unit)
{
    if (places[bound])
        memcpy(unit, places[bound] + local_rank * NC_MACHINE_LEVELS,
               NC_MACHINE_LEVELS * sizeof *unit);
    else
        look_up(local_rank, bound, unit);
    unit[NC_LEVEL_NODE] = 0;
    memcpy(unit + NC_LEVEL_SWITCH1, network.switches, sizeof network.switches);
}

static void fill_rows(int *units, const int *local_rank, int ranks, bool bound)
{
    look_up_places(bound);
    for (int i = 0; i < ranks; i++)
        fill_row(local_rank[i], bound, units + i * COLUMNS);
}

/* The caches, for the table; 0 for an assumed machine, whose caches are not those that the
 * processes run on. */
static void fill_caches(int *extra)
{
    bool known = machine && !*MPIR_CVAR_NUMACOLL_TOPOLOGY;

    extra[LAST_KIB] = known ? (int) (nc_machine_cache_bytes(machine, NC_CACHE_LAST) >> 10) : 0;
    extra[L2_KIB] = known ? (int) (nc_machine_cache_bytes(machine, NC_CACHE_L2) >> 10) : 0;
    extra[PROCESSORS] = known ? nc_machine_cache_processors(machine) : 0;
}

/* Whether the units of every rank tell where it is. */
static bool all_told(const int *units, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        if (!machine || !nc_machine_tells(machine, units + i * COLUMNS))
            return false;
    }
    return true;
}

/* Fills the units inside the node by what the launcher says. False: it does not know some rank;
 * then the rows filled so far are spoilt. */
static bool ask_launcher(int *units, const int *local_rank, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        if (!MPIDI_NUMACOLL_locality_get(local_rank[i], units + i * COLUMNS))
            return false;
    }
    return true;
}

/* Fills the table, on rank 0 of node_comm. */
static void fill(int *units, const int *local_rank, int ranks, const char *mapping)
{
    bool bound = is_binding(mapping);

    pthread_mutex_lock(&lock);
    if (load() && !bound)
        map(mapping);
    load_network();
    fill_rows(units, local_rank, ranks, bound);
    if (bound && !all_told(units, ranks) && !ask_launcher(units, local_rank, ranks))
        fill_rows(units, local_rank, ranks, bound);
    fill_caches(units + ranks * COLUMNS);
    units[ranks * COLUMNS + CHECKSUM] = network.checksum;
    pthread_mutex_unlock(&lock);
}

int MPIDI_NUMACOLL_network_checksum(void)
{
    int checksum;

    pthread_mutex_lock(&lock);
    checksum = network.checksum;
    pthread_mutex_unlock(&lock);
    return checksum;
}

size_t MPIDI_NUMACOLL_locate_ints(int ranks)
{
    return (size_t) ranks * COLUMNS + EXTRA;
}

int MPIDI_NUMACOLL_locate(MPIR_Comm *node_comm, const int *local_rank, const char *mapping,
                          int *units, struct nc_caches *caches)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, ranks = node_comm ? node_comm->local_size : 1;
    const int *extra = units + ranks * COLUMNS;

    if (!node_comm || node_comm->rank == 0)
        fill(units, local_rank, ranks, mapping);
    if (node_comm)
        mpi_errno = MPIR_Bcast_intra_binomial(units, ranks * COLUMNS + EXTRA, NC_TYPE_INT, 0,
                                              node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *caches = (struct nc_caches){.last = (size_t) extra[LAST_KIB] << 10,
                                 .processors = extra[PROCESSORS],
                                 .l2 = (size_t) extra[L2_KIB] << 10};
    pthread_mutex_lock(&lock);
    network.checksum = extra[CHECKSUM];
    pthread_mutex_unlock(&lock);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
