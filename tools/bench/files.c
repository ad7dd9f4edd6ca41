/* The files that numacoll-bench writes: whether they can be written, before anything is measured,
 * and that they are, afterwards. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/gnuplot.h"

/* Whether the file can be written. A file that did not exist does not exist afterwards. */
static const char *check_file(const char *option, const char *file)
{
    static char problem[1024];
    bool existed = access(file, F_OK) == 0;
    FILE *f = fopen(file, "a");

    if (!f) {
        snprintf(problem, sizeof problem, "--%s=%s: cannot be written: %m", option, file);
        return problem;
    }
    fclose(f);
    if (!existed)
        remove(file);
    return NULL;
}

static const char *check_plot(const struct options *o)
{
    const char *error = NULL;

    if (!gnuplot_runs())
        return "--plot: needs gnuplot, which does not run";
    for (int c = 0; c < o->collective_count; c++) {
        for (int i = 0; i < o->rank_count_count && !error; i++) {
            char *file = plot_file(o, o->collectives[c], o->rank_counts[i]);
            error = check_file("plot", file);
            free(file);
        }
    }
    return error;
}

/* Whether two names are of one file; files that do not exist yet are compared by name. */
static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    if (stat(a, &sa) || stat(b, &sb))
        return !strcmp(a, b);
    return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

const char *files_check(const struct options *o)
{
    static char problem[1024];
    const char *error = NULL;

    const struct {
        const char *option, *name;
    } files[] = {{"csv", o->csv}, {"json", o->json}, {"raw", o->raw}};
    const int n = sizeof files / sizeof files[0];

    for (int i = 0; i < n && !error; i++) {
        for (int k = 0; k < i && files[i].name; k++) {
            if (!files[k].name || !same_file(files[k].name, files[i].name))
                continue;
            snprintf(problem, sizeof problem, "--%s=%s --%s=%s: must be different files",
                     files[k].option, files[k].name, files[i].option, files[i].name);
            return problem;
        }
        if (files[i].name)
            error = check_file(files[i].option, files[i].name);
    }
    if (o->plot && !error)
        error = check_plot(o);
    return error;
}

bool files_write(const struct options *o, const struct measurement *all, int n)
{
    bool good = true;

    if (o->csv)
        good = output_csv(o, all, n) && good;
    if (o->json || o->format == FORMAT_JSON)
        good = output_json(o, all, n) && good;
    for (int i = 0; i < n && o->plot; i++)
        good = plot(o, &all[i]) && good;
    return good;
}
