/* What a program has done wrong when ranks are in different calls: a rank that meets a message of
 * another call returns an error that names both, and a wait that lasts long is reported with the
 * ranks that have not come. */

#ifndef NUMACOLL_WATCH_H_INCLUDED
#define NUMACOLL_WATCH_H_INCLUDED

#include "call.h"

/* Shows the other ranks of the node which call the next operation belongs to. */
void MPIDI_NUMACOLL_watch_enter(struct MPIDI_NUMACOLL_comm *state);

/* Tells the queue, and with REPORT_WAITS the other ranks, which call the next operation belongs to.
 * Every call comes here before its first operation. root: -1 if it has none. */
static inline void MPIDI_NUMACOLL_watch_call(const struct nc_call *call, int root)
{
    enum { COLLECTIVES = 32, ROOTS = 2048 };

    call->state->queue.call = (uint16_t) ((int) call->coll + 1 + (root + 1) % ROOTS * COLLECTIVES);
    if (unlikely(MPIR_CVAR_NUMACOLL_REPORT_WAITS))
        MPIDI_NUMACOLL_watch_enter(call->state);
}

/* The error of a call in which this rank has met a message of another call: complains, and returns
 * MPI_ERR_OTHER. Forgets the message. */
int MPIDI_NUMACOLL_stranger_error(const struct nc_call *call);

/* To be called now and then in a wait: writes one line if it lasts longer than REPORT_WAITS. Of the
 * ranks of a node that wait, the first one writes it. */
void MPIDI_NUMACOLL_watch_wait(struct MPIDI_NUMACOLL_comm *state);

#endif
