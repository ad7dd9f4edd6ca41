/* MPI_Bcast: inside a node through the root's own queue, across nodes over the nodes' leaders.
 *
 *   1  on the root's node, from the root itself
 *   2  among the leaders (local ranks 0), from that node's
 *   3  on the other nodes, from their leaders */

#include "blocks.h"

static int node_part(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root)
{
    int mpi_errno;
    struct nc_stream stream;
    size_t sent;

    if (state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, typed);
    mpi_errno = MPIDI_NUMACOLL_error(nc_bcast_node(&state->bcast[state->leaf + 1].bcast, root, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

static int across_nodes(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root, MPIR_Comm * comm,
                        NC_ERRFLAG_T errflag)
{
    int mpi_errno = MPI_SUCCESS;
    int local_root = MPIR_Get_intranode_rank(comm, root);

    if (local_root >= 0)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, node_part(state, typed, local_root));
    if (comm->node_roots_comm)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIR_Bcast_intra_binomial(typed->buffer, typed->count, typed->datatype,
                                                         MPIR_Get_internode_rank(comm, root), comm->node_roots_comm,
                                                         errflag));
    if (local_root < 0)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, node_part(state, typed, 0));
    return mpi_errno;
}

int MPIDI_NUMACOLL_bcast_typed(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root, MPIR_Comm * comm,
                               NC_ERRFLAG_T errflag)
{
    if (!MPIDI_NUMACOLL_is_across(comm))
        /* all ranks are on this node, in the order of their local ranks */
        return node_part(state, typed, root);
    return across_nodes(state, typed, root, comm, errflag);
}

int MPIDI_NUMACOLL_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm * comm,
                         NC_ERRFLAG_T errflag)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    struct nc_typed typed = {.buffer = buffer,.count = count,.datatype = datatype };
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    MPIDI_NUMACOLL_count(state, NC_COLL_BCAST, (int) state->bcast[state->leaf + 1].kind, (size_t) (size * count));
    return MPIDI_NUMACOLL_bcast_typed(state, &typed, root, comm, errflag);
}
