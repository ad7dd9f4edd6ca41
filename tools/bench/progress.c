/* The progress bar of numacoll-bench. A rank's stderr is a pipe to its launcher, so the bar goes to
 * the terminal that is the launcher's stderr. */

#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 40, GENERATIONS = 4 };

static FILE *terminal;
static int steps, done;
static double began, expected;

static bool read_line(const char *format, int pid, char *line, int n)
{
    char path[64];
    FILE *f;
    bool good;

    snprintf(path, sizeof path, format, pid);
    f = fopen(path, "r");
    good = f && fgets(line, n, f);
    if (f)
        fclose(f);
    return good;
}

/* The process of mpiexec, an ancestor of this process. 0 if it is not on this machine. */
static int launcher(void)
{
    char line[512], *end;
    int pid = getppid();

    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (read_line("/proc/%d/comm", pid, line, sizeof line) && !strncmp(line, "mpi", 3))
            return pid;
        /* "pid (name) state parent": the name may have blanks and parentheses */
        if (!read_line("/proc/%d/stat", pid, line, sizeof line) || !(end = strrchr(line, ')')) ||
            sscanf(end + 1, " %*c %d", &pid) != 1)
            return 0;
    }
    return 0;
}

/* Opens a path only if it is a terminal: to open a file would truncate it. */
static FILE *open_terminal(const char *path)
{
    struct stat status;
    FILE *f = !stat(path, &status) && S_ISCHR(status.st_mode) ? fopen(path, "w") : NULL;

    if (f && !isatty(fileno(f))) {
        fclose(f);
        f = NULL;
    }
    return f;
}

void progress_begin(int all, double seconds)
{
    char path[64];

    steps = all;
    expected = seconds;
    began = gate_now();
    snprintf(path, sizeof path, "/proc/%d/fd/2", launcher());
    terminal = open_terminal(path);
}

static void draw(void)
{
    double elapsed = gate_now() - began, left = done ? elapsed * (steps - done) / done : expected;

    fprintf(terminal, "\r[%.*s%*s] %3d %%  %.0f s left  ", WIDTH * done / steps,
            "########################################", WIDTH - WIDTH * done / steps, "",
            100 * done / steps, left);
    fflush(terminal);
}

void progress_step(void)
{
    done++;
    if (terminal)
        draw();
}

void progress_clear(void)
{
    if (!terminal)
        return;
    fprintf(terminal, "\r%*s\r", WIDTH + 30, "");
    fflush(terminal);
}
