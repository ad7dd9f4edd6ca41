/* What the bodies of all collectives need to know about a call. See call.h. */

#include "call.h"

const int *MPIDI_NUMACOLL_members(const struct nc_call *call)
{
    const struct nc_nodes *nodes = &call->state->all.nodes;

    return call->across ? nc_nodes_ranks(nodes, nodes->mine) : call->state->queue.everybody;
}

int MPIDI_NUMACOLL_local_rank(const struct nc_call *call, int rank)
{
    return call->across ? MPIR_Get_intranode_rank(call->comm, rank) : rank;
}

struct nc_stream *MPIDI_NUMACOLL_block_streams(const struct nc_call *call,
                                               const struct nc_blocks *b)
{
    struct MPIDI_NUMACOLL_comm *state = call->state;
    const int *member = MPIDI_NUMACOLL_members(call);

    for (int i = 0; i < state->size; i++) {
        if (i == state->rank)
            continue;
        state->typed[i] = MPIDI_NUMACOLL_block(b, member[i]);
        MPIDI_NUMACOLL_stream_init(&state->stream[i], &state->typed[i]);
    }
    return state->stream;
}

int MPIDI_NUMACOLL_internal_error(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_INTERN, "**fail");

fn_fail:
    return mpi_errno;
}
