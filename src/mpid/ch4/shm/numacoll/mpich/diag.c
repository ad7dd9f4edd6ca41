/* Messages to the user, one line each on stderr. See diag.h. Always built. */

#define _GNU_SOURCE
#include "diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
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

/* Lines that this process has left to rank 0: at MPI_Init it may be the only one that has what is
 * wrong. Not before MPICH knows the ranks: until then an error of rank 0 does not end the others,
 * and each would say the same. */
static struct {
    bool closed; /* no more are kept */
    char text[4096];
} unsaid;

static void say(const char *lines)
{
    /* one write, so that the lines of several processes do not mix */
    fputs(lines, stderr);
    fflush(stderr);
}

void MPIDI_NUMACOLL_complain(int rank, const char *format, ...)
{
    char *text = NULL, *line = NULL;
    size_t used = strlen(unsaid.text);
    va_list values;

    if (rank != 0 && (unsaid.closed || MPIR_Process.size == 0))
        return;
    va_start(values, format);
    if (vasprintf(&text, format, values) < 0)
        text = NULL;
    va_end(values);
    if (text)
        make_printable(text);
    if (asprintf(&line, "numacoll: %s\n", text ? text : format) < 0)
        line = NULL;
    if (line && rank == 0)
        say(line);
    else if (line && strlen(line) < sizeof unsaid.text - used)
        strcpy(unsaid.text + used, line);
    free(line);
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
    if (!paused && rank == 0) {
        await_reader();
    } else if (!paused) {
        usleep(1000000);
        /* the job has not ended: rank 0 has not found what this process found */
        say(unsaid.text);
        await_reader();
    }
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
    if (refused && start.rank < 0)
        usleep(1000000);
    unsaid.closed = true;
    *unsaid.text = 0; /* rank 0 has said it: not again at a later error */
    MPIR_ERR_CHKANDJUMP(refused, mpi_errno, MPI_ERR_OTHER, "**other");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
