/* What a communicator has for its nonblocking calls: a segment of their own, and this process's
 * view of it. state_make.c makes it with the communicator's state, state_free.c frees it with that;
 * coll/nonblocking.c uses it. */

#ifndef NUMACOLL_NONBLOCKING_SEGMENT_H_INCLUDED
#define NUMACOLL_NONBLOCKING_SEGMENT_H_INCLUDED

#include "state.h"
#include "../shm/nc_nonblocking.h"

#include <pthread.h> /* behind MPICH's headers, which say what the system's have to declare */

/* Private to the process. */
struct MPIDI_NUMACOLL_nonblocking {
    /* One thread starts calls on a communicator; others may come from MPICH's progress engine
     * meanwhile. No thread waits while it holds the lock. */
    pthread_mutex_t lock;
    struct nc_nonblocking operations;
    struct nc_segment segment;
    struct nc_waiter
        waiter;    /* never waited with; it has no parking, so no sleeping rank is looked for */
    char **region; /* [size] */
};

/* Sets state->nonblocking, if variables select numacoll for some nonblocking collective, the
 * communicator is one of the program's, on one node, and all ranks have the memory; else it stays
 * NULL. Collective over the ranks of the node, in the set-up of the state, when the segment for
 * blocking calls is there. like: what that one was wanted as. Errors: of MPICH's messages. */
int MPIDI_NUMACOLL_nonblocking_make(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent,
                                    const struct nc_wanted *like);

/* Whether a communicator is to have it. Alike on all ranks. */
bool MPIDI_NUMACOLL_nonblocking_is_wanted(const struct MPIDI_NUMACOLL_comm *state,
                                          MPIR_Comm *parent);

/* Frees it, if there is any. No call may be open. Local. */
void MPIDI_NUMACOLL_nonblocking_free(struct MPIDI_NUMACOLL_comm *state);

#endif
