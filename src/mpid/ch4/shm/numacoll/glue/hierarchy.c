/* The levels and groups of all processes of a communicator, on however many nodes. */

#include "numacoll.h"

/* What a process tells all others: its row of locations, and what it was made from: network file and LEVELS. */
enum { COLUMNS = NC_LEVELS + 1, FILE_COLUMN = NC_LEVELS };

static bool same_file(const int *rows, int ranks)
{
    for (int rank = 1; rank < ranks; rank++) {
        if (rows[rank * COLUMNS + FILE_COLUMN] != rows[FILE_COLUMN])
            return false;
    }
    return true;
}

/* Rows as nc_topo wants them: nodes are numbered by the communicator, and numbers of switches mean nothing when they come
 * from different files. */
static void finish_rows(int *rows, MPIR_Comm * comm)
{
    bool same = same_file(rows, comm->local_size);

    if (!same && comm->rank == 0)
        fprintf(stderr, "numacoll: NETWORK_FILE and LEVELS: must be the same on all nodes, the file with the same text: "
                "switches are not used\n");
    for (int rank = 0; rank < comm->local_size; rank++) {
        int *row = rows + rank * NC_LEVELS;
        memmove(row, rows + rank * COLUMNS, NC_LEVELS * sizeof(int));
        row[NC_LEVEL_NODE] = comm->node_count > 1 ? comm->internode_table[rank] : 0;
        for (int level = NC_LEVEL_SWITCH1; level < NC_LEVELS && !same; level++)
            row[level] = -1;
    }
}

/* The lowest rank of each node, in the order of the groups. `order` is memory for all ranks, `seen` for all nodes, 0. */
static void list_leaders(struct nc_hierarchy *h, const struct nc_locations *l, int *order, char *seen, int mine)
{
    h->nodes = 0;
    nc_groups_in_order(&h->groups, order);
    for (int i = 0; i < l->ranks; i++) {
        int node = l->unit[order[i] * NC_LEVELS + NC_LEVEL_NODE];
        /* the ranks of a node are side by side, but not in order where caches or NUMA nodes group them */
        if (!seen[node])
            h->leader[h->nodes++] = order[i];
        seen[node] = 1;
        if (node == mine)
            h->node = h->nodes - 1;
        if (order[i] < h->leader[h->nodes - 1])
            h->leader[h->nodes - 1] = order[i];
    }
}

/* Levels and groups from the rows; topo_memory goes with the caller. */
static int make_groups(struct nc_hierarchy *h, const struct nc_locations *locations, unsigned levels, void *topo_memory,
                       MPIR_Comm * comm)
{
    int mpi_errno = MPI_SUCCESS, ranks = locations->ranks;
    struct nc_topo topo;
    size_t groups, bytes;

    /* nodes are told apart whatever LEVELS says: they are not reached in the same way */
    nc_topo_make(&topo, topo_memory, locations, levels | 1u << NC_LEVEL_NODE);
    groups = nc_groups_bytes(&topo);
    bytes = groups + (size_t) ranks * (2 * sizeof(int) + 1);
    h->memory = MPL_calloc(1, bytes, MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!h->memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    nc_groups_make(&h->groups, h->memory, &topo);
    memcpy(h->name, topo.name, sizeof h->name);
    h->leader = (int *) ((char *) h->memory + groups);
    list_leaders(h, locations, h->leader + ranks, (char *) (h->leader + 2 * ranks),
                 locations->unit[comm->rank * NC_LEVELS + NC_LEVEL_NODE]);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_hierarchy_make(struct nc_hierarchy *h, const int *mine, unsigned levels, MPIR_Comm * comm)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, ranks = comm->local_size, row[COLUMNS];
    struct nc_locations locations = {.ranks = ranks,.columns = NC_LEVELS };
    int *rows = MPL_malloc((size_t) ranks * sizeof row, MPL_MEM_COLL);
    void *topo_memory = MPL_malloc(nc_topo_bytes(&locations), MPL_MEM_COLL);

    MPIR_ERR_CHKANDJUMP(!rows || !topo_memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    memcpy(row, mine, NC_LEVELS * sizeof(int));
    row[FILE_COLUMN] = MPIDI_NUMACOLL_network_checksum() ^ (int) (levels * 2654435761u);
    mpi_errno = MPIR_Allgather_intra_brucks(row, COLUMNS, MPI_INT, rows, COLUMNS, MPI_INT, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    finish_rows(rows, comm);
    locations.unit = rows;
    mpi_errno = make_groups(h, &locations, levels, topo_memory, comm);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    MPL_free(rows);
    MPL_free(topo_memory);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
