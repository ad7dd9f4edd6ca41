/* The statistics as performance variables of MPI_T. pvars.c has their names, stats.c the
 * numbers. */

#ifndef NUMACOLL_PVARS_H_INCLUDED
#define NUMACOLL_PVARS_H_INCLUDED

/* Registers the variables. Called at each MPI_Init; the second and later calls while MPI_T lives do
 * nothing. */
void MPIDI_NUMACOLL_pvars_register(void);

#endif
