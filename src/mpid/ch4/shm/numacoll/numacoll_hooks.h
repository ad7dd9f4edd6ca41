/* What the grafted places of MPICH call. */

#ifndef NUMACOLL_HOOKS_H_INCLUDED
#define NUMACOLL_HOOKS_H_INCLUDED

#include "mpiimpl.h"
#include "mpich/compat.h"

/* The entry points at the posix level; entry: the parameters a selection file gives, -1 for none */
#include "numacoll_posix.h"

/* At MPI_Init, collective over the processes of the node: checks the variables, learns whether
 * ranks outnumber processors. Errors: MPI_ERR_OTHER with a line on stderr for a variable out of
 * range. */
int MPIDI_NUMACOLL_world_init(void);

/* At MPI_Finalize, local: the report. */
void MPIDI_NUMACOLL_world_finalize(void);

/* At the making of any communicator: clears its fields (communicator objects are recycled). */
void MPIDI_NUMACOLL_comm_pre_hook(MPIR_Comm *comm);

/* After its sub-communicators exist: the node_comm learns whose state it shares. */
void MPIDI_NUMACOLL_comm_post_hook(MPIR_Comm *comm);

/* Local, at its end: gives back what the communicator holds. Does not communicate. */
void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm *comm);

#endif
