/* The site's file (mpich/site.c, with MPICH's headers): an input is a file. It is read as at
 * MPI_Init, for an MPICH that has two variables. A file that is refused has one line; and nothing
 * of it stays in the environment. */

#include "mpich/site.h"

#include <stdlib.h>

#include "fuzz.h"
#include "numacoll_mpir.h"
#include "said.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char yield[] = "MPIR_CVAR_NUMACOLL_YIELD", bcast[] = "MPIR_CVAR_BCAST_MIN";
    int mpi_errno;

    setenv("NUMACOLL_CONF", fuzz_file("numacoll.conf", data, size), 1);
    said_begin();
    mpi_errno = MPIR_numacoll_site_begin();
    if (!mpi_errno) {
        MPIR_numacoll_site_offer(yield, NULL);
        MPIR_numacoll_site_offer(bcast, "MPICH_BCAST_MIN", NULL);
        MPIDI_NUMACOLL_site_origin(yield);
        for (int i = 0; MPIDI_NUMACOLL_site_line(i); i++)
            assert(*MPIDI_NUMACOLL_site_line(i));
        MPIR_numacoll_expect(yield, "boolean");
        said_end();
        said_begin();
        MPIR_numacoll_expect(bcast, "int");
        said_end();
        said_begin();
        mpi_errno = MPIR_numacoll_site_end(MPI_SUCCESS);
    }
    assert(!*said_end() == !mpi_errno);
    assert(!getenv(yield) && !getenv(bcast));
    return 0;
}
