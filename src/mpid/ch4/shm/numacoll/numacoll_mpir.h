/* What MPICH calls, at the places that maint/graft edits, whether or not it has the posix
 * shared-memory module: selection files, info keys, messages about wrong values. Always built. */

#ifndef NUMACOLL_MPIR_H_INCLUDED
#define NUMACOLL_MPIR_H_INCLUDED

#include "mpiimpl.h"

struct json_object;

/* The three kinds of selection file, by the level of MPICH whose algorithms they name. */
enum MPIR_numacoll_csel {
    MPIR_NUMACOLL_CSEL_MPIR,
    MPIR_NUMACOLL_CSEL_CH4,
    MPIR_NUMACOLL_CSEL_POSIX
};

/* Takes the place of MPIR_Csel_create_from_file: checks the whole file, then makes *csel of it.
 * create_container makes a csel entry from its JSON object. Errors: MPI_ERR_OTHER, with one line
 * from rank 0 that says file, line, value and what is allowed; at the posix level before 5.0 the
 * line comes here, the error from MPIR_numacoll_end_start, and *csel is NULL. */
int MPIR_numacoll_csel_from_file(enum MPIR_numacoll_csel level, const char *path,
                                 void *(*create_container)(struct json_object *), void **csel);

/* Takes the place of MPIR_Csel_create_from_buf, by which MPICH makes *csel of its own choices where
 * no file is given: also keeps where that is, because tuned files (mpich/tuned.h) may come in its
 * place at the end of MPI_Init. */
int MPIR_numacoll_csel_from_default(enum MPIR_numacoll_csel level, const char *text,
                                    void *(*create_container)(struct json_object *), void **csel);

/* Keeps the parameters for numacoll that a csel entry of a checked selection file has. Returns the
 * number under which they are kept, which the entry points take as `entry`; -1: there are none. */
int MPIR_numacoll_csel_entry(struct json_object *entry);

/* Checks the info keys numacoll_<variable> before a communicator is made with them. Local. rank: of
 * this process in the communicator or group that the new communicator is made from. Errors:
 * MPI_ERR_INFO_VALUE, with one line from rank 0. */
int MPIR_numacoll_check_info(int rank, MPIR_Info *info);

/* Keeps the valid keys of `info` in the communicator, which may not be committed yet; wrong keys
 * are ignored. */
void MPIR_numacoll_take_info(MPIR_Comm *comm, MPIR_Info *info);
/* Adds the keys that the communicator keeps to `info`. */
int MPIR_numacoll_get_info(MPIR_Comm *comm, MPIR_Info *info);

/* Says that a new communicator is for MPICH's own use: a window's. */
void MPIR_numacoll_inner_comm(MPIR_Comm *comm);

/* For MPI_Comm_set_info, collective: checks the keys and keeps them. If the communicator's state is
 * ready, its later calls use them. After an error the communicator has its old keys. Errors:
 * MPI_ERR_INFO_VALUE; if the state is ready, on all ranks when one rank's keys are wrong or ranks
 * have different ones. */
int MPIR_numacoll_renew_info(MPIR_Comm *comm, MPIR_Info *info);

/* For MPI_Alloc_mem: a shared buffer (mpich/shared_buffers.h) of so many bytes, if the info key
 * numacoll_shared_buffers or the variable wants one. NULL: MPICH is to allocate. free_mem: frees
 * it; false: it is none. Any thread. */
void *MPIR_numacoll_alloc_mem(size_t bytes, MPIR_Info *info);
bool MPIR_numacoll_free_mem(void *buffer);

/* The hwloc_topology_t that MPICH has loaded for this process, read-only; NULL: MPICH has none. */
void *MPIR_numacoll_hwloc(void);

/* Writes one line from rank 0 about an environment variable that MPICH is about to refuse. allowed:
 * the text after "must be". */
void MPIR_numacoll_refuse(const char *variable, const char *value, const char *allowed);

/* Writes that line if the variable is set and its value is not of its type: "int", a number that
 * fits an int (MPICH would take the lowest bits of a larger one), or "boolean". Errors:
 * MPI_ERR_OTHER. */
int MPIR_numacoll_expect(const char *variable, const char *type);

/* The site's file (mpich/site.h), around the reading of MPICH's control variables. begin: reads it.
 * offer: called before MPICH looks for a variable under its names, ending with NULL; puts the
 * file's value into the environment if no name is there. end: removes these values from the
 * environment again; takes and returns the error so far. Errors: MPI_ERR_OTHER, with one line from
 * each node: the file cannot be read, a line is wrong or names no variable. */
int MPIR_numacoll_site_begin(void);
void MPIR_numacoll_site_offer(const char *variable, ...) __attribute__((sentinel));
int MPIR_numacoll_site_end(int mpi_errno);

/* At MPI_Init, when all nodes have exchanged their network addresses, local: an error if
 * MPIDI_NUMACOLL_world_init or the posix level's selection file is refused on this node. Before
 * that point an error of one node would leave files of other nodes in /dev/shm: MPICH's files at
 * the start have names until all processes of their node have opened them, and the last of these
 * files is made before the exchange. From 5.0 on MPIDI_NUMACOLL_world_init calls it. Errors:
 * MPI_ERR_OTHER; the line has been written before. */
int MPIR_numacoll_end_start(void);

/* At the end of MPI_Init, collective over MPI_COMM_WORLD: compares the nodes in what must be the
 * same everywhere: selection files, selected collectives, CREATE_AFTER. Errors: they differ, with
 * one line from rank 0. Then takes tuned files if all ranks have the same (mpich/tuned.h). */
int MPIR_numacoll_compare_nodes(void);

/* MPICH's barrier of the processes of a node at MPI_Init and MPI_Finalize, which waits until *word
 * is no longer `old`. start_sleep: sleeps for a moment and returns true; false: the caller should
 * yield the processor, because the wait is young or YIELD is `off`. start_wake, after *word has
 * changed: wakes who sleeps. */
bool MPIR_numacoll_start_sleep(const void *word, int old);
void MPIR_numacoll_start_wake(const void *word);

/* Collective over all processes that exchange network addresses at the start, when this process has
 * the addresses of all: returns when all have. libfabric's sockets provider gives a message from a
 * process whose address it does not have yet to a receive from any other, so nobody may send a
 * message of a later step before. The messages of this barrier itself are between roots of nodes,
 * who have each other's addresses. comm: that in which MPICH exchanges them; before 5.0 that of the
 * roots, NULL in other processes. On one node nobody waits. */
int MPIR_numacoll_meet_all(MPIR_Comm *comm);

#endif
