/* Info keys, parameters of leaves, variables: which value holds. Always built.
 *
 * A communicator's info keys are kept in MPICH's array of hints, at its end, which MPICH clears
 * when it makes a communicator and passes on to nobody. Zero is "not set" there, so a value is kept
 * with its highest bit turned. */

#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "numacoll_mpir.h"
#ifdef NUMACOLL_BUILD_SHM
#include "numacoll.h"
#endif

#define PREFIX "numacoll_"

const struct nc_variable MPIDI_NUMACOLL_variables[NC_SETTING_COUNT] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) \
    {name, kind, scope, low, high, unit, values},
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};

/* Where MPICH keeps it: an int, or a text. */
static const void *const cvar[NC_SETTING_COUNT] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) &MPIR_CVAR_NUMACOLL_##NAME,
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};

/* The numbers of enumerated values are MPICH's, from the order of cvars.txt. */
#define NC_SAME(NAME, value, number) \
    _Static_assert(MPIR_CVAR_NUMACOLL_##NAME##_##value == number, "numbers as in cvars.yaml");
NC_ENUM_VALUES(NC_SAME)
#undef NC_SAME

static int (*leaves)[NC_SETTING_COUNT];
static int leaf_count;

static int turned(int value)
{
    return (int) ((unsigned) value ^ 0x80000000u);
}

static int *hint(MPIR_Comm *comm, int setting)
{
    return &comm->hints[MPIR_COMM_HINT_MAX - 1 - setting];
}

/* ---- texts ---- */

/* Texts of plans and choices, each once; a value is a place here. */
static char **texts;
static int text_count;

static bool is_kept(const struct nc_variable *v)
{
    return v->kind >= NC_KIND_PLAN;
}

static bool keep(const char *text, int *place)
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

bool MPIDI_NUMACOLL_parse(enum nc_setting setting, const char *text, int *value)
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];

    return nc_variable_parse(v, text, value) && (!is_kept(v) || keep(text, value));
}

void MPIDI_NUMACOLL_format(enum nc_setting setting, int value, char *text, size_t size)
{
    const struct nc_variable *v = &MPIDI_NUMACOLL_variables[setting];

    if (is_kept(v))
        snprintf(text, size, "%s", texts[value]);
    else
        nc_variable_format(v, value, text, size);
}

const char *MPIDI_NUMACOLL_text(int value)
{
    return texts[value];
}

void MPIDI_NUMACOLL_plan(enum nc_setting setting, int value, struct nc_plan *plan)
{
    nc_plan_parse(plan, texts[value], MPIDI_NUMACOLL_variables[setting].values);
}

/* FNV-1a */
unsigned MPIDI_NUMACOLL_checksum(const char *text)
{
    uint32_t hash = 2166136261u;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char) *c) * 16777619u;
    return hash ? hash : 1;
}

int MPIDI_NUMACOLL_comparable(enum nc_setting setting, int value)
{
    return is_kept(&MPIDI_NUMACOLL_variables[setting])
               ? (int) (MPIDI_NUMACOLL_checksum(texts[value]) >> 1)
               : value;
}

/* ---- which value holds ---- */

static bool is_text(enum nc_setting setting)
{
    return MPIDI_NUMACOLL_variables[setting].kind >= NC_KIND_LEVELS;
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

    /* MPI_T may have written anything since it was checked: then a text is as if empty, which is
     * always allowed */
    if (is_text(setting))
        return MPIDI_NUMACOLL_parse(setting, *(const char *const *) cvar[setting], &value) ||
                       MPIDI_NUMACOLL_parse(setting, "", &value)
                   ? value
                   : 0;
    value = *(const int *) cvar[setting];
    return value < v->low ? v->low : value > v->high ? v->high : value;
}

int MPIDI_NUMACOLL_setting(MPIR_Comm *comm, int leaf, enum nc_setting setting)
{
    if (*hint(comm, setting))
        return turned(*hint(comm, setting));
    if (leaf >= 0 && leaves[leaf][setting])
        return turned(leaves[leaf][setting]);
    return MPIDI_NUMACOLL_variable(setting);
}

/* ---- leaves ---- */

int MPIDI_NUMACOLL_leaf_new(void)
{
    void *larger = MPL_realloc(leaves, sizeof *leaves * (leaf_count + 1), MPL_MEM_COLL);

    if (!larger)
        return -1;
    leaves = larger;
    memset(leaves[leaf_count], 0, sizeof *leaves);
    return leaf_count++;
}

void MPIDI_NUMACOLL_leaf_set(int leaf, enum nc_setting setting, int value)
{
    leaves[leaf][setting] = turned(value);
}

bool MPIDI_NUMACOLL_setting_is_info(MPIR_Comm *comm, enum nc_setting setting)
{
    return *hint(comm, setting) != 0;
}

int MPIDI_NUMACOLL_leaf_count(void)
{
    return leaf_count;
}

void MPIDI_NUMACOLL_settings_clear(void)
{
    while (text_count > 0)
        MPL_free(texts[--text_count]);
    MPL_free(texts);
    texts = NULL;
    MPL_free(leaves);
    leaves = NULL;
    leaf_count = 0;
}

/* ---- complaints ---- */

int MPIDI_NUMACOLL_launch_rank(void)
{
    const char *rank = getenv("PMI_RANK");

    if (!rank)
        rank = getenv("PMIX_RANK");
    return rank ? atoi(rank) : 0;
}

void MPIDI_NUMACOLL_let_rank_0_speak_first(int rank)
{
    static bool spoken;

    /* a launcher that is told of an abort may end a job before it has passed on what its ranks
     * wrote; a program that goes on after one error is not held up by the next */
    if (!spoken)
        usleep(rank == 0 ? 50000 : 150000);
    spoken = true;
}

void MPIR_numacoll_refuse(const char *variable, const char *value, const char *allowed)
{
    if (MPIDI_NUMACOLL_launch_rank() == 0) {
        fprintf(stderr, "numacoll: %s=%s: must be %s\n", variable, value, allowed);
        fflush(stderr);
    }
    MPIDI_NUMACOLL_let_rank_0_speak_first(MPIDI_NUMACOLL_launch_rank());
}

int MPIR_numacoll_expect(const char *variable, const char *type)
{
    int mpi_errno = MPI_SUCCESS;
    const char *value = getenv(variable);
    bool good = !value || !*value || strcmp(type, "int");
    char *end;

    if (!good) {
        errno = 0;
        long number = strtol(value, &end, 10);
        good = end != value && !*end && !errno && number >= INT_MIN && number <= INT_MAX;
    }
    if (!good)
        MPIR_numacoll_refuse(variable, value, "a number of at most 31 bits");
    MPIR_ERR_CHKANDJUMP1(!good, mpi_errno, MPI_ERR_OTHER, "**envvarparse", "**envvarparse %s",
                         variable);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* ---- info keys ---- */

/* All keys of ours that there are, for a line. */
static void known_keys(char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (int i = 0; i < NC_SETTING_COUNT && used < size; i++) {
        if (MPIDI_NUMACOLL_variables[i].scope != NC_PER_PROCESS)
            used += (size_t) snprintf(text + used, size - used, "%s" PREFIX "%s", used ? ", " : "",
                                      MPIDI_NUMACOLL_variables[i].name);
    }
}

/* Says what is wrong with a key, on rank 0; false if that is an error. */
static bool check_key(int rank, const char *key, const char *text)
{
    char allowed[512];
    int value,
        i = nc_variable_find(MPIDI_NUMACOLL_variables, NC_SETTING_COUNT, key + strlen(PREFIX));

    if (i < 0 || MPIDI_NUMACOLL_variables[i].scope == NC_PER_PROCESS) {
        /* MPI asks to ignore keys one does not know; to say so is allowed */
        known_keys(allowed, sizeof allowed);
        if (rank == 0)
            fprintf(stderr, "numacoll: info key %s: ignored: there are %s\n", key, allowed);
        return true;
    }
    if (MPIDI_NUMACOLL_parse(i, text, &value))
        return true;
    nc_variable_allowed(&MPIDI_NUMACOLL_variables[i], allowed, sizeof allowed);
    if (rank == 0)
        fprintf(stderr, "numacoll: info key %s=%s: must be %s\n", key, text, allowed);
    return false;
}

/* The next key of ours from *at on, with its text; false at the end. */
static bool next_key(MPIR_Info *info, int *at, char key[MPI_MAX_INFO_KEY + 1],
                     char text[MPI_MAX_INFO_VAL + 1])
{
    int keys = 0, flag = 0;

    if (info)
        MPIR_Info_get_nkeys_impl(info, &keys);
    for (; *at < keys; ++*at) {
        if (MPIR_Info_get_nthkey_impl(info, *at, key) == MPI_SUCCESS &&
            !strncmp(key, PREFIX, strlen(PREFIX)) &&
            MPIR_Info_get_impl(info, key, MPI_MAX_INFO_VAL, text, &flag) == MPI_SUCCESS && flag) {
            ++*at;
            return true;
        }
    }
    return false;
}

static bool info_is_right(int rank, MPIR_Info *info)
{
    char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    bool right = true;

    for (int at = 0; next_key(info, &at, key, text);)
        right = check_key(rank, key, text) && right;
    return right;
}

int MPIR_numacoll_check_info(int rank, MPIR_Info *info)
{
    int mpi_errno = MPI_SUCCESS;
    bool right = info_is_right(rank, info);

    if (!right)
        MPIDI_NUMACOLL_let_rank_0_speak_first(rank);
    MPIR_ERR_CHKANDJUMP(!right, mpi_errno, MPI_ERR_INFO_VALUE, "**infoval");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIR_numacoll_take_info(MPIR_Comm *comm, MPIR_Info *info)
{
    char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    int value;

    for (int at = 0; next_key(info, &at, key, text);) {
        int i = nc_variable_find(MPIDI_NUMACOLL_variables, NC_SETTING_COUNT, key + strlen(PREFIX));
        if (i >= 0 && MPIDI_NUMACOLL_variables[i].scope != NC_PER_PROCESS &&
            MPIDI_NUMACOLL_parse(i, text, &value))
            *hint(comm, i) = turned(value);
    }
}

int MPIR_numacoll_renew_info(MPIR_Comm *comm, MPIR_Info *info)
{
    int mpi_errno = MPI_SUCCESS, kept[NC_SETTING_COUNT];
    bool right = info_is_right(comm->rank, info);

    for (int i = 0; i < NC_SETTING_COUNT; i++)
        kept[i] = *hint(comm, i);
    MPIR_numacoll_take_info(comm, info);
#ifdef NUMACOLL_BUILD_SHM
    /* also with a wrong key: the other ranks may be waiting there */
    mpi_errno = MPIDI_NUMACOLL_settings_changed(comm, right);
    MPIR_ERR_CHECK(mpi_errno);
#endif
    if (!right)
        MPIDI_NUMACOLL_let_rank_0_speak_first(comm->rank);
    MPIR_ERR_CHKANDJUMP(!right, mpi_errno, MPI_ERR_INFO_VALUE, "**infoval");

fn_exit:
    return mpi_errno;
fn_fail:
    for (int i = 0; i < NC_SETTING_COUNT; i++)
        *hint(comm, i) = kept[i];
    goto fn_exit;
}

int MPIR_numacoll_get_info(MPIR_Comm *comm, MPIR_Info *info)
{
    int mpi_errno = MPI_SUCCESS;
    char key[MPI_MAX_INFO_KEY], text[MPI_MAX_INFO_VAL];

    for (int i = 0; i < NC_SETTING_COUNT; i++) {
        if (!*hint(comm, i))
            continue;
        snprintf(key, sizeof key, PREFIX "%s", MPIDI_NUMACOLL_variables[i].name);
        MPIDI_NUMACOLL_format(i, turned(*hint(comm, i)), text, sizeof text);
        mpi_errno = MPIR_Info_set_impl(info, key, text);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
