/* What MPICH calls in its blocking waits and when it sends a message through shared memory, at the
 * places that maint/graft edits; mpich/rest.c has the functions. Apart from numacoll_mpir.h because
 * MPICH's headers with inline functions include it: it needs no other header. Always built. */

#ifndef NUMACOLL_WAITS_H_INCLUDED
#define NUMACOLL_WAITS_H_INCLUDED

#include <stdbool.h>

/* MPICH's own blocking waits, by the stages of PROTOCOLS.md, section 5. rests: they are turned on,
 * in all processes of the node or in none. */
extern bool MPIR_numacoll_rests;

/* At the start of a wait, and before each poll of the progress engine in it: gives the processor
 * away, or sleeps, where that pays. Between two polls the caller looks whether its wait is over.
 * rung: inside a node only messages in this process's queue end the wait, so a ring does. */
void MPIR_numacoll_wait_begins(bool rung);
void MPIR_numacoll_wait_goes_on(void);

/* After a message has been put into the queue of a process of this node: wakes the process if it
 * sleeps. local_rank: its number among the processes of MPI_COMM_WORLD's node. */
void MPIR_numacoll_ring(int local_rank);

/* How many cells of messages this process has taken out of its queue and put into others'. A poll
 * of the progress engine takes one at most, and sends one of a message that is under way; who wants
 * to sleep polls until neither happens. */
extern unsigned MPIR_numacoll_cells_moved;

#endif
