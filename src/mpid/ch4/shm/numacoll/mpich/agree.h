/* Compares what the processes of a communicator must have alike before it can be served. comm.c
 * calls this when it makes a communicator's state, and when info keys change. */

#ifndef NUMACOLL_AGREE_H_INCLUDED
#define NUMACOLL_AGREE_H_INCLUDED

#include "settings.h"
#include "state.h"

/* Compares over the processes of comm: the selection files; and of each setting of `parent` whose
 * scope is `scope` or narrower (call is narrower than communicator) its value, and whether the
 * value is an info key. Collective over comm, which is parent or its node_comm. *all_prepared:
 * every process passed prepared = true. *different: the first setting, or NC_SETTING_COUNT +
 * selection file, that differs; -1: none does. If one does and all are prepared, rank 0 writes a
 * line. */
int MPIDI_NUMACOLL_agree_on_settings(MPIR_Comm *parent, MPIR_Comm *comm, enum nc_scope scope,
                                     bool prepared, bool *all_prepared, int *different);

/* Finds out whether every process of the communicator can serve calls; sets state->agreed, or
 * state->reason, alike on all ranks: where processes have different reasons, the highest in enum
 * nc_reason. Then makes the levels and groups of all nodes. Collective over comm, once. */
int MPIDI_NUMACOLL_agree_on_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

#endif
