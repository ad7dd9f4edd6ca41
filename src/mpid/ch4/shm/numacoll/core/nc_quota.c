/* Reads the limits of this process's cgroup. See nc_quota.h. The formats of the files are in
 * proc(5) and cgroups(7), and in the kernel's documentation in admin-guide/cgroup-v2.rst,
 * admin-guide/cgroup-v1/memory.rst and scheduler/sched-bwc.rst. */

#include "nc_quota.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 8192 }; /* bytes of a path; a longer one counts as missing */

/* The tree of cgroups of v2, or of a controller of v1. */
struct hierarchy {
    bool v2;
    const char *controller; /* of v1 */
    const char *root;
    char path[PATH];   /* of this process's cgroup, as the kernel names it; "": not found */
    char folder[PATH]; /* its directory; "": not found */
    size_t top;        /* the first bytes of `folder`: the directory where the tree is mounted */
};

static FILE *open_below(const char *folder, const char *file)
{
    char name[PATH];

    return snprintf(name, sizeof name, "%s/%s", folder, file) < PATH ? fopen(name, "r") : NULL;
}

/* Gives the lines of a file, without their ends, to `take` until it returns true. */
static void each_line(struct hierarchy *h, const char *file,
                      bool (*take)(struct hierarchy *h, char *line))
{
    FILE *f = open_below(h->root, file);
    char *line = NULL;
    size_t room = 0;
    bool done = false;

    while (f && !done && getline(&line, &room, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        done = take(h, line);
    }
    free(line);
    if (f)
        fclose(f);
}

/* Whether a comma-separated list has an item. */
static bool has(const char *list, const char *item)
{
    for (;; list++) {
        size_t length = strcspn(list, ",");
        if (length == strlen(item) && !memcmp(list, item, length))
            return true;
        list += length;
        if (!*list)
            return false;
    }
}

/* ---- the cgroup's directory ---- */

/* Takes a line of /proc/self/cgroup: "NUMBER:CONTROLLER,CONTROLLER,..:PATH", in v2 "0::PATH". */
static bool take_path(struct hierarchy *h, char *line)
{
    char *list, *path = line;

    strsep(&path, ":");
    list = strsep(&path, ":");
    if (!path || strlen(path) >= PATH || (h->v2 ? *list != '\0' : !has(list, h->controller)))
        return false;
    strcpy(h->path, path);
    return true;
}

/* Replaces \ooo, as mountinfo has blanks and backslashes, by the character. */
static void unescape(char *text)
{
    char *to = text;

    for (; *text; to++) {
        if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
            *to = (char) ((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
            text += 4;
        } else
            *to = *text++;
    }
    *to = '\0';
}

/* The part of a path below a root; NULL: the path is not below the root. */
static const char *below(const char *root, const char *path)
{
    size_t n = strcmp(root, "/") ? strlen(root) : 0;

    return !strncmp(root, path, n) && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* Splits a line of /proc/self/mountinfo: "ID PARENT DEVICE ROOT POINT OPTIONS [TAG ..] - TYPE
 * SOURCE OPTIONS": the cgroup ROOT is mounted at POINT. False: it is no mount of this hierarchy. */
static bool split_mount(const struct hierarchy *h, char *line, char **root, char **point)
{
    char *options = strstr(line, " - "), *type;

    if (!options)
        return false;
    *options = '\0';
    options += 3;
    type = strsep(&options, " ");
    strsep(&options, " ");
    for (int i = 0; i < 3; i++)
        strsep(&line, " ");
    *root = strsep(&line, " ");
    *point = strsep(&line, " ");
    if (!*point || !options)
        return false;
    unescape(*root);
    unescape(*point);
    return h->v2 ? !strcmp(type, "cgroup2")
                 : !strcmp(type, "cgroup") && has(options, h->controller);
}

/* Takes a line of /proc/self/mountinfo. True: the cgroup's directory is found. A container may have
 * its cgroup mounted under a name other than the one in /proc/self/cgroup. So if the cgroup is
 * below the root of no mount, its directory is where the first mount is. */
static bool take_mount(struct hierarchy *h, char *line)
{
    char *root, *point, folder[PATH];
    const char *rest;

    if (!split_mount(h, line, &root, &point))
        return false;
    rest = below(root, h->path);
    /* "..": the cgroup is outside the part of the tree that this process sees */
    if (strstr(rest ? rest : h->path, "/..") || (!rest && *h->folder) ||
        snprintf(folder, PATH, "%s%s%s", h->root, point, rest ? rest : "") >= PATH)
        return false;
    strcpy(h->folder, folder);
    h->top = strlen(h->root) + strlen(point);
    return rest != NULL;
}

/* ---- limits ---- */

__attribute__((format(scanf, 3, 4))) static int scan(const char *folder, const char *file,
                                                     const char *format, ...)
{
    FILE *f = open_below(folder, file);
    va_list values;
    int n;

    if (!f)
        return 0;
    va_start(values, format);
    n = vfscanf(f, format, values);
    va_end(values);
    fclose(f);
    return n;
}

/* The quota of one cgroup. */
static struct nc_quota quota_of(const char *folder, bool v2)
{
    const struct nc_quota none = {0, 0};
    long long quota = 0, period = 0, millicpus; /* microseconds, at most 15 digits */
    struct stat s;

    if (v2)
        scan(folder, "cpu.max", "%15lld%*1[ ]%15lld", &quota, &period);
    else if (scan(folder, "cpu.cfs_quota_us", "%15lld", &quota) == 1)
        scan(folder, "cpu.cfs_period_us", "%15lld", &period);
    if (quota <= 0 || period <= 0 || stat(folder, &s))
        return none;
    millicpus = quota * 1000 / period;
    if (millicpus > INT_MAX)
        return none;
    return (struct nc_quota){millicpus > 0 ? (int) millicpus : 1, s.st_ino};
}

/* Replaces *tightest by a quota that is as tight or tighter. */
static void tighten(struct nc_quota *tightest, struct nc_quota q)
{
    if (q.millicpus && (!tightest->millicpus || q.millicpus <= tightest->millicpus))
        *tightest = q;
}

static void take_quota(void *tightest, const char *folder, bool v2)
{
    tighten(tightest, quota_of(folder, v2));
}

/* Finds a line "NAME VALUE" of a cgroup's memory.stat; 0: it is not there. */
static uint64_t memory_stat(const char *folder, const char *name)
{
    FILE *f = open_below(folder, "memory.stat");
    char word[64];
    uint64_t value = 0, found = 0;

    while (f && fscanf(f, "%63s %19" SCNu64, word, &value) == 2) {
        if (!strcmp(word, name))
            found = value;
    }
    if (f)
        fclose(f);
    return found;
}

/* Lowers *least to the bytes that one cgroup may yet take. */
static void take_memory(void *least, const char *folder, bool v2)
{
    uint64_t *bytes = least, limit, used, idle;

    /* 19 digits; v2 has the word "max" where there is no limit, v1 a number that no machine has */
    if (scan(folder, v2 ? "memory.max" : "memory.limit_in_bytes", "%19" SCNu64, &limit) != 1 ||
        scan(folder, v2 ? "memory.current" : "memory.usage_in_bytes", "%19" SCNu64, &used) != 1)
        return;
    idle = memory_stat(folder, v2 ? "inactive_file" : "total_inactive_file");
    used -= idle < used ? idle : used;
    limit -= used < limit ? used : limit;
    if (limit < *bytes)
        *bytes = limit;
}

/* Gives the cgroups from this process's up to the root to `take`, of v2 and of a controller of v1.
 */
static void each_cgroup(const char *root, const char *controller,
                        void (*take)(void *tightest, const char *folder, bool v2), void *tightest)
{
    for (int v2 = 0; v2 < 2; v2++) {
        struct hierarchy h = {.v2 = v2, .controller = controller, .root = root};
        each_line(&h, "proc/self/cgroup", take_path);
        if (*h.path)
            each_line(&h, "proc/self/mountinfo", take_mount);
        for (size_t length = strlen(h.folder); *h.folder; h.folder[length] = '\0') {
            take(tightest, h.folder, v2);
            if (length <= h.top)
                break;
            length = (size_t) (strrchr(h.folder, '/') - h.folder);
        }
    }
}

struct nc_quota nc_quota_read(const char *root)
{
    struct nc_quota tightest = {0, 0};

    each_cgroup(root, "cpu", take_quota, &tightest);
    return tightest;
}

uint64_t nc_quota_memory(const char *root)
{
    uint64_t least = UINT64_MAX;

    each_cgroup(root, "memory", take_memory, &least);
    return least;
}
