/* Frees the state of a communicator. See state_free.h. */

#include "state_free.h"

#include "hierarchy.h"
#include "nonblocking_segment.h"
#include "segment.h"
#include "shared_buffers.h"
#include "single_copy.h"

void MPIDI_NUMACOLL_stop_reading(struct MPIDI_NUMACOLL_comm *state)
{
    MPIDI_NUMACOLL_single_copy_leave(state);
    if (state->direct.shared)
        MPIDI_NUMACOLL_shared_leave(state->shared, state->size);
    state->direct.shared = NULL;
}

void MPIDI_NUMACOLL_state_free(struct MPIDI_NUMACOLL_comm *state)
{
    MPIDI_NUMACOLL_nonblocking_free(state);
    MPIDI_NUMACOLL_segment_free(&state->segment);
    MPIDI_NUMACOLL_stop_reading(state);
    MPIDI_NUMACOLL_hierarchy_free(&state->all);
    MPL_free(state->memory);
    MPL_free(state->key);
    MPL_free(state);
}
