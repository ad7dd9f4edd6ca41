/* Compares what the processes of a communicator must have alike before it can be served: when its
 * state is made, and when info keys change. */

#ifndef NUMACOLL_AGREE_H_INCLUDED
#define NUMACOLL_AGREE_H_INCLUDED

#include "settings.h"
#include "state.h"

/* Which processes keep a segment that they could go on with (kept.h): none; some, or not the same
 * one; all the same one, but they have not made as many operations in it; all. */
enum nc_keepers { NC_KEPT_BY_NONE, NC_KEPT_BY_SOME, NC_KEPT_UNEQUALLY, NC_KEPT_BY_ALL };

/* What a process says in an agreement, and what comes out of it, alike on all. */
struct nc_agreement {
    bool prepared; /* in: this process is; out: all are */
    /* in: the number of the segment that this process keeps, 0: none, and how many operations were
     * made in it, blocking and nonblocking */
    int number, operations[2];
    enum nc_keepers keepers; /* out */
    /* out: the first setting, or NC_SETTING_COUNT + selection file, that differs; -1: none does */
    int different;
};

/* Which settings are compared. */
enum nc_compared {
    NC_COMPARED_OF_CALLS,    /* MPIDI_NUMACOLL_is_of_calls */
    NC_COMPARED_OF_THE_COMM, /* these, and all others of a communicator */
};

/* Compares over the processes of comm: the selection files; of these settings of `parent` the value
 * and whether it is an info key; and what they keep. Collective over comm, which is parent or its
 * node_comm. If a setting differs and all are prepared, rank 0 writes a line. */
int MPIDI_NUMACOLL_agree_on_settings(MPIR_Comm *parent, MPIR_Comm *comm, enum nc_compared compared,
                                     struct nc_agreement *agreement);

/* Finds out whether every process of the communicator can serve calls; sets state->agreed, or
 * state->reason, alike on all ranks: where processes have different reasons, the highest in enum
 * nc_reason. Then makes the levels and groups of all nodes. Collective over comm, once. */
int MPIDI_NUMACOLL_agree_on_nodes(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

#endif
