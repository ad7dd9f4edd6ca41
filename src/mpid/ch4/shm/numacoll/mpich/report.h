/* What users read with MPIR_CVAR_NUMACOLL_REPORT. */

#ifndef NUMACOLL_REPORT_H_INCLUDED
#define NUMACOLL_REPORT_H_INCLUDED

#include "state.h"

/* How a communicator was set up, or why it was not; by its rank 0, from REPORT=1 on. */
void MPIDI_NUMACOLL_report_setup(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

/* What was served since MPI_Init. */
void MPIDI_NUMACOLL_report_totals(void);

#endif
