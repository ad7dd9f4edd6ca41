/* The levels and groups of all processes of a communicator, on however many nodes. */

#include "numacoll.h"

/* What a process tells all others: its row of locations, and what it was made from: network file
 * and LEVELS. */
enum { COLUMNS = NC_LEVELS + 1, FILE_COLUMN = NC_LEVELS };

static bool same_file(const int *rows, int ranks)
{
    for (int rank = 1; rank < ranks; rank++) {
        if (rows[rank * COLUMNS + FILE_COLUMN] != rows[FILE_COLUMN])
            return false;
    }
    return true;
}

/* Rows as nc_topo wants them: nodes are numbered by the communicator, and numbers of switches mean
 * nothing when they come from different files. */
static void finish_rows(int *rows, MPIR_Comm *comm)
{
    bool same = same_file(rows, comm->local_size);

    if (!same && comm->rank == 0)
        fprintf(stderr, "numacoll: NETWORK_FILE and LEVELS: must be the same on all nodes, the "
                        "file with the same text: "
                        "switches are not used\n");
    for (int rank = 0; rank < comm->local_size; rank++) {
        int *row = rows + rank * NC_LEVELS;
        memmove(row, rows + rank * COLUMNS, NC_LEVELS * sizeof(int));
        row[NC_LEVEL_NODE] = comm->node_count > 1 ? comm->internode_table[rank] : 0;
        for (int level = NC_LEVEL_SWITCH1; level < NC_LEVELS && !same; level++)
            row[level] = -1;
    }
}

/* Numbers the nodes in the order of the groups. `numbered` and `order` are memory for all ranks. */
static void number_nodes(struct nc_hierarchy *h, const struct nc_locations *l, int *numbered,
                         int *order, int me)
{
    memset(numbered, -1, (size_t) l->ranks * sizeof *numbered);
    nc_groups_in_order(&h->groups, order);
    h->nodes = 0;
    for (int i = 0; i < l->ranks; i++) {
        int unit = l->unit[order[i] * NC_LEVELS + NC_LEVEL_NODE];
        if (numbered[unit] < 0)
            numbered[unit] = h->nodes++;
        h->node_of[order[i]] = numbered[unit];
    }
    h->node = h->node_of[me];
}

/* Of each node its ranks, ascending. `filled` is memory for all nodes. */
static void list_members(struct nc_hierarchy *h, int ranks, int *filled)
{
    memset(h->first, 0, ((size_t) h->nodes + 1) * sizeof *h->first);
    for (int rank = 0; rank < ranks; rank++)
        h->first[h->node_of[rank] + 1]++;
    for (int node = 0; node < h->nodes; node++) {
        h->first[node + 1] += h->first[node];
        filled[node] = h->first[node];
    }
    for (int rank = 0; rank < ranks; rank++)
        h->member[filled[h->node_of[rank]]++] = rank;
}

/* The ranks of my node, then those of the one before it, and so on round. */
static void list_back(struct nc_hierarchy *h)
{
    int n = 0;

    for (int distance = 0; distance < h->nodes; distance++) {
        int node = nc_hierarchy_back(h, distance);
        for (int i = h->first[node]; i < h->first[node + 1]; i++)
            h->back[n++] = h->member[i];
    }
}

/* The levels above the node, and how large their groups are. */
static void measure_groups(struct nc_hierarchy *h)
{
    h->above = 0;
    for (int l = 0; l < h->groups.levels; l++) {
        h->above += h->name[l] <= NC_LEVEL_NODE;
        h->largest[l] = 1;
        for (int g = h->groups.level[l]; g < h->groups.level[l + 1]; g++) {
            int size = h->groups.first[g + 1] - h->groups.first[g];
            h->largest[l] = size > h->largest[l] ? size : h->largest[l];
        }
    }
}

static int most_on_a_node(const MPIR_Comm *comm)
{
    int most = 1, *ranks;
    bool counted;

    if (comm->node_count == 1)
        return comm->local_size;
    ranks = MPL_calloc((size_t) comm->node_count, sizeof *ranks, MPL_MEM_COLL);
    counted = ranks != NULL;
    for (int rank = 0; rank < comm->local_size && counted; rank++) {
        int here = ++ranks[comm->internode_table[rank]];
        most = here > most ? here : most;
    }
    MPL_free(ranks);
    return counted ? most : comm->local_size;
}

/* The parts of the memory that stays, and of that needed for the making, bytes from their starts.
 */
struct parts {
    size_t groups, lists, stream, typed, length, sent, leg, step, window, window_bytes, end;
    int legs;
    size_t rows, topo, numbered, made;
};

static struct parts parts_of(const MPIR_Comm *comm)
{
    size_t ranks = (size_t) comm->local_size, most = (size_t) most_on_a_node(comm);
    struct nc_locations locations = {.ranks = comm->local_size, .columns = NC_LEVELS};
    struct parts p = {.stream = 0};

    p.window_bytes = comm->node_count > 1 ? nc_window_bytes(most) : 0;
    p.typed = p.stream + most * sizeof(struct nc_stream);
    p.length = p.typed + most * sizeof(struct nc_typed);
    /* the members beside me of all groups I may be in are other nodes: as if one group had them all
     */
    p.legs = comm->node_count > 1 ? nc_schedule_most(comm->node_count) : 0;
    p.sent = p.length + most * sizeof(uint64_t);
    p.leg = p.sent + (size_t) (NC_LANES * NC_PLACES * p.legs) * sizeof(MPIR_Request *);
    p.step = p.leg + (size_t) (NC_LANES * p.legs) * sizeof(struct nc_leg);
    p.window = (p.step + (size_t) p.legs * sizeof(struct nc_step) + 63) / 64 * 64;
    p.groups = p.window + NC_WINDOWS * p.window_bytes;
    p.lists = p.groups + (nc_groups_most_bytes(comm->local_size, NC_LEVELS + 1) + 7) / 8 * 8;
    p.end = p.lists + (4 * ranks + 1) * sizeof(int);
    p.topo = p.rows + ranks * COLUMNS * sizeof(int);
    p.topo = (p.topo + 7) / 8 * 8;
    p.numbered = p.topo + (nc_topo_bytes(&locations) + 7) / 8 * 8;
    p.made = p.numbered + 2 * ranks * sizeof(int);
    return p;
}

bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *h, const MPIR_Comm *comm)
{
    struct parts p = parts_of(comm);
    int ranks = comm->local_size;

    h->memory = MPL_malloc(p.end, MPL_MEM_COLL);
    h->scratch = MPL_malloc(p.made, MPL_MEM_COLL);
    if (!h->memory || !h->scratch)
        return false;
    h->stream = (struct nc_stream *) ((char *) h->memory + p.stream);
    h->typed = (struct nc_typed *) ((char *) h->memory + p.typed);
    h->length = (uint64_t *) ((char *) h->memory + p.length);
    for (int i = 0; i < NC_WINDOWS; i++)
        h->window[i] = (char *) h->memory + p.window + (size_t) i * p.window_bytes;
    h->window_bytes = p.window_bytes;
    h->sent = (MPIR_Request **) ((char *) h->memory + p.sent);
    h->leg = (struct nc_leg *) ((char *) h->memory + p.leg);
    h->step = (struct nc_step *) ((char *) h->memory + p.step);
    h->legs = p.legs;
    h->node_of = (int *) ((char *) h->memory + p.lists);
    h->member = h->node_of + ranks;
    h->back = h->member + ranks;
    h->first = h->back + ranks;
    return true;
}

void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *h)
{
    MPL_free(h->memory);
    MPL_free(h->scratch);
    h->memory = h->scratch = NULL;
}

int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *h, const int *mine, unsigned levels,
                                  MPIR_Comm *comm)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, row[COLUMNS];
    struct parts p = parts_of(comm);
    char *scratch = h->scratch;
    int *rows = (int *) (scratch + p.rows), *numbered = (int *) (scratch + p.numbered);
    struct nc_locations locations = {.ranks = comm->local_size, .columns = NC_LEVELS, .unit = rows};
    struct nc_topo topo;

    memcpy(row, mine, NC_LEVELS * sizeof(int));
    row[FILE_COLUMN] = MPIDI_NUMACOLL_network_checksum() ^ (int) (levels * 2654435761u);
    mpi_errno = MPIR_Allgather_intra_brucks(row, COLUMNS, MPI_INT, rows, COLUMNS, MPI_INT, comm,
                                            errflag);
    MPIR_ERR_CHECK(mpi_errno);
    finish_rows(rows, comm);
    /* nodes are told apart whatever LEVELS says: they are not reached in the same way */
    nc_topo_make(&topo, scratch + p.topo, &locations, levels | 1u << NC_LEVEL_NODE);
    nc_groups_make(&h->groups, (char *) h->memory + p.groups, &topo);
    memcpy(h->name, topo.name, sizeof h->name);
    number_nodes(h, &locations, numbered, numbered + comm->local_size, comm->rank);
    list_members(h, comm->local_size, numbered);
    list_back(h);
    measure_groups(h);

fn_exit:
    MPL_free(h->scratch);
    h->scratch = NULL;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
