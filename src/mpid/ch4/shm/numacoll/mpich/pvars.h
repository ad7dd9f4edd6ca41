/* The counts as performance variables of MPI_T. */

#ifndef NUMACOLL_PVARS_H_INCLUDED
#define NUMACOLL_PVARS_H_INCLUDED

/* At MPI_Init, which may come several times while MPI_T lives. */
void MPIDI_NUMACOLL_pvars_register(void);

#endif
