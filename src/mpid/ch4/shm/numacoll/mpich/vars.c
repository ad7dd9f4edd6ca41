/* Checks the variables that the user has set, at MPI_Init: a value out of range is refused with
 * one line that says which variable, which value and what is allowed; an unknown name only gets a
 * line. */

#define _GNU_SOURCE
#include "vars.h"

#include <strings.h>
#include <unistd.h>

#include "collectives.h"
#include "diag.h"
#include "selection_file.h"
#include "settings.h"
#include "site.h"

extern char **environ;

static void complain(const char *variable, const char *value, const char *allowed)
{
    char name[64];
    const char *origin;

    snprintf(name, sizeof name, "MPIR_CVAR_NUMACOLL_%s", variable);
    origin = MPIDI_NUMACOLL_site_origin(name);
    MPIDI_NUMACOLL_complain(*origin ? MPIDI_NUMACOLL_site_rank() : MPIDI_NUMACOLL_job_rank(),
                            "%s%s=%s: must be %s", origin, name, value, allowed);
}

/* Whether the variable of a setting is allowed; a line if not. */
static bool in_range(enum nc_setting setting)
{
    static const char *const names[NC_SETTING_COUNT] = {
#define NC_NAME(NAME, name, kind, scope, low, high, unit, values) #NAME,
        NC_VARIABLES(NC_NAME)
#undef NC_NAME
    };
    char number[16], allowed[256];
    const char *text;

    if (MPIDI_NUMACOLL_variable_is_right(setting, &text, number))
        return true;
    nc_variable_allowed(&MPIDI_NUMACOLL_variables[setting], allowed, sizeof allowed);
    complain(names[setting], text, allowed);
    return false;
}

static void known_collectives(char *text, size_t size)
{
    size_t used = (size_t) snprintf(text, size, "all, tuned, none, nonblocking, or of ");

    for (int c = 0; c < NC_COLL_COUNT && used < size; c++)
        used += (size_t) snprintf(text + used, size - used, "%s%s", c ? "," : "",
                                  MPIDI_NUMACOLL_coll_name(c));
}

enum { ALL = (1u << NC_COLL_COUNT) - 1 };

/* What a word in a list of collectives stands for, as bits; 0: nothing. */
static unsigned bits_of(const char *word)
{
    if (!strcasecmp(word, "all"))
        return ALL;
    if (!strcasecmp(word, "nonblocking"))
        return ((1u << NC_NONBLOCKING_COUNT) - 1) << NC_COLL_COUNT;
    return MPIDI_NUMACOLL_coll_bit(word);
}

/* The collectives in a list, as bits, and those of them that only `tuned` stands for. False, and a
 * line: a word is unknown. */
static bool parse_collectives(const char *list, unsigned *bits, unsigned *tuned)
{
    char copy[1024], allowed[512], *rest = NULL;
    bool all_tuned = false;

    *bits = *tuned = 0;
    if (!strcasecmp(list, "none"))
        return true;
    MPL_strncpy(copy, list, sizeof copy);
    for (char *name = strtok_r(copy, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        bool is_tuned = !strcasecmp(name, "tuned");
        unsigned these = is_tuned ? 0 : bits_of(name);
        if (!these && !is_tuned) {
            known_collectives(allowed, sizeof allowed);
            complain("COLLECTIVES", name, allowed);
            return false;
        }
        *bits |= these;
        all_tuned = all_tuned || is_tuned;
    }
    if (all_tuned) {
        *tuned = ALL & ~*bits;
        *bits |= ALL;
    }
    return true;
}

/* Whether <COLL>_INTRA_ALGORITHM is set in the environment, with any of MPICH's prefixes, or by the
 * site's file. lower: the collective's name. */
static bool algorithm_is_set(const char *lower)
{
    static const char *const prefixes[] = {"MPICH_", "MPIR_PARAM_", "MPIR_CVAR_"};
    char name[64], upper[32];
    size_t n = strlen(lower);

    for (size_t i = 0; i <= n; i++)
        upper[i] = (char) toupper((unsigned char) lower[i]);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s_INTRA_ALGORITHM", prefixes[i], upper);
        if (getenv(name))
            return true;
    }
    return *MPIDI_NUMACOLL_site_origin(name) != 0;
}

/* Writes a line for each unknown name after MPIR_CVAR_NUMACOLL_ in the environment. No error: most
 * are slips, but a name may be meant for another version. */
static void mention_unknown_names(void)
{
    static const char *const prefix = "MPIR_CVAR_NUMACOLL_";

    for (char **e = environ; *e; e++) {
        const char *name = *e + strlen(prefix);
        int number;
        if (!strncmp(*e, prefix, strlen(prefix)) &&
            !nc_words_find(NC_VARIABLE_NAMES, name, strcspn(name, "="), &number))
            MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(),
                                    "%.*s: ignored: after %s there are %s", (int) strcspn(*e, "="),
                                    *e, prefix, NC_VARIABLE_NAMES);
    }
}

bool MPIDI_NUMACOLL_vars_check(unsigned *collectives, unsigned *tuned)
{
    bool good = parse_collectives(MPIR_CVAR_NUMACOLL_COLLECTIVES, collectives, tuned);

    for (int i = 0; i < NC_SETTING_COUNT; i++)
        good = good && in_range(i);
    mention_unknown_names();
    if (!good)
        return false;

    if (MPIR_CVAR_NUMACOLL_REDUCE_ORDER == MPIR_CVAR_NUMACOLL_REDUCE_ORDER_ranks) {
        *collectives |= 1u << NC_COLL_REDUCE | 1u << NC_COLL_ALLREDUCE;
        *tuned &= ~(1u << NC_COLL_REDUCE | 1u << NC_COLL_ALLREDUCE);
    }
    for (int c = 0; c < NC_COLL_COUNT; c++) {
        if (algorithm_is_set(MPIDI_NUMACOLL_coll_name(c)))
            *collectives &= ~(1u << c);
    }
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++) {
        if (algorithm_is_set(MPIDI_NUMACOLL_nonblocking_name(c)))
            *collectives &= ~(1u << (NC_COLL_COUNT + c));
    }
    *tuned &= *collectives;
    if (MPIDI_NUMACOLL_files_are_given()) {
        /* they choose, instead of tuned files */
        *collectives &= ~*tuned;
        *tuned = 0;
    }
    good = MPIR_CVAR_NUMACOLL_REDUCE_ORDER != MPIR_CVAR_NUMACOLL_REDUCE_ORDER_ranks ||
           MPIDI_NUMACOLL_reductions_selected();
    if (!good)
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(),
                                "MPIR_CVAR_NUMACOLL_REDUCE_ORDER=ranks: "
                                "MPIR_CVAR_REDUCE_INTRA_ALGORITHM and "
                                "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM must be numacoll, or not set");
    return good;
}
