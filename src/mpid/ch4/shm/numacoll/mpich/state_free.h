/* The end of a state, or of a part of it, for all who give one up. */

#ifndef NUMACOLL_STATE_FREE_H_INCLUDED
#define NUMACOLL_STATE_FREE_H_INCLUDED

#include "state.h"

/* Frees a state that belongs to no communicator any more, with all that it holds. Local. */
void MPIDI_NUMACOLL_state_free(struct MPIDI_NUMACOLL_comm *state);

/* Its ranks no longer read each other's buffers directly. Local. */
void MPIDI_NUMACOLL_stop_reading(struct MPIDI_NUMACOLL_comm *state);

#endif
