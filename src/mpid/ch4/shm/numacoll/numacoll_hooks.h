/* What MPICH's posix shared-memory module calls, at the places that maint/graft edits: start and
 * end of the process, life of a communicator, and the entry points at the posix level. What MPICH
 * calls also without that module is in numacoll_mpir.h. */

#ifndef NUMACOLL_HOOKS_H_INCLUDED
#define NUMACOLL_HOOKS_H_INCLUDED

#include "mpiimpl.h"
#include "mpich/compat.h"

/* The entry points at MPICH's posix level. entry: the number of the csel entry that selected
 * numacoll, for its parameters; -1: none. */
#include "numacoll_posix.h"

/* At MPI_Init (comm: NULL), or when the first communicator is made that all processes of the node
 * are in (comm), if they cannot meet before: NC_MEET_BY_COMM of compat.h. Collective over the
 * processes of the node. Checks the variables, the assumed machine and the network file; compares
 * what all processes must have alike; finds out whether ranks outnumber processors. A value that is
 * wrong or differs between processes gets a line on stderr, and MPIR_numacoll_end_start returns the
 * error, on all processes of the node. Errors: MPI_ERR_OTHER. */
int MPIDI_NUMACOLL_world_init(MPIR_Comm *comm);

/* At MPI_Finalize, local: writes the totals of the report and frees what world_init made. */
void MPIDI_NUMACOLL_world_finalize(void);

/* Before a communicator is committed, local: clears numacoll's fields of it, because MPICH recycles
 * communicator objects. */
void MPIDI_NUMACOLL_comm_pre_hook(MPIR_Comm *comm);

/* When the communicator's sub-communicators exist, local: its node_comm gets a pointer to it,
 * because a node_comm uses the state of its parent communicator. Where processes meet by a
 * communicator, they may do so here: errors of MPIDI_NUMACOLL_world_init. */
int MPIDI_NUMACOLL_comm_post_hook(MPIR_Comm *comm);

/* When a window has its memory (MPI_Win_allocate, MPI_Win_allocate_shared), before its processes
 * meet for the last time: notes it in the table of windows (mpich/windows.h), if its memory is
 * shared. Local; errors: MPI_ERR_OTHER, no memory. */
int MPIDI_NUMACOLL_window_made(MPIR_Win *win);

/* When a window is freed, after its processes have met and before its memory is gone, local: takes
 * it out of the table, if it is there. */
void MPIDI_NUMACOLL_window_freed(MPIR_Win *win);

/* When a communicator is freed, local: keeps its state (mpich/kept.h), or frees it. */
void MPIDI_NUMACOLL_comm_free_hook(MPIR_Comm *comm);

#endif
