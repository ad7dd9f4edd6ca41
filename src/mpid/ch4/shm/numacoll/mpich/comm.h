/* The life of a communicator's state, and the decision which library serves a call. The hooks that
 * MPICH calls are declared in numacoll_hooks.h. */

#ifndef NUMACOLL_COMM_H_INCLUDED
#define NUMACOLL_COMM_H_INCLUDED

#include "call.h"

/* Decides who serves a call, alike on all ranks. The caller has set comm, errflag and coll, and
 * state to NULL; state stays NULL if the call is to go to MPICH, otherwise all of *call is set.
 * direct: selected by variable, not by a selection file; entry: the parameters that file gives, -1
 * for none. The first calls of a communicator are deferred, then one makes the segment. Errors:
 * MPI_ERR_OTHER under MPIR_CVAR_COLLECTIVE_FALLBACK=error. */
int MPIDI_NUMACOLL_enter(struct nc_call *call, bool direct, int entry);

/* Collective; a communicator, if it is in use, has new info keys. right: this rank's are.
 * Errors: MPI_ERR_INFO_VALUE on all ranks if one's are wrong or they differ; then nothing has
 * changed. */
int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right);

#endif
