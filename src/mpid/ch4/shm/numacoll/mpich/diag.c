/* Messages to the user, one line each on stderr. See diag.h. Always built. */

#define _GNU_SOURCE
#include "diag.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "mpiimpl.h"
#include "numacoll_mpir.h"
#include "site.h"

int MPIDI_NUMACOLL_job_rank(void)
{
    const char *rank = getenv("PMI_RANK");

    if (MPIR_Process.size > 0)
        return MPIR_Process.rank;
    if (!rank)
        rank = getenv("PMIX_RANK");
    return rank ? atoi(rank) : 0;
}

void MPIDI_NUMACOLL_complain(int rank, const char *format, ...)
{
    char *text = NULL;
    va_list values;

    if (rank != 0)
        return;
    va_start(values, format);
    if (vasprintf(&text, format, values) < 0)
        text = NULL;
    va_end(values);
    /* one write, so that the lines of several processes do not mix */
    fprintf(stderr, "numacoll: %s\n", text ? text : format);
    fflush(stderr);
    free(text);
}

void MPIDI_NUMACOLL_pause_before_error(int rank)
{
    static bool paused;

    /* only before the first error: a program that continues after errors shall not be slowed down
     * by each */
    if (!paused)
        usleep(rank == 0 ? 50000 : 150000);
    paused = true;
}

/* ---- values that MPICH itself refuses ---- */

void MPIR_numacoll_refuse(const char *variable, const char *value, const char *allowed)
{
    const char *origin = MPIDI_NUMACOLL_site_origin(variable);
    int rank = *origin ? MPIDI_NUMACOLL_site_rank() : MPIDI_NUMACOLL_job_rank();

    MPIDI_NUMACOLL_complain(rank, "%s%s=%s: must be %s", origin, variable, value, allowed);
    MPIDI_NUMACOLL_pause_before_error(rank);
}

int MPIR_numacoll_expect(const char *variable, const char *type)
{
    int mpi_errno = MPI_SUCCESS;
    const char *value = getenv(variable);
    bool good = !value || !*value || strcmp(type, "int");
    char *end;

    if (!good) {
        errno = 0;
        long number = strtol(value, &end, 10);
        good = end != value && !*end && !errno && number >= INT_MIN && number <= INT_MAX;
    }
    if (!good)
        MPIR_numacoll_refuse(variable, value, "a number of at most 31 bits");
    MPIR_ERR_CHKANDJUMP1(!good, mpi_errno, MPI_ERR_OTHER, "**envvarparse", "**envvarparse %s",
                         variable);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
