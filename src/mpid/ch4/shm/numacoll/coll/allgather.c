/* MPI_Allgather, MPI_Allgatherv: everybody writes its own queue, and reads everybody else's. */

#include "blocks.h"

static int allgather(struct nc_typed *mine, const struct nc_blocks *blocks, enum nc_coll coll, MPIR_Comm * comm)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    int mpi_errno = MPI_SUCCESS;
    struct nc_stream stream, *from = MPIDI_NUMACOLL_block_streams(state, blocks);
    struct nc_typed own = MPIDI_NUMACOLL_block(blocks, state->rank);
    bool in_place = mine->buffer == MPI_IN_PLACE;

    MPIDI_NUMACOLL_count_typed(state, coll, in_place ? &own : mine);
    MPIDI_NUMACOLL_stream_init(&stream, in_place ? &own : mine);
    mpi_errno = MPIDI_NUMACOLL_error(nc_allgather_node(MPIDI_NUMACOLL_move(state), &stream, from, state->sent));
    for (int i = 0; i < state->size; i++) {
        if (i != state->rank)
            MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(state->sent[i], &from[i]));
    }
    if (!in_place)
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_copy_own(mine, &own));
    return mpi_errno;
}

int MPIDI_NUMACOLL_allgather(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                             MPI_Aint recvcount, MPI_Datatype recvtype, MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf,.count = recvcount,.datatype = recvtype };

    return allgather(&mine, &blocks, NC_COLL_ALLGATHER, comm);
}

int MPIDI_NUMACOLL_allgatherv(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Aint * recvcounts, const MPI_Aint * displs, MPI_Datatype recvtype, MPIR_Comm * comm,
                              NC_ERRFLAG_T errflag)
{
    struct nc_typed mine = {(void *) sendbuf, sendcount, sendtype};
    struct nc_blocks blocks = {.buffer = recvbuf,.counts = recvcounts,.displs = displs,.datatype = recvtype };

    return allgather(&mine, &blocks, NC_COLL_ALLGATHERV, comm);
}
