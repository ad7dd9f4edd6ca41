/* What a process keeps of communicators that were freed: their states, with segment, queue and all,
 * for the next communicator of the same ranks of this node in the same order. It goes on where the
 * freed one stopped, as if its operations were more of that one's. comm.c puts states here,
 * state_make.c takes them out. PROTOCOLS.md, section 6.2.
 *
 * Each process decides for itself what it keeps, and for how long; the ranks of a new communicator
 * agree whether all of them have the same (agree.h). All functions are local, and any thread may
 * call them. */

#ifndef NUMACOLL_KEPT_H_INCLUDED
#define NUMACOLL_KEPT_H_INCLUDED

#include "state.h"

/* What a state can be used for again: the ranks of the node, the settings by which a segment and
 * groups are made, and the kind of communicator. Sets state->key; NULL: no memory, and the state
 * will not be kept. */
void MPIDI_NUMACOLL_kept_set_key(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent);

/* Keeps the state of a communicator that is freed; frees others where there are too many. False: it
 * is not to be kept, and the caller has to free it. */
bool MPIDI_NUMACOLL_kept_put(struct MPIDI_NUMACOLL_comm *state);

/* Whether this process has ever freed a state that it kept to make room for another one: the
 * program makes many communicators, of different ranks. */
bool MPIDI_NUMACOLL_kept_was_full(void);

/* Takes a state that may take the place of `like`, which has its key. NULL: none is kept. */
struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_kept_take(const struct MPIDI_NUMACOLL_comm *like);

/* Puts a state that was taken back (NULL: none), because not all ranks have it, unless it is not
 * good any more: then it is freed. */
void MPIDI_NUMACOLL_kept_put_back(struct MPIDI_NUMACOLL_comm *state, bool good);

/* Puts a state that was taken by all ranks in the place of the new one of `parent`, which is freed.
 * Its queue goes on from the operation where it is, so nothing in shared memory is written; but its
 * choices are made anew, as the info keys may be others. On one node no more has to be agreed. */
void MPIDI_NUMACOLL_kept_go_on(struct MPIDI_NUMACOLL_comm *kept, struct MPIDI_NUMACOLL_comm *state,
                               MPIR_Comm *parent);

/* Takes any; NULL: nothing is kept. */
struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_kept_take_any(void);

/* How many operations were made in a state, blocking and nonblocking, each modulo 2^31. */
void MPIDI_NUMACOLL_kept_operations(const struct MPIDI_NUMACOLL_comm *state, int operations[2]);

/* All that is kept. */
extern const struct nc_spare MPIDI_NUMACOLL_kept_spare;

#endif
