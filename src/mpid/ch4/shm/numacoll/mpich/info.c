/* The info keys numacoll_<variable>: of communicators, which it checks, keeps in the communicator
 * and shows; and of MPI_Alloc_mem. MPICH calls the MPIR_ functions, which numacoll_mpir.h declares.
 * Always built. */

#include "numacoll_mpir.h"

#ifdef NUMACOLL_BUILD_SHM
#include "choose.h"
#include "location.h"
#include "shared_buffers.h"
#include "state_make.h"
#endif
#include "diag.h"
#include "settings.h"

#define PREFIX "numacoll_"

/* The names of all keys that numacoll knows, for a line to the user. */
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

/* Whether a value that is allowed can be kept here: a mapping fits this machine, which would be
 * found too late for an error when the segment is made; an order is nobody else's to break. */
static bool is_possible(int rank, const char *key, const char *text, int i, int value)
{
    bool right = true;
#ifdef NUMACOLL_BUILD_SHM
    char problem[512] = "numacoll must serve reduce and allreduce (MPIR_CVAR_NUMACOLL_COLLECTIVES)";

    if (i == NC_VAR_MAPPING)
        right = MPIDI_NUMACOLL_mapping_fits(text, problem, sizeof problem);
    if (i == NC_VAR_REDUCE_ORDER)
        right = value != MPIR_CVAR_NUMACOLL_REDUCE_ORDER_ranks ||
                MPIDI_NUMACOLL_reductions_selected();
    if (!right)
        MPIDI_NUMACOLL_complain(rank, "info key %s=%s: %s", key, text, problem);
#endif
    return right;
}

/* Checks one key; rank 0 writes a line if something is wrong. False: the value is an error. */
static bool check_key(int rank, const char *key, const char *text)
{
    char allowed[512];
    int value,
        i = nc_variable_find(MPIDI_NUMACOLL_variables, NC_SETTING_COUNT, key + strlen(PREFIX));

    if (i < 0 || MPIDI_NUMACOLL_variables[i].scope == NC_PER_PROCESS) {
        /* MPI says that unknown keys are ignored; a line about it is allowed */
        known_keys(allowed, sizeof allowed);
        MPIDI_NUMACOLL_complain(rank, "info key %s: ignored: there are %s", key, allowed);
        return true;
    }
    if (MPIDI_NUMACOLL_parse(i, text, &value))
        return is_possible(rank, key, text, i, value);
    nc_variable_allowed(&MPIDI_NUMACOLL_variables[i], allowed, sizeof allowed);
    MPIDI_NUMACOLL_complain(rank, "info key %s=%s: must be %s", key, text, allowed);
    return false;
}

/* Finds the next key that begins with PREFIX, from the *at-th key on, and its value. False: there
 * is none. */
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

/* Checks all keys, and writes a line for each wrong one. */
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
        MPIDI_NUMACOLL_pause_before_error(rank);
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
            MPIDI_NUMACOLL_setting_set_info(comm, i, value);
    }
}

int MPIR_numacoll_renew_info(MPIR_Comm *comm, MPIR_Info *info)
{
    int mpi_errno = MPI_SUCCESS, kept[NC_SETTING_COUNT];
    bool right = info_is_right(comm->rank, info);

    MPIDI_NUMACOLL_settings_save_info(comm, kept);
    MPIR_numacoll_take_info(comm, info);
#ifdef NUMACOLL_BUILD_SHM
    /* also if this rank's keys are wrong: the call is collective, and the other ranks may wait in
     * it */
    mpi_errno = MPIDI_NUMACOLL_settings_changed(comm, right);
    MPIR_ERR_CHECK(mpi_errno);
#endif
    if (!right)
        MPIDI_NUMACOLL_pause_before_error(comm->rank);
    MPIR_ERR_CHKANDJUMP(!right, mpi_errno, MPI_ERR_INFO_VALUE, "**infoval");

fn_exit:
    return mpi_errno;
fn_fail:
    MPIDI_NUMACOLL_settings_restore_info(comm, kept);
    goto fn_exit;
}

int MPIR_numacoll_get_info(MPIR_Comm *comm, MPIR_Info *info)
{
    int mpi_errno = MPI_SUCCESS;
    char key[MPI_MAX_INFO_KEY], text[MPI_MAX_INFO_VAL];

    for (int i = 0; i < NC_SETTING_COUNT; i++) {
        int value = MPIDI_NUMACOLL_setting(comm, -1, i);
        if (!MPIDI_NUMACOLL_setting_is_info(comm, i))
            continue;
#ifdef NUMACOLL_BUILD_SHM
        value = MPIDI_NUMACOLL_in_force(comm, i, value);
#endif
        snprintf(key, sizeof key, PREFIX "%s", MPIDI_NUMACOLL_variables[i].name);
        MPIDI_NUMACOLL_format(i, value, text, sizeof text);
        mpi_errno = MPIR_Info_set_impl(info, key, text);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* ---- MPI_Alloc_mem ---- */

#ifdef NUMACOLL_BUILD_SHM
/* Whether a buffer is to be shared: the info key numacoll_shared_buffers, or the variable. A value
 * that is none is like no key. */
static bool is_to_be_shared(MPIR_Info *info)
{
    char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    int value, wanted = MPIR_CVAR_NUMACOLL_SHARED_BUFFERS;
    const char *name = MPIDI_NUMACOLL_variables[NC_VAR_SHARED_BUFFERS].name;

    for (int at = 0; next_key(info, &at, key, text);) {
        if (!strcmp(key + strlen(PREFIX), name) &&
            MPIDI_NUMACOLL_parse(NC_VAR_SHARED_BUFFERS, text, &value))
            wanted = value;
    }
    return wanted != MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_off;
}
#endif

void *MPIR_numacoll_alloc_mem(size_t bytes, MPIR_Info *info)
{
#ifdef NUMACOLL_BUILD_SHM
    if (is_to_be_shared(info))
        return MPIDI_NUMACOLL_shared_alloc(bytes);
#else
    (void) bytes;
    (void) info;
#endif
    return NULL;
}

bool MPIR_numacoll_free_mem(void *buffer)
{
#ifdef NUMACOLL_BUILD_SHM
    return MPIDI_NUMACOLL_shared_free(buffer);
#else
    (void) buffer;
    return false;
#endif
}
