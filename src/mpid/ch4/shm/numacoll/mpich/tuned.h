/* Tuned files: the three selection files that numacoll-tune has written on machines like this one,
 * used where COLLECTIVES has the word `tuned` and no variable names a selection file. They are in
 * the folder TUNED_FOLDER/MACHINE, beside machine.json, which repeats MACHINE and has the checksums
 * of the three.
 *
 * Each process reads and checks them for itself at MPI_Init. At its end, when all processes can
 * talk to each other, they take the files if all have the same; otherwise they all go on as with
 * COLLECTIVES=all, and rank 0 writes one line. */

#ifndef NUMACOLL_TUNED_H_INCLUDED
#define NUMACOLL_TUNED_H_INCLUDED

#include "mpidimpl.h"

/* MACHINE, by which files are found: the model of the processors, how many NUMA nodes and
 * processors, MPICH's version, and, if the job's ranks outnumber the processors of this node,
 * "_crowded". From MPI_Init to MPI_Finalize; NULL at other times. For numacoll-bench, outside of
 * the library. */
const char *MPIDI_NUMACOLL_tuned_machine(void) __attribute__((visibility("default")));

/* Reads and checks the files, if they are wanted. Local; what is wrong is said by tuned_agree. */
void MPIDI_NUMACOLL_tuned_read(void);

/* Takes the files for comm, which is MPI_COMM_WORLD, and all later communicators, if all ranks have
 * the same ones. Collective over comm; all ranks want tuned files, or none does. Errors: of
 * MPICH. */
int MPIDI_NUMACOLL_tuned_agree(MPIR_Comm *comm);

/* At MPI_Finalize, local: forgets all of that. */
void MPIDI_NUMACOLL_tuned_forget(void);

#endif
