/* MPI_Scatter, MPI_Scatterv: the root fills the queues of the receivers. */

#include "blocks.h"

static int serve(struct MPIDI_NUMACOLL_comm *state, const struct nc_blocks *blocks, const struct nc_typed *mine)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream *to = MPIDI_NUMACOLL_block_streams(state, blocks);
    struct nc_typed own = MPIDI_NUMACOLL_block(blocks, state->rank);

    mpi_errno = MPIDI_NUMACOLL_error(nc_scatter_node(MPIDI_NUMACOLL_move(state), state->rank, to, NULL, NULL));
    /* last: meanwhile the others read */
    if (mine->buffer != MPI_IN_PLACE)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(&own, mine));
    return mpi_errno;
}

static int scatter(const struct nc_blocks *blocks, struct nc_typed *mine, int root, enum nc_coll coll, MPIR_Comm * comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream;
    size_t sent;

    MPIDI_NUMACOLL_count_typed(state, coll, state->rank == root ? NULL : mine);
    if (state->rank == root)
        return serve(state, blocks, mine);
    MPIDI_NUMACOLL_stream_init(&stream, mine);
    mpi_errno = MPIDI_NUMACOLL_error(nc_scatter_node(MPIDI_NUMACOLL_move(state), root, NULL, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

int MPIDI_NUMACOLL_scatter(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Aint recvcount,
                           MPI_Datatype recvtype, int root, MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_blocks blocks = {.buffer = (void *) sendbuf,.count = sendcount,.datatype = sendtype };
    struct nc_typed mine = {recvbuf, recvcount, recvtype};

    return scatter(&blocks, &mine, root, NC_COLL_SCATTER, comm);
}

int MPIDI_NUMACOLL_scatterv(const void *sendbuf, const MPI_Aint * sendcounts, const MPI_Aint * displs, MPI_Datatype sendtype,
                            void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype, int root, MPIR_Comm * comm,
                            NC_ERRFLAG_T errflag)
{
    struct nc_blocks blocks = {.buffer = (void *) sendbuf,.counts = sendcounts,.displs = displs,.datatype = sendtype };
    struct nc_typed mine = {recvbuf, recvcount, recvtype};

    return scatter(&blocks, &mine, root, NC_COLL_SCATTERV, comm);
}
