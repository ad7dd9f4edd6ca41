/* The first step of a call: coll/entry.c asks here whether numacoll serves the call or MPICH does.
 * MPIDI_NUMACOLL_begin answers for a communicator whose state is ready on all nodes; for all other
 * calls MPIDI_NUMACOLL_enter decides, and makes the state when it is time. The hooks of comm.c, by
 * which MPICH tells that it makes and frees communicators, are declared in numacoll_hooks.h. */

#ifndef NUMACOLL_COMM_H_INCLUDED
#define NUMACOLL_COMM_H_INCLUDED

#include "watch.h"

/* Begins a call: fills *call. `entry` is the number of the csel entry that selected numacoll, -1
 * for none. True: the communicator's state is ready on all nodes, *call is complete, and numacoll
 * serves the call. False, also when the segment is to be replaced by a larger one: call->state is
 * NULL, and MPIDI_NUMACOLL_enter has to decide. Always false on a node_comm, which has no state of
 * its own. Inline, because every call passes here, also those of a few bytes. */
static inline bool MPIDI_NUMACOLL_begin(struct nc_call *call, MPIR_Comm *comm, NC_ERRFLAG_T errflag,
                                        enum nc_coll coll, int entry)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    call->state = NULL;
    call->comm = comm;
    call->errflag = errflag;
    call->coll = coll;
    if (!state || !state->agreed || unlikely(state->queue.operation >= state->grow_at))
        return false;
    call->state = state;
    call->inner = state->inner;
    call->choice = &state->choice[entry + 1];
    call->across = NC_NODES(comm) > 1;
    return true;
}

/* Ends a call that numacoll has served: returns its error, or, if it has none, the one that MPICH's
 * progress engine had during its waits. An error if a rank was in another call has precedence. */
static inline int MPIDI_NUMACOLL_end(const struct nc_call *call, int mpi_errno)
{
    int kept = call->state->waiter.error;

    if (unlikely(call->state->queue.stranger.call))
        mpi_errno = MPIDI_NUMACOLL_stranger_error(call);
    if (likely((kept | mpi_errno) == MPI_SUCCESS))
        return MPI_SUCCESS;
    call->state->failed = true;
    call->state->waiter.error = MPI_SUCCESS;
    return mpi_errno ? mpi_errno : kept;
}

/* Decides whether numacoll serves a call for which MPIDI_NUMACOLL_begin has returned false. All
 * ranks of call->comm decide alike. If numacoll serves the call, *call is complete; if not,
 * call->state stays NULL, and the caller has to hand the call to MPICH. The first calls of a
 * communicator (fewer than CREATE_AFTER) are deferred; the call after them makes the segment, which
 * is collective. `direct`: a variable selected numacoll, not a csel entry; `entry` as above.
 * Errors: MPI_ERR_OTHER without memory for the state if CREATE_AFTER is above 2, and, under
 * MPIR_CVAR_COLLECTIVE_FALLBACK=error, instead of a fallback; errors of MPICH's messages. */
int MPIDI_NUMACOLL_enter(struct nc_call *call, bool direct, int entry);

#endif
