/* MPICH's own blocking waits (MPI_Recv, MPI_Wait, ..) by the stages of shm/nc_wait.h: spin, yield,
 * sleep. rest.c has what maint/graft makes MPICH call (numacoll_waits.h); world.c turns it on, and
 * bells.c makes the bells. Always built. */

#ifndef NUMACOLL_REST_H_INCLUDED
#define NUMACOLL_REST_H_INCLUDED

#include "../shm/nc_wait.h"

/* From now on MPICH's blocking waits of this process rest, and its senders ring. bell[]: of the
 * local ranks, by their numbers in MPI_COMM_WORLD's node; `mine` is this process's. like: how to
 * wait; its counts are not used. */
void MPIR_numacoll_rests_start(struct nc_bell *bell, int mine, const struct nc_waiter *like);
void MPIR_numacoll_rests_stop(void);

/* struct nc_waiter.step_aside: leaves MPICH's global lock, or takes it again. */
void MPIR_numacoll_step_aside(void *unused, bool aside);

#endif
