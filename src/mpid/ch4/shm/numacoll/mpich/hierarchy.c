/* Makes the groups of a communicator's nodes, and takes the memory of messages between nodes. See
 * hierarchy.h. */

#include "hierarchy.h"

#include "diag.h"
#include "location.h"
#include "../core/nc_arena.h"

/* What the leader of a node tells the others: the switches it is under, a checksum of what these
 * were made from, the network file and LEVELS, the communicator's number of its node, the levels by
 * which its ranks are grouped, and how many groups each of them has. */
enum {
    FILE_COLUMN = NC_SWITCHES,
    NODE_COLUMN,
    BELOW_COLUMN,
    GROUPS_COLUMN,
    COLUMNS = GROUPS_COLUMN + NC_LEVEL_NODE + 1
};

static void fill_row(int *row, const int *units, const struct nc_levels *inside, unsigned levels)
{
    memset(row, 0, COLUMNS * sizeof *row);
    memcpy(row, units + NC_LEVEL_SWITCH1, NC_SWITCHES * sizeof *row);
    row[FILE_COLUMN] = MPIDI_NUMACOLL_network_checksum() ^ (int) (levels * 2654435761u);
    for (int l = 0; l < inside->groups.levels; l++) {
        /* the top of a node's ranks is the node */
        int level = inside->name[l] < NC_LEVEL_NODE ? (int) inside->name[l] : NC_LEVEL_NODE;
        row[BELOW_COLUMN] |= 1 << level;
        row[GROUPS_COLUMN + level] = inside->groups.level[l + 1] - inside->groups.level[l];
    }
}

/* Fills below and below_groups. Of nodes that group their ranks by different levels only the nodes
 * are counted, and nodes of one rank each are no groups. */
static void count_groups(struct nc_hierarchy *h, const int *came, const MPIR_Comm *comm)
{
    int nodes = NC_NODES(comm);

    h->below = nodes < comm->local_size ? (unsigned) came[BELOW_COLUMN] : 0;
    for (int i = 1; i < nodes; i++) {
        if (came[i * COLUMNS + BELOW_COLUMN] != came[BELOW_COLUMN])
            h->below &= 1u << NC_LEVEL_NODE;
    }
    for (int level = 0; level <= NC_LEVEL_NODE; level++) {
        h->below_groups[level] = 0;
        for (int i = 0; i < nodes; i++)
            h->below_groups[level] += came[i * COLUMNS + GROUPS_COLUMN + level];
    }
}

/* Writes to row[nodes][NC_SWITCHES] the switches of the nodes from the rows that came. If the
 * network files differ, the switches are dropped, because numbers of switches from different files
 * do not compare. */
static void sort_rows(const int *came, int *row, MPIR_Comm *comm)
{
    int nodes = NC_NODES(comm);
    bool same = true;

    for (int i = 1; i < nodes; i++)
        same = same && came[i * COLUMNS + FILE_COLUMN] == came[FILE_COLUMN];
    if (!same)
        MPIDI_NUMACOLL_complain(comm->rank,
                                "NETWORK_FILE and LEVELS: must be the same on all nodes, the file "
                                "with the same text: switches are not used");
    for (int i = 0; i < nodes; i++) {
        const int *from = came + i * COLUMNS;
        int *to = row + from[NODE_COLUMN] * NC_SWITCHES;
        for (int level = 0; level < NC_SWITCHES; level++)
            to[level] = same ? from[level] : -1;
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

/* Takes the arrays that the hierarchy keeps; returns the memory of `nodes`. Over all its groups a
 * rank has at most as many other members as there are other nodes, so no more messages than in one
 * group of all nodes. */
static void *take_arrays(struct nc_hierarchy *h, const MPIR_Comm *comm, struct nc_arena *arena)
{
    int nodes = NC_NODES(comm);
    size_t most = (size_t) h->most;

    h->sends = nc_schedule_most_sends(nodes);
    take_buffers(&h->buffers, nodes > 1 ? nc_message_bytes(most) : 0, arena);
    h->stream = NC_ARENA_TAKE(arena, most, struct nc_stream);
    h->typed = NC_ARENA_TAKE(arena, most, struct nc_typed);
    h->length = NC_ARENA_TAKE(arena, most, uint64_t);
    h->sent = NC_ARENA_TAKE(arena, (size_t) (NC_PIPELINES * NC_CHUNKS * h->sends), MPIR_Request *);
    /* by halves there are more parts than round the ring */
    h->bound = NC_ARENA_TAKE(arena, (size_t) nc_schedule_parts(NC_RSAG, nodes) + 2, size_t);
    h->part = NC_ARENA_TAKE(arena, (size_t) nodes, int);
    h->message = NC_ARENA_TAKE(arena, (size_t) nc_schedule_most(nodes), struct nc_step);
    return nc_arena_take(arena, nc_nodes_bytes(comm->local_size, nodes, h->switches), 1, 8);
}

/* Memory that only hierarchy_make needs. */
struct scratch {
    int *came, *row;
    void *nodes;
};

static void take_scratch(struct scratch *s, const MPIR_Comm *comm, struct nc_arena *arena)
{
    size_t nodes = (size_t) NC_NODES(comm);

    s->came = NC_ARENA_TAKE(arena, nodes * COLUMNS, int);
    s->row = NC_ARENA_TAKE(arena, nodes * NC_SWITCHES, int);
    s->nodes = nc_arena_take(arena, nc_nodes_scratch_bytes(NC_NODES(comm)), 1, 8);
}

bool MPIDI_NUMACOLL_hierarchy_reserve(struct nc_hierarchy *h, const int *units,
                                      const MPIR_Comm *comm)
{
    struct nc_arena stays = {.base = NULL}, scratch = {.base = NULL};
    struct scratch s;

    h->most = most_on_a_node(comm);
    h->switches = 0;
    for (int level = NC_LEVEL_SWITCH1; level < NC_LEVELS; level++)
        h->switches += units[level] >= 0;
    take_arrays(h, comm, &stays);
    take_scratch(&s, comm, &scratch);
    h->memory = MPL_malloc(stays.bytes, MPL_MEM_COLL);
    h->scratch = MPL_malloc(scratch.bytes, MPL_MEM_COLL);
    return h->memory && h->scratch;
}

void MPIDI_NUMACOLL_hierarchy_free(struct nc_hierarchy *h)
{
    MPL_free(h->memory);
    MPL_free(h->scratch);
    *h = (struct nc_hierarchy){.memory = NULL};
}

/* Fills came[nodes][COLUMNS] with the rows of all nodes. Collective over comm. */
static int exchange_rows(const int *mine, int *came, MPIR_Comm *comm)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *leaders = NC_LEADERS(comm);

    if (leaders) {
        mpi_errno = MPIR_Allgather_intra_brucks(mine, COLUMNS, NC_TYPE_INT, came, COLUMNS,
                                                NC_TYPE_INT, leaders, errflag);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (comm->node_comm) {
        mpi_errno = MPIR_Bcast_intra_binomial(came, NC_NODES(comm) * COLUMNS, NC_TYPE_INT, 0,
                                              comm->node_comm, errflag);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int node_of(const void *comm, int rank)
{
    return NC_NODES((const MPIR_Comm *) comm) > 1 ? NC_NODE_OF((const MPIR_Comm *) comm, rank) : 0;
}

int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *h, const int *units,
                                  const struct nc_levels *inside, unsigned levels, MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS, mine[COLUMNS], nodes = NC_NODES(comm);
    void *memory = take_arrays(h, comm, &(struct nc_arena){.base = h->memory});
    struct scratch s;

    take_scratch(&s, comm, &(struct nc_arena){.base = h->scratch});
    fill_row(mine, units, inside, levels);
    mine[NODE_COLUMN] = node_of(comm, comm->rank);
    memcpy(s.came, mine, sizeof mine);
    if (nodes > 1) {
        mpi_errno = exchange_rows(mine, s.came, comm);
        MPIR_ERR_CHECK(mpi_errno);
    }
    sort_rows(s.came, s.row, comm);
    count_groups(h, s.came, comm);
    nc_nodes_make(&h->nodes, memory, s.nodes, comm->local_size, nodes, node_of, comm, s.row, levels,
                  comm->rank);

fn_exit:
    MPL_free(h->scratch);
    h->scratch = NULL;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
