/* The collectives that numacoll serves, numbered by their rows in collectives.yaml; their names,
 * and which of them the variables select. */

#ifndef NUMACOLL_COLLECTIVES_H_INCLUDED
#define NUMACOLL_COLLECTIVES_H_INCLUDED

#include <stdbool.h>

#include "mpiimpl.h"
#include "compat.h"
#include "numacoll_table.h"

enum nc_coll {
#define NC_NUMBER(name, Name, NAME, ...) NC_COLL_##NAME,
    NC_COLLECTIVES(NC_NUMBER)
#undef NC_NUMBER
        NC_COLL_COUNT
};

/* Those that also have nonblocking forms, by the names of the nonblocking ones. */
enum nc_nonblocking_coll {
#define NC_NUMBER(name, Name, NAME, ...) NC_COLL_##NAME,
    NC_NONBLOCKING(NC_NUMBER)
#undef NC_NUMBER
        NC_NONBLOCKING_COUNT
};

const char *MPIDI_NUMACOLL_coll_name(enum nc_coll coll);
const char *MPIDI_NUMACOLL_nonblocking_name(enum nc_nonblocking_coll coll);

/* The bit of the collective of this name, in whatever case; 0: there is none. */
unsigned MPIDI_NUMACOLL_coll_bit(const char *name);

/* The names of the collective's algorithms, in the order of their numbers, one space between. */
const char *MPIDI_NUMACOLL_coll_algorithms(enum nc_coll coll);

/* Bit per collective: those that MPIR_CVAR_NUMACOLL_COLLECTIVES lists; behind them a bit for each
 * that is nonblocking. Set at MPI_Init. */
extern unsigned MPIDI_NUMACOLL_listed;

/* Those of them that are listed by the word `tuned` alone: tuned files, if they are used, choose
 * for them instead of the list (tuned.h). 0: no such files are wanted. */
extern unsigned MPIDI_NUMACOLL_tuned;

/* Whether a variable selects numacoll for a row, an enum nc_coll or, behind these, an enum
 * nc_nonblocking_coll. value: of its MPIR_CVAR_<COLL>_INTRA_ALGORITHM, which has these two values
 * among others. An algorithm chosen for this collective beats the list of collectives. */
static inline bool MPIDI_NUMACOLL_is_selected(int row, int value, int ours, int automatic)
{
    return value == ours || ((MPIDI_NUMACOLL_listed >> row & 1) && value == automatic);
}

/* Whether the variable MPIR_CVAR_<COLL>_INTRA_ALGORITHM or the list selects numacoll for this
 * collective. */
bool MPIDI_NUMACOLL_selected(enum nc_coll coll);

/* The same for the nonblocking forms. */
bool MPIDI_NUMACOLL_nonblocking_selected(enum nc_nonblocking_coll coll);
bool MPIDI_NUMACOLL_any_nonblocking_selected(void);

/* Whether variables select numacoll for Reduce and for Allreduce, as REDUCE_ORDER=ranks needs. */
static inline bool MPIDI_NUMACOLL_reductions_selected(void)
{
    return MPIDI_NUMACOLL_selected(NC_COLL_REDUCE) && MPIDI_NUMACOLL_selected(NC_COLL_ALLREDUCE);
}

#endif
