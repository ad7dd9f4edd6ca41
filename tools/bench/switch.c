/* Which algorithm serves: written through MPI_T while the program runs. The numbers of the names are not known to
 * MPI_T in every MPICH; they are in share/numacoll/algorithms.json, made when MPICH was built. */

#include "bench.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static MPI_T_cvar_handle algorithm, fallback;
static struct json_object *numbers, *fallback_numbers;
static char problem[512];

static const char *handle_of(const char *name, MPI_T_cvar_handle * handle)
{
    int index, count;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, handle, &count) != MPI_SUCCESS) {
        snprintf(problem, sizeof problem, "this MPI has no variable %s", name);
        return problem;
    }
    return NULL;
}

static const char *write_value(MPI_T_cvar_handle handle, struct json_object *names, const char *name)
{
    struct json_object *number;
    int value;

    if (!json_object_object_get_ex(names, name, &number)) {
        size_t used = (size_t) snprintf(problem, sizeof problem, "no algorithm %s; there are", name);
        json_object_object_foreach(names, key, unused) {
            (void) unused;
            if (used < sizeof problem)
                used += (size_t) snprintf(problem + used, sizeof problem - used, " %s", key);
        }
        return problem;
    }
    value = json_object_get_int(number);
    return MPI_T_cvar_write(handle, &value) == MPI_SUCCESS ? NULL : "the variable cannot be written";
}

const char *switch_init(const char *collective)
{
    char name[96];
    const char *error;
    int provided, n;
    struct json_object *all = json_object_from_file(NUMACOLL_SHARE "/algorithms.json");

    if (!all)
        return "cannot read " NUMACOLL_SHARE "/algorithms.json";
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    n = snprintf(name, sizeof name, "MPIR_CVAR_%s_INTRA_ALGORITHM", collective);
    for (int i = 10; i < n; i++)
        name[i] = (char) toupper((unsigned char) name[i]);
    error = handle_of(name, &algorithm);
    if (!error)
        error = handle_of("MPIR_CVAR_COLLECTIVE_FALLBACK", &fallback);
    if (!error && (!json_object_object_get_ex(all, name, &numbers) ||
                   !json_object_object_get_ex(all, "MPIR_CVAR_COLLECTIVE_FALLBACK", &fallback_numbers)))
        error = "algorithms.json does not know this collective";
    return error;
}

const char *switch_to(const char *name)
{
    /* an algorithm that cannot serve must be an error, or another one would be timed under its name */
    const char *error = write_value(fallback, fallback_numbers, strcmp(name, "auto") ? "error" : "silent");

    return error ? error : write_value(algorithm, numbers, name);
}
