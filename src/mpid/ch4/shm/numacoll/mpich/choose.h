/* How the calls of a communicator are served, as its settings want it. */

#ifndef NUMACOLL_CHOOSE_H_INCLUDED
#define NUMACOLL_CHOOSE_H_INCLUDED

#include "state.h"
#include "../core/nc_select.h"

/* Bytes of a queue that QUEUE_BUDGET grants; 0: none is set. */
uint64_t MPIDI_NUMACOLL_budget_bytes(MPIR_Comm *comm);

/* Bytes of the trees of one choice, a multiple of 8. */
size_t MPIDI_NUMACOLL_choice_tree_bytes(int ranks);

/* What the rules of nc_select ask of a node's ranks. */
struct nc_situation MPIDI_NUMACOLL_situation(const struct MPIDI_NUMACOLL_comm *state);

/* Fills state->choice, of the communicator and of each entry, once the groups are known and the
 * segment is there; again when info keys have changed. */
void MPIDI_NUMACOLL_choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

#endif
