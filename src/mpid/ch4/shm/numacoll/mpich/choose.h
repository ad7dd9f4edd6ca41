/* Makes the choices of a communicator from its settings: trees, algorithms and sizes (struct
 * nc_choice in state.h). They are made with the state, and again when info keys change. */

#ifndef NUMACOLL_CHOOSE_H_INCLUDED
#define NUMACOLL_CHOOSE_H_INCLUDED

#include "settings.h"
#include "state.h"
#include "../core/nc_select.h"

/* The bytes that QUEUE_BUDGET allows one process's queue; 0: no budget is set. */
uint64_t MPIDI_NUMACOLL_budget_bytes(MPIR_Comm *comm);

/* Bytes of memory for the trees of one choice, a multiple of 8. */
size_t MPIDI_NUMACOLL_choice_tree_bytes(int ranks);

/* The input of the rules in nc_select: what they ask about this node's ranks. */
struct nc_situation MPIDI_NUMACOLL_situation(const struct MPIDI_NUMACOLL_comm *state);

/* Fills state->choice: the choice of the communicator and that of each csel entry. Local, but on
 * every rank with the same settings. Called once the groups are known and the segment is made, and
 * again when info keys have changed. */
void MPIDI_NUMACOLL_choose(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

/* The value of a setting that holds for the communicator once its segment is made: the node's
 * budget may allow fewer and shorter slots than the settings ask for. value: what they ask for. */
int MPIDI_NUMACOLL_in_force(MPIR_Comm *comm, enum nc_setting setting, int value);

#endif
