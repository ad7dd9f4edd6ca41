/* Makes the levels and groups of all processes of a communicator, on all nodes, and takes the
 * memory of messages between nodes. See hierarchy.h. */

#include "hierarchy.h"

#include "diag.h"
#include "location.h"
#include "../core/nc_arena.h"

/* What each process sends to all others: the units it is in, and a checksum of what these were made
 * from, the network file and LEVELS. */
enum { COLUMNS = NC_LEVELS + 1, FILE_COLUMN = NC_LEVELS };

/* Whether all ranks have the same checksum. */
static bool same_file(const int *rows, int ranks)
{
    for (int rank = 1; rank < ranks; rank++) {
        if (rows[rank * COLUMNS + FILE_COLUMN] != rows[FILE_COLUMN])
            return false;
    }
    return true;
}

/* Turns the rows of all ranks into those that nc_topo takes. Nodes get the communicator's numbers.
 * If the network files differ, the switches are dropped, because numbers of switches from different
 * files do not compare. */
static void finish_rows(int *rows, MPIR_Comm *comm)
{
    bool same = same_file(rows, comm->local_size);

    if (!same)
        MPIDI_NUMACOLL_complain(comm->rank,
                                "NETWORK_FILE and LEVELS: must be the same on all nodes, the file "
                                "with the same text: switches are not used");
    for (int rank = 0; rank < comm->local_size; rank++) {
        int *row = rows + rank * NC_LEVELS;
        memmove(row, rows + rank * COLUMNS, NC_LEVELS * sizeof(int));
        row[NC_LEVEL_NODE] = NC_NODES(comm) > 1 ? NC_NODE_OF(comm, rank) : 0;
        for (int level = NC_LEVEL_SWITCH1; level < NC_LEVELS && !same; level++)
            row[level] = -1;
    }
}

/* Numbers the nodes in the order of the groups, so that nodes under one switch have neighbouring
 * numbers. `numbered` and `order` are scratch memory, [ranks] each. */
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

/* Fills first and member: the ranks of each node, ascending. `filled` is scratch memory,
 * [nodes]. */
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

/* Fills back: the ranks of this node, then those of the node before it, and so on, round. */
static void list_back(struct nc_hierarchy *h)
{
    int n = 0;

    for (int distance = 0; distance < h->nodes; distance++) {
        int node = nc_hierarchy_back(h, distance);
        for (int i = h->first[node]; i < h->first[node + 1]; i++)
            h->back[n++] = h->member[i];
    }
}

/* Fills above and largest. */
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

/* How many ranks the largest node has; if there is no memory to count them, an upper bound. */
static int most_on_a_node(const MPIR_Comm *comm)
{
    int most = 1, *ranks;
    bool counted;

    if (NC_NODES(comm) == 1)
        return comm->local_size;
    ranks = MPL_calloc((size_t) NC_NODES(comm), sizeof *ranks, MPL_MEM_COLL);
    counted = ranks != NULL;
    for (int rank = 0; rank < comm->local_size && counted; rank++) {
        int here = ++ranks[NC_NODE_OF(comm, rank)];
        most = here > most ? here : most;
    }
    MPL_free(ranks);
    return counted ? most : comm->local_size;
}

/* Takes the buffers of messages, `bytes` each. The schedules need all five; packed messages and
 * rows of chunks use some of the same memory. chunk[0] and chunk[1] are side by side, for
 * `arrived`. */
static void take_buffers(struct nc_net_buffers *b, size_t bytes, struct nc_arena *arena)
{
    char *two = nc_arena_take(arena, 2, bytes, 64);

    b->chunk[0] = b->packed[0] = b->arrived = two;
    b->chunk[1] = b->packed[1] = two ? two + bytes : NULL;
    b->chunk[2] = nc_arena_take(arena, 1, bytes, 64);
    b->operand[0] = nc_arena_take(arena, 1, bytes, 64);
    b->operand[1] = b->outgoing = nc_arena_take(arena, 1, bytes, 64);
    b->packed_bytes = bytes;
}

_Static_assert(NC_CHUNKS == 3, "take_buffers has three chunks");

/* Takes the arrays that the hierarchy keeps. most: ranks of the largest node. */
static void take_arrays(struct nc_hierarchy *h, const MPIR_Comm *comm, size_t most,
                        struct nc_arena *arena)
{
    size_t ranks = (size_t) comm->local_size;
    bool several = NC_NODES(comm) > 1;

    /* An upper bound: over all its groups a rank has at most as many other members as there are
     * other nodes, so no more messages than in one group of all nodes. */
    h->messages = several ? nc_schedule_most(NC_NODES(comm)) : 0;
    take_buffers(&h->buffers, several ? nc_message_bytes(most) : 0, arena);
    h->stream = NC_ARENA_TAKE(arena, most, struct nc_stream);
    h->typed = NC_ARENA_TAKE(arena, most, struct nc_typed);
    h->length = NC_ARENA_TAKE(arena, most, uint64_t);
    h->sent = NC_ARENA_TAKE(arena, (size_t) (NC_PIPELINES * NC_CHUNKS * h->messages),
                            MPIR_Request *);
    h->message = NC_ARENA_TAKE(arena, (size_t) (NC_PIPELINES * h->messages), struct nc_net_message);
    h->step = NC_ARENA_TAKE(arena, (size_t) h->messages, struct nc_step);
    h->group_memory = nc_arena_take(arena, nc_groups_most_bytes(comm->local_size, NC_LEVELS + 1), 1,
                                    8);
    h->node_of = NC_ARENA_TAKE(arena, ranks, int);
    h->member = NC_ARENA_TAKE(arena, ranks, int);
    h->back = NC_ARENA_TAKE(arena, ranks, int);
    h->first = NC_ARENA_TAKE(arena, ranks + 1, int);
}

/* Memory that only hierarchy_make needs. */
struct scratch {
    int *rows, *numbered, *order;
    char *topo;
};

static void take_scratch(struct scratch *s, const MPIR_Comm *comm, struct nc_arena *arena)
{
    size_t ranks = (size_t) comm->local_size;
    struct nc_locations locations = {.ranks = comm->local_size, .columns = NC_LEVELS};

    s->rows = NC_ARENA_TAKE(arena, ranks * COLUMNS, int);
    s->topo = nc_arena_take(arena, nc_topo_bytes(&locations), 1, 8);
    s->numbered = NC_ARENA_TAKE(arena, ranks, int);
    s->order = NC_ARENA_TAKE(arena, ranks, int);
}

bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *h, const MPIR_Comm *comm)
{
    size_t most = (size_t) most_on_a_node(comm);
    struct nc_arena stays = {.base = NULL}, scratch = {.base = NULL};
    struct scratch s;

    take_arrays(h, comm, most, &stays);
    take_scratch(&s, comm, &scratch);
    h->memory = MPL_malloc(stays.bytes, MPL_MEM_COLL);
    h->scratch = MPL_malloc(scratch.bytes, MPL_MEM_COLL);
    if (!h->memory || !h->scratch)
        return false;
    take_arrays(h, comm, most, &(struct nc_arena){.base = h->memory});
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
    struct nc_locations locations = {.ranks = comm->local_size, .columns = NC_LEVELS};
    struct scratch s;
    struct nc_topo topo;

    take_scratch(&s, comm, &(struct nc_arena){.base = h->scratch});
    locations.unit = s.rows;
    memcpy(row, mine, NC_LEVELS * sizeof(int));
    row[FILE_COLUMN] = MPIDI_NUMACOLL_network_checksum() ^ (int) (levels * 2654435761u);
    mpi_errno = MPIR_Allgather_intra_brucks(row, COLUMNS, NC_TYPE_INT, s.rows, COLUMNS, NC_TYPE_INT,
                                            comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    finish_rows(s.rows, comm);
    /* always with the level of nodes, whatever LEVELS says: ranks on other nodes are reached by
     * messages */
    nc_topo_make(&topo, s.topo, &locations, levels | 1u << NC_LEVEL_NODE);
    nc_groups_make(&h->groups, h->group_memory, &topo);
    memcpy(h->name, topo.name, sizeof h->name);
    number_nodes(h, &locations, s.numbered, s.order, comm->rank);
    list_members(h, comm->local_size, s.numbered);
    list_back(h);
    measure_groups(h);

fn_exit:
    MPL_free(h->scratch);
    h->scratch = NULL;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
