/* Whether a variant has the queue and the levels that its name says. Segments share the budget of a
 * node, and levels that do not group the ranks are left out: then a time would be reported under
 * the wrong name. measure.c asks for each algorithm, once its communicator is warm. */

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/nc_queue.h"

static char problem[512];

/* The value of a parameter of an algorithm of numacoll, or NULL. */
static const char *value_of(const struct algorithm *a, const char *name)
{
    for (int i = 0; i < a->parameter_count && algorithm_is_numacoll(a); i++) {
        if (!strcmp(a->parameters[i].name, name))
            return a->parameters[i].value;
    }
    return NULL;
}

/* Writes what is wrong behind what it is wrong with. */
static const char *wrong(const struct bench *b, int a, const char *what)
{
    snprintf(problem, sizeof problem, "%s, %d ranks, %s: %s", b->collective->name, b->ranks,
             b->options->algorithms[a].label, what);
    return problem;
}

/* ---- the queue ---- */

static const char *const queue_settings[] = {"queue_length", "queue_sets", "fragment_size"};
enum { QUEUE_SETTINGS = sizeof queue_settings / sizeof queue_settings[0] };

/* Whether the algorithm says how long its queue is to be. */
static bool names_queue(const struct algorithm *a)
{
    for (int i = 0; i < QUEUE_SETTINGS; i++) {
        if (value_of(a, queue_settings[i]))
            return true;
    }
    return false;
}

/* Algorithms are compared with the queues that they ask for, unless no message goes through the
 * slots of a queue, and their text names no queue. The only one of numacoll that names none has the
 * queue that a job would have. */
static const char *check_budget(const struct bench *b, int a, unsigned long long before)
{
    unsigned long long shortened = switch_shortened();
    bool named = names_queue(&b->options->algorithms[a]);
    bool alone = !named && algorithms_of_numacoll(b->options) == 1;

    return (named && shortened > before) ||
                   (!alone && largest_size(b) > NC_INLINE_BYTES && shortened)
               ? wrong(b, a,
                       "its queue was shortened to fit MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE (KiB): "
                       "must be more, or fewer algorithms")
               : NULL;
}

/* The communicator shows what is in force. Asked for 0 or less, the library chooses. */
static const char *check_setting(const struct bench *b, int a, MPI_Info info, const char *name)
{
    const char *asked = value_of(&b->options->algorithms[a], name);
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL + 1], what[128];
    int flag = 0;

    if (!asked || atoi(asked) <= 0)
        return NULL;
    snprintf(key, sizeof key, "numacoll_%s", name);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
    if (!flag || atoi(value) == atoi(asked))
        return NULL;
    snprintf(what, sizeof what,
             "has %s=%d: its messages need no more, or no more fits the node's budget", name,
             atoi(value));
    return wrong(b, a, what);
}

const char *geometry_check_queue(const struct bench *b, int a)
{
    const char *error = NULL;
    MPI_Info info;

    if (!names_queue(&b->options->algorithms[a]) || largest_size(b) <= NC_INLINE_BYTES)
        return NULL;
    MPI_Comm_get_info(b->comms[a], &info);
    for (int i = 0; i < QUEUE_SETTINGS && !error; i++)
        error = check_setting(b, a, info, queue_settings[i]);
    MPI_Info_free(&info);
    return error;
}

/* ---- levels ---- */

/* A file in memory, to whose end numacoll writes its report; -1: there is none. */
static int report = -1;

void geometry_listen(const struct options *o)
{
    char path[64];

    for (int a = 0; a < o->algorithm_count && report < 0; a++) {
        if (value_of(&o->algorithms[a], "levels"))
            report = memfd_create("numacoll-bench", 0);
    }
    if (report < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", report);
    setenv("MPIR_CVAR_NUMACOLL_REPORT", "1", 1);
    setenv("MPIR_CVAR_NUMACOLL_REPORT_FILE", path, 1);
}

/* Takes the report's last line about the groups of a communicator: "numa 4, package 2". False:
 * there is none. What was taken is not read again. */
static bool take_groups(char *groups, size_t n)
{
    static const char begins[] = ", groups: ";
    static char text[1 << 16];
    ssize_t length = report < 0 ? -1 : pread(report, text, sizeof text - 1, 0);
    char *last = NULL;

    if (length <= 0 || ftruncate(report, 0))
        return false;
    text[length] = 0;
    for (char *at = text; (at = strstr(at, begins)); at++)
        last = at + strlen(begins);
    if (last)
        snprintf(groups, n, "%.*s", (int) (strcspn(last, "\n")), last);
    if (last && strstr(groups, ", pages "))
        *strstr(groups, ", pages ") = 0;
    return last;
}

/* Whether a level of this name, of n characters, is among groups such as "numa 4, package 2". */
static bool is_among(const char *groups, const char *name, size_t n)
{
    for (const char *at = groups; *at; at += strspn(at, ", ")) {
        if (!strncmp(at, name, n) && at[n] == ' ')
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* Rank 0 has the report. Where numacoll serves no call there is none, and the calls will tell. */
static const char *check_levels(const struct bench *b, int a)
{
    const char *name = value_of(&b->options->algorithms[a], "levels");
    char groups[256], what[400];

    if (!take_groups(groups, sizeof groups) || !name)
        return NULL;
    for (size_t n = 0; *name; name += n + (name[n] == ',')) {
        n = strcspn(name, ",");
        if (is_among(groups, name, n))
            continue;
        snprintf(what, sizeof what, "%.*s does not group these ranks, there are only groups by %s",
                 (int) n, name, groups);
        return wrong(b, a, what);
    }
    return NULL;
}

const char *geometry_check(const struct bench *b, int a, unsigned long long shortened_before)
{
    const char *error = check_budget(b, a, shortened_before), *levels = check_levels(b, a);

    if (!error)
        error = geometry_check_queue(b, a);
    return error ? error : levels;
}
