/* One call of a collective, made on entry and passed down: who serves it, for whom, and how. */

#ifndef NUMACOLL_CALL_H_INCLUDED
#define NUMACOLL_CALL_H_INCLUDED

#include "buffer.h"
#include "collectives.h"
#include "state.h"

struct nc_call {
    struct MPIDI_NUMACOLL_comm
        *state; /* of the communicator, or of the one whose node_comm it is */
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
    enum nc_coll coll;
    struct nc_choice *choice; /* the communicator's, or the one of a entry of a selection file */
    bool across;              /* the communicator has processes on other nodes */
    bool inner;               /* MPICH makes it itself, inside another collective */
};

/* How this call moves data. */
static inline struct nc_transfer *MPIDI_NUMACOLL_transfer(const struct nc_call *call)
{
    return &call->choice->bcast.transfer;
}

/* Counts the call, where it begins to be served; way: the algorithm's number. */
static inline void MPIDI_NUMACOLL_count(const struct nc_call *call, int way, size_t bytes)
{
    struct nc_stats *counts = &call->state->stats.counts;

    if (call->inner) {
        counts->inner[call->coll]++;
    } else {
        counts->served[call->coll][way]++;
        counts->bytes[call->coll][way] += bytes;
    }
}

/* The same, with the bytes of a block; NULL: none. */
static inline void MPIDI_NUMACOLL_count_typed(const struct nc_call *call,
                                              const struct nc_typed *block)
{
    MPI_Aint size = 0;

    if (block)
        MPIR_Datatype_get_size_macro(block->datatype, size);
    MPIDI_NUMACOLL_count(call, 0, block ? (size_t) (size * block->count) : 0);
}

/* The ranks of this node in the communicator, in their order. */
const int *MPIDI_NUMACOLL_members(const struct nc_call *call);

/* The local rank of a rank on this node. */
int MPIDI_NUMACOLL_local_rank(const struct nc_call *call, int rank);

/* Streams of the blocks of this node's ranks but this one's, in the state's memory. */
struct nc_stream *MPIDI_NUMACOLL_block_streams(const struct nc_call *call,
                                               const struct nc_blocks *blocks);

/* The error of a part without MPI as MPICH's: it is one of MPICH's, or negative. */
int MPIDI_NUMACOLL_internal_error(void);

static inline int MPIDI_NUMACOLL_error(int error)
{
    return error >= 0 ? error : MPIDI_NUMACOLL_internal_error();
}

/* Of several errors the first is returned, but all parts are done: other ranks count on them. */
static inline void MPIDI_NUMACOLL_keep_first(int *mpi_errno, int next)
{
    if (*mpi_errno == MPI_SUCCESS)
        *mpi_errno = next;
}

#endif
