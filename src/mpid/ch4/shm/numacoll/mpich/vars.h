/* Checks the variables that the user has set, at MPI_Init. */

#ifndef NUMACOLL_VARS_CHECK_H_INCLUDED
#define NUMACOLL_VARS_CHECK_H_INCLUDED

/* Checks that every variable is within its range. *collectives: bit per collective that
 * MPIR_CVAR_NUMACOLL_COLLECTIVES selects, without those whose INTRA_ALGORITHM is set in the
 * environment. *tuned: those of them that only the word `tuned` selects; none of them if there are
 * selection files. Errors: MPI_ERR_OTHER, with one line from rank 0. */
int MPIDI_NUMACOLL_vars_check(unsigned *collectives, unsigned *tuned);

#endif
