/* Messages to the user: one line each on stderr. Everything that numacoll tells the user goes
 * through this file, except the reports (report.h). Always built.
 *
 * One rule says which process writes a line: of the processes that know of the problem, the one
 * with rank 0. Callers pass their rank among those processes: the rank in a communicator,
 * MPIDI_NUMACOLL_job_rank(), or 0 if only this process knows. */

#ifndef NUMACOLL_DIAG_H_INCLUDED
#define NUMACOLL_DIAG_H_INCLUDED

#include <stdbool.h>

/* The rank of this process in the job. Before MPICH knows it: the rank that the launcher gave, 0 if
 * it gave none. */
int MPIDI_NUMACOLL_job_rank(void);

/* Writes "numacoll: " and the text as one line, if rank is 0. During MPI_Init other ranks keep the
 * line, and write it in pause_before_error if the job still runs then: it is wrong there alone. */
void MPIDI_NUMACOLL_complain(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Waits, so that the line of rank 0 arrives before an error ends the job: a launcher that is told
 * of an abort may end the job before it has passed on what rank 0 wrote. Every rank calls this
 * after the line and before it returns the error. Waits only once in a process: on rank 0 until the
 * launcher has read the line, if it comes through a pipe, at most 5 s, and otherwise 50 ms; on
 * other ranks for 1 s. */
void MPIDI_NUMACOLL_pause_before_error(int rank);

/* Notes, after the line, that MPI_Init is to fail: at MPIR_numacoll_end_start, because an error
 * ends the job at once, also ranks that are making a file in /dev/shm just now. rank: as for
 * pause_before_error, or -1 if another process of the node says what is wrong; that of the first
 * call counts. */
void MPIDI_NUMACOLL_refuse_start(int rank);
bool MPIDI_NUMACOLL_start_is_refused(void);

#endif
