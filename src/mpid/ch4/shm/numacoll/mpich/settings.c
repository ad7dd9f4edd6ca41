/* The settings: info keys, parameters of csel entries and variables, and which of them holds. See
 * settings.h. Always built.
 *
 * The info keys of a communicator are kept at the end of MPICH's array of hints (MPIR_Comm.hints).
 * MPICH clears the array when it makes a communicator, and does not copy it to another. In the
 * array 0 means "not set"; so that a value 0 can be set, values are kept with their highest bit
 * inverted. */

#include "settings.h"

#include <pthread.h>

#include "numacoll_mpir.h"
#include "text_file.h"

const struct nc_variable MPIDI_NUMACOLL_variables[NC_SETTING_COUNT] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) \
    {name, kind, scope, low, high, unit, values},
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};

/* Where MPICH keeps the value of each variable: an int, or a text. */
static const void *const cvar[NC_SETTING_COUNT] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) &MPIR_CVAR_NUMACOLL_##NAME,
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};

/* MPICH numbers the values of an enum variable in the order of cvars.txt */
#define NC_SAME(NAME, value, number) \
    _Static_assert(MPIR_CVAR_NUMACOLL_##NAME##_##value == number, "numbers as in cvars.yaml");
NC_ENUM_VALUES(NC_SAME)
#undef NC_SAME

/* The parameters of the csel entries: [entry_count] rows, with inverted values as in hints. */
static int (*entries)[NC_SETTING_COUNT];
static int entry_count;

static int turned(int value)
{
    return (int) ((unsigned) value ^ 0x80000000u);
}

/* Behind the info keys: whether those of the segment are fixed, and whether MPICH alone uses the
 * communicator. */
enum { FIXED = NC_SETTING_COUNT, INNER };

/* Where the info key of a setting is kept in a communicator. */
static int *hint(MPIR_Comm *comm, int setting)
{
    return &comm->hints[MPIR_COMM_HINT_MAX - 1 - setting];
}

/* ---- texts ---- */

/* The texts of level specs, links and choices, each once. The value of such a setting is an index
 * here. Threads may set up communicators at the same time, and `texts` moves as it grows: the lock
 * protects it and the count. A text itself stays where it is until settings_clear. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **texts;
static int text_count;

/* Whether the values of a setting are texts that are kept. */
static bool is_kept(const struct nc_variable *v)
{
    return !nc_variable_is_number(v);
}

/* The index of a text, which is added if it is new; under the lock. False: no memory. */
static bool keep_locked(const char *text, int *place)
{
    for (*place = 0; *place < text_count; ++*place) {
        if (!strcmp(texts[*place], text))
            return true;
    }
    char **larger = MPL_realloc(texts, sizeof *texts * (size_t) (text_count + 1), MPL_MEM_COLL);
    if (larger) {
        texts = larger;
        texts[text_count] = MPL_strdup(text);
    }
    return larger && texts[text_count] && ++text_count;
}

static bool keep(const char *text, int *place)
{
    bool kept;

    pthread_mutex_lock(&lock);
    kept = keep_locked(text, place);
    pthread_mutex_unlock(&lock);
    return kept;
}

const char *MPIDI_NUMACOLL_text(int value)
{
    const char *text;

    pthread_mutex_lock(&lock);
    text = texts[value];
    pthread_mutex_unlock(&lock);
    return text;
}

bool MPIDI_NUMACOLL_parse(enum nc_setting setting, const char *text, int *value)
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];

    return nc_variable_parse(v, text, value) && (!is_kept(v) || keep(text, value));
}

void MPIDI_NUMACOLL_format(enum nc_setting setting, int value, char *text, size_t size)
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];

    if (is_kept(v))
        snprintf(text, size, "%s", MPIDI_NUMACOLL_text(value));
    else
        nc_variable_format(v, value, text, size);
}

void MPIDI_NUMACOLL_level_spec(enum nc_setting setting, int value, struct nc_level_spec *spec)
{
    nc_level_spec_parse(spec, MPIDI_NUMACOLL_text(value), MPIDI_NUMACOLL_variables[setting].values);
}

int MPIDI_NUMACOLL_comparable(enum nc_setting setting, int value)
{
    return is_kept(&MPIDI_NUMACOLL_variables[setting])
               ? (int) (MPIDI_NUMACOLL_text_checksum(MPIDI_NUMACOLL_text(value)) >> 1)
               : value;
}

/* ---- which value holds ---- */

/* Whether MPICH keeps the variable as a text: every kind that MPICH does not know itself. */
static bool is_text(enum nc_setting setting)
{
    enum nc_kind kind = MPIDI_NUMACOLL_variables[setting].kind;

    return kind != NC_KIND_INT && kind != NC_KIND_ENUM;
}

bool MPIDI_NUMACOLL_variable_is_right(enum nc_setting setting, const char **text, char number[16])
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];
    int value;

    if (is_text(setting)) {
        *text = *(const char *const *) cvar[setting];
        return MPIDI_NUMACOLL_parse(setting, *text, &value);
    }
    value = *(const int *) cvar[setting];
    snprintf(number, 16, "%d", value);
    *text = number;
    return v->low <= value && value <= v->high;
}

int MPIDI_NUMACOLL_variable(enum nc_setting setting)
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];
    int value;

    /* A tool may have written anything by MPI_T since the variables were checked. A text that is
     * not allowed counts as empty, which is always allowed. */
    if (is_text(setting))
        return MPIDI_NUMACOLL_parse(setting, *(const char *const *) cvar[setting], &value) ||
                       MPIDI_NUMACOLL_parse(setting, "", &value)
                   ? value
                   : 0;
    value = *(const int *) cvar[setting];
    return value < v->low ? v->low : value > v->high ? v->high : value;
}

int MPIDI_NUMACOLL_setting(MPIR_Comm *comm, int entry, enum nc_setting setting)
{
    if (*hint(comm, setting))
        return turned(*hint(comm, setting));
    if (entry >= 0 && entries[entry][setting])
        return turned(entries[entry][setting]);
    return MPIDI_NUMACOLL_variable(setting);
}

bool MPIDI_NUMACOLL_setting_is_info(MPIR_Comm *comm, enum nc_setting setting)
{
    return *hint(comm, setting) != 0;
}

void MPIDI_NUMACOLL_setting_set_info(MPIR_Comm *comm, enum nc_setting setting, int value)
{
    if (!*hint(comm, FIXED) || MPIDI_NUMACOLL_is_of_calls(setting))
        *hint(comm, setting) = turned(value);
}

void MPIDI_NUMACOLL_settings_fix(MPIR_Comm *comm)
{
    *hint(comm, FIXED) = 1;
}

void MPIR_numacoll_inner_comm(MPIR_Comm *comm)
{
    *hint(comm, INNER) = 1;
}

bool MPIDI_NUMACOLL_is_inner_comm(MPIR_Comm *comm)
{
    return *hint(comm, INNER) || MPIR_CONTEXT_READ_FIELD(IS_LOCALCOMM, comm->context_id);
}

void MPIDI_NUMACOLL_settings_save_info(MPIR_Comm *comm, int kept[NC_SETTING_COUNT])
{
    for (int i = 0; i < NC_SETTING_COUNT; i++)
        kept[i] = *hint(comm, i);
}

void MPIDI_NUMACOLL_settings_restore_info(MPIR_Comm *comm, const int kept[NC_SETTING_COUNT])
{
    for (int i = 0; i < NC_SETTING_COUNT; i++)
        *hint(comm, i) = kept[i];
}

/* ---- entries ---- */

int MPIDI_NUMACOLL_csel_entry_new(void)
{
    void *larger = MPL_realloc(entries, sizeof *entries * (size_t) (entry_count + 1), MPL_MEM_COLL);

    if (!larger)
        return -1;
    entries = larger;
    memset(entries[entry_count], 0, sizeof *entries);
    return entry_count++;
}

void MPIDI_NUMACOLL_csel_entry_set(int entry, enum nc_setting setting, int value)
{
    entries[entry][setting] = turned(value);
}

int MPIDI_NUMACOLL_csel_entry_count(void)
{
    return entry_count;
}

void MPIDI_NUMACOLL_settings_clear(void)
{
    while (text_count > 0)
        MPL_free(texts[--text_count]);
    MPL_free(texts);
    texts = NULL;
    MPL_free(entries);
    entries = NULL;
    entry_count = 0;
}
