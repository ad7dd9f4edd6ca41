/* What a program has done wrong when ranks are in different calls: a rank that meets a message of
 * another call returns an error that names both, and a wait that lasts long is reported with the
 * ranks that have not come. */

#ifndef NUMACOLL_WATCH_H_INCLUDED
#define NUMACOLL_WATCH_H_INCLUDED

#include "call.h"

/* Shows the other ranks of the node which call the next operation belongs to. */
void MPIDI_NUMACOLL_watch_enter(struct MPIDI_NUMACOLL_comm *state);

/* What nc_queue.call is made of: the collective + 1, and which of its calls this is: the root + 1,
 * or, from NC_WATCHED_ROOTS on, the way; both modulo NC_WATCHED_ROOTS. */
enum { NC_WATCHED_COLLECTIVES = 32, NC_WATCHED_ROOTS = 1024 };

/* Tells the queue, and with REPORT_WAITS the other ranks, which call the next operation belongs to.
 */
static inline void MPIDI_NUMACOLL_watch_which(const struct nc_call *call, int which)
{
    call->state->queue.call = (uint16_t) ((int) call->coll + 1 + which * NC_WATCHED_COLLECTIVES);
    if (unlikely(MPIR_CVAR_NUMACOLL_REPORT_WAITS))
        MPIDI_NUMACOLL_watch_enter(call->state);
}

/* Every call comes here before its first operation. root: -1 if it has none. */
static inline void MPIDI_NUMACOLL_watch_call(const struct nc_call *call, int root)
{
    MPIDI_NUMACOLL_watch_which(call, (root + 1) % NC_WATCHED_ROOTS);
}

/* So does a call whose operations follow from the counts, which should be the same on all ranks:
 * `way` (0 to 3) and `times` say which operations it makes. Ranks that would make different ones
 * then are in different calls. */
static inline void MPIDI_NUMACOLL_watch_way(const struct nc_call *call, int way, uint64_t times)
{
    MPIDI_NUMACOLL_watch_which(call, NC_WATCHED_ROOTS +
                                         (int) ((4 * times + (uint64_t) way) % NC_WATCHED_ROOTS));
}

/* The error of a call in which this rank has met a message of another call: complains, and returns
 * MPI_ERR_OTHER. Forgets the message. */
int MPIDI_NUMACOLL_stranger_error(const struct nc_call *call);

/* To be called in a wait of a rank that has met such a message: other ranks may make fewer
 * operations than this one, and the wait may last for ever. So where errors end the job, this one
 * ends it now. */
void MPIDI_NUMACOLL_watch_stranger(struct MPIDI_NUMACOLL_comm *state);

/* To be called now and then in a wait: writes one line if it lasts longer than REPORT_WAITS. Of the
 * ranks of a node that wait, the first one writes it. */
void MPIDI_NUMACOLL_watch_wait(struct MPIDI_NUMACOLL_comm *state);

#endif
