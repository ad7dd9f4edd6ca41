/* Selection files (mpich/selection_file.c, with MPICH's headers and its own reader behind it): an
 * input is the level, 0 to 2, and the text of a file. What is taken must not end in an assertion of
 * MPICH; what is refused has one line. */

#include "fuzz.h"

#include "numacoll_csel.h"
/* of the collectives that MPICH's uppermost level must have, one: inputs shall be short */
#undef NC_CSEL_REQUIRED
#define NC_CSEL_REQUIRED "bcast"
#include "mpich/selection_file.c"

#include "numacoll_mpir.h"

#include "said.h"

/* MPICH keeps what it makes of an entry until the process ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:MPIR_Csel_create_from_buf\n";
}

/* For the levels whose own function is not to be had. */
static void *make_container(struct json_object *entry)
{
    MPIR_numacoll_csel_entry(entry);
    return malloc(1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int level = size ? *data - '0' : -1, mpi_errno;
    void *csel = NULL;

    if (level < 0 || level >= NC_SELECTION_FILES)
        return 0;
    said_begin();
    mpi_errno = MPIR_numacoll_csel_from_file(
        level, fuzz_file("selection.json", data + 1, size - 1),
        level == MPIR_NUMACOLL_CSEL_MPIR ? MPII_Create_container : make_container, &csel);
    if (!mpi_errno)
        mpi_errno = MPIR_numacoll_end_start(); /* where a file of the posix level is refused */
    assert(!*said_end() == !mpi_errno);
    if (!mpi_errno)
        MPIR_Csel_free(csel);
    MPIDI_NUMACOLL_settings_clear();
    return 0;
}
