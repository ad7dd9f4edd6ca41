/* What MPICH calls in its blocking waits and when it sends a message through shared memory, at the
 * places that maint/graft edits; mpich/rest.c has the functions. Apart from numacoll_mpir.h because
 * MPICH's headers with inline functions include it: it needs no other header. Always built. */

#ifndef NUMACOLL_WAITS_H_INCLUDED
#define NUMACOLL_WAITS_H_INCLUDED

#include <stdbool.h>

/* Several threads of a process may read and write these two words at a time, where MPICH has a lock
 * for each VCI. Neither orders anything, so the accesses are relaxed. */
extern bool MPIR_numacoll_resting;
extern unsigned MPIR_numacoll_moved;

/* MPICH's own blocking waits, by the stages of PROTOCOLS.md, section 5. rests: they are turned on,
 * in all processes of the node or in none. */
static inline bool MPIR_numacoll_rests(void)
{
    return __atomic_load_n(&MPIR_numacoll_resting, __ATOMIC_RELAXED);
}

static inline void MPIR_numacoll_set_rests(bool rests)
{
    __atomic_store_n(&MPIR_numacoll_resting, rests, __ATOMIC_RELAXED);
}

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
 * to sleep polls until neither happens. Of two threads that count at a time one may be lost, but
 * the number has changed. */
static inline unsigned MPIR_numacoll_cells_moved(void)
{
    return __atomic_load_n(&MPIR_numacoll_moved, __ATOMIC_RELAXED);
}

static inline void MPIR_numacoll_cell_moved(void)
{
    __atomic_store_n(&MPIR_numacoll_moved, MPIR_numacoll_cells_moved() + 1, __ATOMIC_RELAXED);
}

#endif
