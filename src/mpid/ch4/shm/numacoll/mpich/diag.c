/* Messages to the user, one line each on stderr. See diag.h. Always built. */

#define _GNU_SOURCE
#include "diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiimpl.h"
#include "numacoll_mpir.h"

int MPIDI_NUMACOLL_job_rank(void)
{
    const char *rank = getenv("PMI_RANK");

    if (MPIR_Process.size > 0)
        return MPIR_Process.rank;
    if (!rank)
        rank = getenv("PMIX_RANK");
    return rank ? atoi(rank) : 0;
}

/* Replaces the control characters, which a key or a value of a user's file may have: they would end
 * the line, or change the terminal. */
static void make_printable(char *text)
{
    for (char *c = text; *c; c++) {
        if (iscntrl((unsigned char) *c))
            *c = '?';
    }
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
    if (text)
        make_printable(text);
    /* one write, so that the lines of several processes do not mix */
    fprintf(stderr, "numacoll: %s\n", text ? text : format);
    fflush(stderr);
    free(text);
}

/* What a launcher has read it passes on before it looks at anything else that this process does. */
static void await_reader(void)
{
    struct stat s;
    int unread;

    if (fstat(STDERR_FILENO, &s) != 0 || !S_ISFIFO(s.st_mode)) {
        usleep(50000);
        return;
    }
    for (int ms = 0; ms < 5000; ms++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            break;
        usleep(1000);
    }
}

void MPIDI_NUMACOLL_pause_before_error(int rank)
{
    static bool paused;

    /* only before the first error: a program that continues after errors shall not be slowed down
     * by each */
    if (!paused && rank == 0)
        await_reader();
    else if (!paused)
        usleep(1000000);
    paused = true;
}

static struct {
    bool refused;
    int rank; /* for pause_before_error */
} start;

void MPIDI_NUMACOLL_refuse_start(int rank)
{
    if (!start.refused)
        start.rank = rank;
    start.refused = true;
}

bool MPIDI_NUMACOLL_start_is_refused(void)
{
    return start.refused;
}

int MPIR_numacoll_end_start(void)
{
    int mpi_errno = MPI_SUCCESS;
    bool refused = start.refused;

    start.refused = false;
    if (refused)
        MPIDI_NUMACOLL_pause_before_error(start.rank);
    MPIR_ERR_CHKANDJUMP(refused, mpi_errno, MPI_ERR_OTHER, "**other");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
