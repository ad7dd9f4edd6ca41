/* The life of a communicator's state, and the decision which library serves a call. The hooks that
 * MPICH calls are declared in numacoll_hooks.h. */

#ifndef NUMACOLL_COMM_H_INCLUDED
#define NUMACOLL_COMM_H_INCLUDED

#include "call.h"

/* Begins a call. `entry` is the number of the csel entry that selected numacoll, -1 for none. True:
 * the communicator's segment exists on all its nodes; the call is complete, and numacoll serves it.
 * False: MPIDI_NUMACOLL_enter has to decide. Inline, because every call of a few bytes passes here.
 */
static inline bool MPIDI_NUMACOLL_begin(struct nc_call *call, MPIR_Comm *comm, NC_ERRFLAG_T errflag,
                                        enum nc_coll coll, int entry)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_POSIX_COMM(comm, numacoll);

    call->state = NULL;
    call->comm = comm;
    call->errflag = errflag;
    call->coll = coll;
    call->inner = false;
    if (!state || !state->agreed)
        return false;
    call->state = state;
    call->choice = &state->choice[entry + 1];
    call->across = comm->node_count > 1;
    return true;
}

/* Decides, alike on all ranks, whether numacoll serves a call for which MPIDI_NUMACOLL_begin has
 * returned false. If so, *call is complete; if not, call->state stays NULL and the call has to go
 * to MPICH. `direct`: a variable selected numacoll, not a csel entry. The first calls of a
 * communicator are deferred to MPICH; a later one makes the segment. Errors: MPI_ERR_OTHER under
 * MPIR_CVAR_COLLECTIVE_FALLBACK=error. */
int MPIDI_NUMACOLL_enter(struct nc_call *call, bool direct, int entry);

/* Collective; a communicator, if it is in use, has new info keys. right: this rank's are.
 * Errors: MPI_ERR_INFO_VALUE on all ranks if one's are wrong or they differ; then nothing has
 * changed. */
int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right);

#endif
