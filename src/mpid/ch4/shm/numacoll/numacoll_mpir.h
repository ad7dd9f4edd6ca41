/* What the grafted places of MPICH call where there may be no shared memory: selection files, info
 * keys, complaints. Always built. */

#ifndef NUMACOLL_MPIR_H_INCLUDED
#define NUMACOLL_MPIR_H_INCLUDED

#include "mpiimpl.h"

struct json_object;

/* The three kinds of selection file, by what their names select. */
enum MPIR_numacoll_csel {
    MPIR_NUMACOLL_CSEL_MPIR,
    MPIR_NUMACOLL_CSEL_CH4,
    MPIR_NUMACOLL_CSEL_POSIX
};

/* MPIR_Csel_create_from_file with a check of the whole file first. Errors: MPI_ERR_OTHER, with one
 * line from rank 0 that says file, line, value and what is allowed. */
int MPIR_numacoll_csel_from_file(enum MPIR_numacoll_csel level, const char *path,
                                 void *(*create_container)(struct json_object *), void **csel);

/* The number of the parameters that a entry of a (checked) selection file carries for numacoll; -1
 * if none. */
int MPIR_numacoll_csel_entry(struct json_object *entry);

/* Info keys numacoll_<variable>. check: before a communicator is made with them, local; rank: in
 * it. Errors: MPI_ERR_INFO_VALUE with one line from rank 0. */
int MPIR_numacoll_check_info(int rank, MPIR_Info *info);

/* The communicator keeps those keys that are right; it may not be committed yet. */
void MPIR_numacoll_take_info(MPIR_Comm *comm, MPIR_Info *info);
int MPIR_numacoll_get_info(MPIR_Comm *comm, MPIR_Info *info);

/* Collective, for MPI_Comm_set_info: checked, taken, and if the communicator is in use its later
 * calls go by them; or nothing is changed. Errors: MPI_ERR_INFO_VALUE; in use, on all ranks if one
 * is wrong or they differ. */
int MPIR_numacoll_renew_info(MPIR_Comm *comm, MPIR_Info *info);

/* The hwloc_topology_t that MPICH has loaded for this process, to be read; NULL if it has none. */
void *MPIR_numacoll_hwloc(void);

/* One line from rank 0 about a variable in the environment that MPICH is about to refuse. `allowed`
 * is text. */
void MPIR_numacoll_refuse(const char *variable, const char *value, const char *allowed);

/* ... if it is set, is to be an int, and is none (MPICH would take the lowest bits of one that is
 * too large). Errors: MPI_ERR_OTHER. */
int MPIR_numacoll_expect(const char *variable, const char *type);

#endif
