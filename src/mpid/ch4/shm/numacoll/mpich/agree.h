/* What the processes of a communicator must have alike before it can be served. */

#ifndef NUMACOLL_AGREE_H_INCLUDED
#define NUMACOLL_AGREE_H_INCLUDED

#include "settings.h"
#include "state.h"

/* What must be the same on all processes of comm: the selection files, and of each setting of
 * parent that may be made per `scope`, or more often, its value, and whether it is an info key. And
 * `prepared`, which all must be. Collective; *different: one that differs, or -1. */
int MPIDI_NUMACOLL_agree_on_settings(MPIR_Comm *parent, MPIR_Comm *comm, enum nc_scope scope,
                                     bool prepared, bool *all_prepared, int *different);

/* Collective over the communicator, once: is every process ready? The worst reason wins, alike for
 * all. Then the levels and groups of all nodes are made. */
int MPIDI_NUMACOLL_agree_on_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

#endif
