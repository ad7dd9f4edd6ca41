/* One call of a collective: who serves it, for whom, and how. coll/entry.c makes it, mpich/comm.h
 * completes it, and every function of coll/ gets it. */

#ifndef NUMACOLL_CALL_H_INCLUDED
#define NUMACOLL_CALL_H_INCLUDED

#include "buffer.h"
#include "collectives.h"
#include "state.h"

struct nc_call {
    /* of the communicator, or, if that is a node_comm, of its parent communicator */
    struct MPIDI_NUMACOLL_comm *state;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
    enum nc_coll coll;
    struct nc_choice *choice; /* of the communicator, or of the csel entry that selected numacoll */
    bool across;              /* the communicator has processes on other nodes */
    bool inner;               /* MPICH makes the call, inside another collective */
};

/* How this call moves data inside the node. */
static inline struct nc_transfer *MPIDI_NUMACOLL_transfer(const struct nc_call *call)
{
    return &call->choice->transfer;
}

/* Broadcasts inside the node, by the call's choice: nc_bcast_node. */
static inline int MPIDI_NUMACOLL_bcast_inside(const struct nc_call *call, int root,
                                              struct nc_stream *stream, size_t *sent)
{
    return nc_bcast_node(&call->choice->transfer, &call->choice->bcast, root, stream, sent);
}

/* Counts a call that numacoll serves. Each body calls it once. way: the number of the algorithm;
 * bytes: of the message, or of a block. */
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

/* Counts a call with the bytes of `block`, of a collective with one algorithm. NULL: 0 bytes. */
static inline void MPIDI_NUMACOLL_count_typed(const struct nc_call *call,
                                              const struct nc_typed *block)
{
    MPI_Aint size = 0;

    if (block)
        MPIR_Datatype_get_size_macro(block->datatype, size);
    MPIDI_NUMACOLL_count(call, 0, block ? (size_t) (size * block->count) : 0);
}

/* The ranks, in the communicator, of the processes of this node: [state->size], by local
 * rank. */
const int *MPIDI_NUMACOLL_members(const struct nc_call *call);

/* The local rank of a rank of the communicator that is on this node. */
int MPIDI_NUMACOLL_local_rank(const struct nc_call *call, int rank);

/* Streams of the blocks of this node's ranks except this process's own: [state->size], by local
 * rank, in memory of the state that the next call of this function reuses. */
struct nc_stream *MPIDI_NUMACOLL_block_streams(const struct nc_call *call,
                                               const struct nc_blocks *blocks);

/* MPICH's error code for a negative error of shm/. */
int MPIDI_NUMACOLL_internal_error(void);

/* The error of a function of shm/ as an error code of MPICH. A positive one is MPICH's own already:
 * the movers of buffer.c and the op kernel of coll/reduction.c return MPICH's errors. */
static inline int MPIDI_NUMACOLL_error(int error)
{
    return error >= 0 ? error : MPIDI_NUMACOLL_internal_error();
}

#endif
