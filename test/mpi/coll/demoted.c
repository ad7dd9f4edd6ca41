/* Tests that short messages are demoted where the processor can and DEMOTE says so, as
 * numacoll_demoted_bytes counts it.
 *
 *   demoted BYTES    the bytes that the root of each Bcast is to demote, 0: none, also where the
 *                    processor can */

#include "nctest.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* So few that nothing is measured meanwhile (NC_SIBLING_EVERY): the processors may be siblings. */
enum { CALLS = 100, LENGTH = 256 };

static int can_demote(void)
{
#ifdef __x86_64__
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 25);
#else
    return 0;
#endif
}

int main(int argc, char **argv)
{
    char message[LENGTH] = {0};
    struct nc_pvar demoted;
    unsigned long long wanted = 0, found;

    nc_init(&argc, &argv);
    nc_pvar_open(&demoted, "numacoll_demoted_bytes");
    for (int i = 0; i < CALLS; i++)
        nc_bcast(message, LENGTH, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (nc_rank == 0 && argc > 1 && can_demote())
        wanted = (unsigned long long) atoi(argv[1]) * CALLS;
    found = nc_pvar_read(&demoted);
    if (found != wanted)
        nc_fail("bytes demoted, instead of", (long) found, (long) wanted);
    MPI_T_pvar_handle_free(nc_pvar_session, &demoted.handle);
    return nc_finish();
}
