/* MPI_Gather, MPI_Gatherv: through the senders' own queues to the root. */

#include "blocks.h"

static int receive(struct MPIDI_NUMACOLL_comm *state, const struct nc_typed *mine, const struct nc_blocks *blocks)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream *from = MPIDI_NUMACOLL_block_streams(state, blocks);
    struct nc_typed own = MPIDI_NUMACOLL_block(blocks, state->rank);

    /* first: meanwhile the others write */
    if (mine->buffer != MPI_IN_PLACE)
        mpi_errno = MPIDI_NUMACOLL_copy_own(mine, &own);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_gather_node(MPIDI_NUMACOLL_move(state), state->rank, NULL, from, state->sent)));
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(state->sent[i], &from[i]));
    }
    return mpi_errno;
}

static int gather(struct nc_typed *mine, const struct nc_blocks *blocks, int root, enum nc_coll coll, MPIR_Comm * comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    struct nc_stream stream;

    MPIDI_NUMACOLL_count_typed(state, coll, state->rank == root ? NULL : mine);
    if (state->rank == root)
        return receive(state, mine, blocks);
    MPIDI_NUMACOLL_stream_init(&stream, mine);
    return MPIDI_NUMACOLL_error(nc_gather_node(MPIDI_NUMACOLL_move(state), root, &stream, NULL, NULL));
}

int MPIDI_NUMACOLL_gather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                          MPI_Datatype recvtype, int root, MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf,.count = recvcount,.datatype = recvtype };

    return gather(&mine, &blocks, root, NC_COLL_GATHER, comm);
}

int MPIDI_NUMACOLL_gatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                           const MPI_Aint * recvcounts, const MPI_Aint * displs, MPI_Datatype recvtype, int root,
                           MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf,.counts = recvcounts,.displs = displs,.datatype = recvtype };

    return gather(&mine, &blocks, root, NC_COLL_GATHERV, comm);
}
