/* The site's file. See site.h. Always built.
 *
 * MPICH reads its variables from the environment, so the lines of the file are put there while it
 * does, and are removed again before MPI_Init returns. If they stayed, programs that this one
 * starts would inherit them: another MPI library would refuse the value "numacoll", and a program
 * on another host would take this host's lines for its user's and ignore its own file. */

#define _GNU_SOURCE
#include "site.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>

#include "diag.h"
#include "numacoll_mpir.h"
#include "numacoll_paths.h" /* made by Makefile.mk */
#include "settings.h"
#include "text_file.h"

struct line {
    char *text; /* NAME=value */
    char *path;
    int number;
    bool known;    /* MPICH has such a variable */
    bool in_force; /* the variable has its value from this line */
};

static struct line *lines;
static int count;

static const char blank[] = " \t\r\n";

static bool is_of(const struct line *line, const char *variable)
{
    size_t n = strlen(variable);

    return !strncmp(line->text, variable, n) && line->text[n] == '=';
}

static const struct line *in_force(const char *variable)
{
    for (int i = 0; i < count; i++) {
        if (lines[i].in_force && is_of(&lines[i], variable))
            return &lines[i];
    }
    return NULL;
}

const char *MPIDI_NUMACOLL_site_origin(const char *variable)
{
    static char origin[1024];
    const struct line *line = in_force(variable);

    origin[0] = 0;
    if (line)
        snprintf(origin, sizeof origin, "%s:%d: ", line->path, line->number);
    return origin;
}

int MPIDI_NUMACOLL_site_rank(void)
{
    static const char *const names[] = {"MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "SLURM_LOCALID"};

    for (int i = 0; i < 3; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return atoi(rank);
    }
    return MPIDI_NUMACOLL_job_rank();
}

const char *MPIDI_NUMACOLL_site_line(int number)
{
    for (int i = 0; i < count; i++) {
        if (lines[i].in_force && number-- == 0)
            return lines[i].text;
    }
    return NULL;
}

static void forget(void)
{
    while (count > 0) {
        MPL_free(lines[--count].text);
        MPL_free(lines[count].path);
    }
    MPL_free(lines);
    lines = NULL;
}

/* Removes the blanks around a text. */
static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(blank, end[-1]))
        *--end = 0;
    return text + strspn(text, blank);
}

/* Keeps a line that is not a comment. False, and a message: it is wrong, or no memory. */
static bool keep(const char *path, int number, char *text)
{
    char *name = trim(text), *equals = strchr(name, '='), *joined;
    struct line *larger;

    if (!*name || *name == '#')
        return true;
    if (equals)
        *equals = 0;
    if (!equals || strncmp(name, "MPIR_CVAR_", 10)) {
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_site_rank(),
                                "%s:%d: %s: must be MPIR_CVAR_NAME = value, or # and a comment",
                                path, number, name);
        return false;
    }
    larger = MPL_realloc(lines, sizeof *lines * (size_t) (count + 1), MPL_MEM_OTHER);
    if (!larger)
        return false;
    lines = larger;
    if (asprintf(&joined, "%s=%s", trim(name), trim(equals + 1)) < 0)
        return false;
    lines[count++] = (struct line){MPL_strdup(joined), MPL_strdup(path), number, false, false};
    free(joined);
    return lines[count - 1].text && lines[count - 1].path;
}

/* Reads the lines of a file. False, and a message: the file cannot be read, or a line is wrong. */
static bool read_lines(const char *path)
{
    FILE *file = MPIDI_NUMACOLL_text_file_open(path);
    char *text = NULL;
    size_t size = 0;
    bool good = true;

    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return true;
    errno = file ? 0 : errno;
    for (int number = 1; file && good && getline(&text, &size, file) >= 0; number++)
        good = keep(path, number, text);
    if (!file || ferror(file)) {
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_site_rank(),
                                "%s: cannot be read: %s; it must be a regular file that "
                                "everybody may read, or not be there",
                                path, strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    free(text);
    return good;
}

/* The error of MPI_Init if the file is not good. */
static int error_unless(bool good)
{
    int mpi_errno = MPI_SUCCESS;

    if (!good)
        MPIDI_NUMACOLL_pause_before_error(MPIDI_NUMACOLL_site_rank());
    MPIR_ERR_CHKANDJUMP(!good, mpi_errno, MPI_ERR_OTHER, "**other");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIR_numacoll_site_begin(void)
{
    const char *path = getenv("NUMACOLL_CONF");

    forget();
    if (!path)
        path = NUMACOLL_SYSCONFDIR "/numacoll.conf";
    return error_unless(!*path || read_lines(path));
}

void MPIR_numacoll_site_offer(const char *variable, ...)
{
    bool free_to_set = !getenv(variable);
    struct line *last = NULL;
    va_list names;

    va_start(names, variable);
    for (const char *name; (name = va_arg(names, const char *));)
        free_to_set = free_to_set && !getenv(name);
    va_end(names);
    for (int i = 0; i < count; i++) {
        if (is_of(&lines[i], variable)) {
            lines[i].known = true;
            last = &lines[i];
        }
    }
    if (last && free_to_set)
        last->in_force = !setenv(variable, strchr(last->text, '=') + 1, 1);
}

/* Whether MPICH knows all variables of the file; a message if not. */
static bool all_known(void)
{
    for (int i = 0; i < count; i++) {
        if (!lines[i].known) {
            MPIDI_NUMACOLL_complain(
                MPIDI_NUMACOLL_site_rank(),
                "%s:%d: %.*s: unknown: must be a control variable that mpivars lists",
                lines[i].path, lines[i].number, (int) strcspn(lines[i].text, "="), lines[i].text);
            return false;
        }
    }
    return true;
}

int MPIR_numacoll_site_end(int mpi_errno)
{
    char name[256];

    for (int i = 0; i < count; i++) {
        if (lines[i].in_force) {
            snprintf(name, sizeof name, "%.*s", (int) strcspn(lines[i].text, "="), lines[i].text);
            unsetenv(name);
        }
    }
    return mpi_errno ? mpi_errno : error_unless(all_known());
}

/* ---- values that MPICH itself refuses ---- */

void MPIR_numacoll_refuse(const char *variable, const char *value, const char *allowed)
{
    const char *origin = MPIDI_NUMACOLL_site_origin(variable);
    int rank = *origin ? MPIDI_NUMACOLL_site_rank() : MPIDI_NUMACOLL_job_rank();

    MPIDI_NUMACOLL_complain(rank, "%s%s=%s: must be %s", origin, variable, value, allowed);
    MPIDI_NUMACOLL_pause_before_error(rank);
}

/* What a variable whose value is a number allows. MPICH says no range of its own ones. */
static void number_allowed(const char *variable, char *text, size_t size)
{
    static const char prefix[] = "MPIR_CVAR_NUMACOLL_";
    char name[64];
    int i = -1;

    if (!strncmp(variable, prefix, sizeof prefix - 1)) {
        MPL_strncpy(name, variable + sizeof prefix - 1, sizeof name);
        for (char *c = name; *c; c++)
            *c = (char) tolower((unsigned char) *c);
        i = nc_variable_find(MPIDI_NUMACOLL_variables, NC_SETTING_COUNT, name);
    }
    if (i >= 0)
        nc_variable_allowed(&MPIDI_NUMACOLL_variables[i], text, size);
    else
        MPL_strncpy(text, "a number of at most 31 bits", size);
}

int MPIR_numacoll_expect(const char *variable, const char *type)
{
    int mpi_errno = MPI_SUCCESS;
    const char *value = getenv(variable);
    char allowed[256] = "yes, true, on, 1, no, false, off or 0";
    bool good = true;
    char *end;
    int ignored;

    if (!strcmp(type, "boolean")) {
        good = MPL_env2bool(variable, &ignored) >= 0;
    } else if (!strcmp(type, "int") && value && (*value || strstr(variable, "_NUMACOLL_"))) {
        /* MPICH takes an empty value for 0; for its own variables that stays so */
        errno = 0;
        long number = strtol(value, &end, 10);
        good = end != value && !*end && !errno && number >= INT_MIN && number <= INT_MAX;
        number_allowed(variable, allowed, sizeof allowed);
    }
    if (!good)
        MPIR_numacoll_refuse(variable, value, allowed);
    MPIR_ERR_CHKANDJUMP1(!good, mpi_errno, MPI_ERR_OTHER, "**envvarparse", "**envvarparse %s",
                         variable);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
