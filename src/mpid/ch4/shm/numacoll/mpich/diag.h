/* Everything numacoll has to say to the user, besides its reports, is said here: one line on
 * stderr. Always built.
 *
 * One rule says which process speaks: of the processes that know of the problem, the one with rank
 * 0. Callers pass their rank among those: the rank in a communicator, MPIDI_NUMACOLL_job_rank(), or
 * 0 if this process alone knows. */

#ifndef NUMACOLL_DIAG_H_INCLUDED
#define NUMACOLL_DIAG_H_INCLUDED

/* The rank of this process in the job; before MPICH knows it, the one the launcher gave (0 if it
 * gave none). */
int MPIDI_NUMACOLL_job_rank(void);

/* Writes "numacoll: " and the text as one line, if rank is 0. */
void MPIDI_NUMACOLL_complain(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* To be called on every rank after the line, before an error that ends the job: a launcher that is
 * told of an abort may end the job before it has passed on what rank 0 wrote. Waits once in a
 * process, 50 ms on rank 0 and 150 ms elsewhere. */
void MPIDI_NUMACOLL_pause_before_error(int rank);

#endif
