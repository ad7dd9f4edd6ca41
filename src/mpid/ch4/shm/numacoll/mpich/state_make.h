/* What brings the state of a communicator to where calls can use it. comm.c says when. */

#ifndef NUMACOLL_STATE_MAKE_H_INCLUDED
#define NUMACOLL_STATE_MAKE_H_INCLUDED

#include "state.h"

/* Brings a state from NC_PHASE_NONE to READY or UNUSABLE; does nothing in any other phase. *at: the
 * state, in whose place may come one that was kept. Collective over the node's ranks. Errors: of
 * MPICH's messages. */
int MPIDI_NUMACOLL_state_make(struct MPIDI_NUMACOLL_comm **at, MPIR_Comm *parent);

/* Replaces the segment by a larger one, if it is time and the budget allows; otherwise the calls go
 * on in the one there is. Without long messages it is at most a narrow one. Collective over the
 * node's ranks, at the same operation. Errors: of MPICH's messages. */
int MPIDI_NUMACOLL_state_grow(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent);

/* Makes the choices of a communicator again after its info keys have changed; info.c calls it, on
 * all ranks of the communicator. `right`: whether the keys that this rank was given are valid. Does
 * nothing before the state is ready: the set-up will compare the keys. Errors:
 * MPI_ERR_INFO_VALUE on all ranks if the keys of one rank are wrong or ranks have different keys;
 * the choices are then the old ones. */
int MPIDI_NUMACOLL_settings_changed(MPIR_Comm *comm, bool right);

#endif
