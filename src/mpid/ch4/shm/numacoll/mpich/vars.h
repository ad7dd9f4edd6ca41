/* Checks the variables that the user has set, at MPI_Init. */

#ifndef NUMACOLL_VARS_CHECK_H_INCLUDED
#define NUMACOLL_VARS_CHECK_H_INCLUDED

#include <stdbool.h>

/* Checks that every variable is within its range. *collectives: bit per collective that
 * MPIR_CVAR_NUMACOLL_COLLECTIVES selects, without those whose INTRA_ALGORITHM is set in the
 * environment. *tuned: those of them that only the word `tuned` selects; none of them if there are
 * selection files. False, with one line from rank 0: a value is wrong. */
bool MPIDI_NUMACOLL_vars_check(unsigned *collectives, unsigned *tuned);

#endif
