/* The selection files in use, as ranks compare them. What MPICH calls is declared in
 * numacoll_mpir.h. Always built. */

#ifndef NUMACOLL_SELECTION_FILE_H_INCLUDED
#define NUMACOLL_SELECTION_FILE_H_INCLUDED

#include "numacoll_mpir.h"

enum { NC_SELECTION_FILES = MPIR_NUMACOLL_CSEL_POSIX + 1 };

/* For each level (enum MPIR_numacoll_csel): the variable that names its selection file, and the
 * checksum of the file's text, 0: there is no file. */
const char *MPIDI_NUMACOLL_file_variable(int level);
unsigned MPIDI_NUMACOLL_file_checksum(int level);

/* At MPI_Finalize: forgets the checksums. */
void MPIDI_NUMACOLL_files_forget(void);

#endif
