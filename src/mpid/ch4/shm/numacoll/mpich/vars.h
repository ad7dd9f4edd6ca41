/* The variables a user sets, checked at MPI_Init. */

#ifndef NUMACOLL_VARS_CHECK_H_INCLUDED
#define NUMACOLL_VARS_CHECK_H_INCLUDED

/* Every variable within its range? *collectives: bits of those that the list selects. Errors:
 * MPI_ERR_OTHER, with one line from rank 0. */
int MPIDI_NUMACOLL_vars_check(unsigned *collectives);

#endif
