/* The check of selection files, and those in use, as ranks compare them. What MPICH calls is
 * declared in numacoll_mpir.h. Always built. */

#ifndef NUMACOLL_SELECTION_FILE_H_INCLUDED
#define NUMACOLL_SELECTION_FILE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "numacoll_mpir.h"

enum { NC_SELECTION_FILES = MPIR_NUMACOLL_CSEL_POSIX + 1 };

/* Bytes of a line about a file; a longer one is cut. */
#define NC_SELECTION_PROBLEM 4096

/* For each level (enum MPIR_numacoll_csel): the variable that names its selection file, and the
 * checksum of the file's text, 0: there is no file. */
const char *MPIDI_NUMACOLL_file_variable(int level);
unsigned MPIDI_NUMACOLL_file_checksum(int level);

/* Whether there is a file for any level. */
bool MPIDI_NUMACOLL_files_are_given(void);

/* Checks the text of a file. False, and in problem[size] a line with path, line number, value and
 * what is allowed: MPICH would not understand it. */
bool MPIDI_NUMACOLL_file_check(int level, const char *path, const char *text, char *problem,
                               size_t size);

/* Makes MPICH's form of a text that was checked, *csel, for MPIR_Csel_free. Errors: of MPICH. */
int MPIDI_NUMACOLL_file_make(int level, const char *text, void **csel);

/* Where MPICH keeps its own choices for a level in that form; NULL: it has a file's. */
void **MPIDI_NUMACOLL_file_default(int level);

/* At MPI_Finalize: forgets all of that. */
void MPIDI_NUMACOLL_files_forget(void);

#endif
