/* The report that MPIR_CVAR_NUMACOLL_REPORT asks for, on stderr or in REPORT_FILE. */

#ifndef NUMACOLL_REPORT_H_INCLUDED
#define NUMACOLL_REPORT_H_INCLUDED

#include "state.h"

/* Writes how a communicator was set up, or why it cannot be served. Called by every rank, once per
 * communicator; only rank 0 writes, from REPORT=1 on. */
void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

/* Likewise, that the node's segment has been replaced by a larger one. */
void MPIDI_NUMACOLL_report_growth(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

/* Writes which folder's tuned files are used. Called by every rank; only rank 0 writes, from
 * REPORT=1 on. */
void MPIDI_NUMACOLL_report_tuned(const char *folder);

/* Writes what this process has served since MPI_Init, one line per collective. Called by rank 0 at
 * MPI_Finalize with REPORT=2. */
void MPIDI_NUMACOLL_report_totals(void);

/* At MPI_Init: keeps the folder to which REPORT_FILE is relative, whatever the program does later;
 * at MPI_Finalize: frees it. */
void MPIDI_NUMACOLL_report_init(void);
void MPIDI_NUMACOLL_report_finalize(void);

#endif
