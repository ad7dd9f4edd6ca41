/* The files that numacoll-bench writes: whether they can be written, before anything is measured,
 * and that they are, afterwards. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/gnuplot.h"

/* The files of a run: those that are read, then those that are written. */
struct file {
    const char *option;
    char *name; /* or NULL */
    bool made;  /* by the check, which removes it again */
};
enum { READ = 2, TEXTS = 5, MAX_FILES = TEXTS + MAX_COLLECTIVES * MAX_RANK_COUNTS };
static char problem[1024];

/* Whether the file can be written; creates it if it does not exist. If not, `problem` says why. */
static bool open_file(const struct file *file)
{
    FILE *f = fopen(file->name, "a");

    if (f) {
        fclose(f);
        return true;
    }
    snprintf(problem, sizeof problem, "--%s=%s: cannot be written: %m", file->option, file->name);
    return false;
}

/* Whether two names are of one file; both exist. */
static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;

    return !stat(a, &sa) && !stat(b, &sb) && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* Whether the file can be written, and is none of those before it. Returns what is wrong, or
 * NULL. */
static const char *check_file(struct file *file, const struct file *before)
{
    bool existed = access(file->name, F_OK) == 0;

    if (!open_file(file))
        return problem;
    file->made = !existed;
    while (before < file && !(before->name && same_file(before->name, file->name)))
        before++;
    if (before == file)
        return NULL;
    snprintf(problem, sizeof problem, "--%s=%s --%s=%s: must be different files", before->option,
             before->name, file->option, file->name);
    return problem;
}

/* Names the pictures. Returns how many there are. */
static int find_pictures(const struct options *o, struct file *file)
{
    int n = 0;

    for (int c = 0; c < o->collective_count && o->plot; c++) {
        for (int i = 0; i < o->rank_count_count; i++)
            file[n++] = (struct file){.option = "plot",
                                      .name = plot_file(o, o->collectives[c], o->rank_counts[i])};
    }
    return n;
}

const char *files_check(const struct options *o)
{
    struct file file[MAX_FILES] = {{.option = "results", .name = (char *) o->results},
                                   {.option = "compare", .name = (char *) o->compare},
                                   {.option = "csv", .name = (char *) o->csv},
                                   {.option = "json", .name = (char *) o->json},
                                   {.option = "raw", .name = (char *) o->raw}};
    int n = TEXTS + find_pictures(o, file + TEXTS);
    const char *error = o->plot && !gnuplot_runs() ? "--plot: needs gnuplot, which does not run"
                                                   : NULL;

    for (int i = READ; i < n && !error; i++)
        error = file[i].name ? check_file(&file[i], file) : NULL;
    for (int i = READ; i < n; i++) {
        if (file[i].made)
            remove(file[i].name);
        if (i >= TEXTS)
            free(file[i].name);
    }
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
