/* Selects the algorithm that serves, by writing MPICH's variables through MPI_T while the program
 * runs. A variable's values are numbers, and not every MPICH tells MPI_T the names of these
 * numbers; they are in share/numacoll/algorithms.json, which was made when MPICH was built. main.c
 * checks the algorithms, measure.c switches between them. What only MPI_Init reads is set before
 * it, alike for all algorithms; launches.c has a launch for those that ask something else. */

#include "bench.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "MPIR_CVAR_NUMACOLL_"

/* An enumerated variable of the process. */
struct variable {
    MPI_T_cvar_handle handle;
    struct json_object *numbers; /* name of a value -> number */
    int saved;                   /* the value before it was written */
};

static const char *const selection_file[] = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
                                             "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
                                             "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"};
enum { SELECTION_FILES = 3 };
static struct json_object *all_numbers;
static bool files_choose; /* for auto */
static int budgets;       /* so many times the node's budget is what the variants get */
static struct variable algorithm, fallback, others[MAX_PARAMETERS + 2];
static int other_count; /* variables that switch_on has written */
static const struct collective *opened;
static bool counted; /* whether `session` and `calls` are open */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle calls;
/* by the bits of enum single_copy; NULL: not open */
static MPI_T_pvar_handle copied[WAYS_TO_COPY];
static const char *const copied_name[WAYS_TO_COPY] = {
    "numacoll_copied_shared_bytes", "numacoll_copied_cma_bytes", "numacoll_copied_xpmem_bytes"};
static char problem[1024];

/* ---- names ---- */

/* Writes prefix, name and suffix; the name in upper case. */
static void make_name(char *text, size_t n, const char *prefix, const char *name,
                      const char *suffix)
{
    size_t start = (size_t) snprintf(text, n, "%s", prefix);

    snprintf(text + start, n - start, "%s%s", name, suffix);
    for (char *c = text + start; *c; c++)
        *c = (char) toupper((unsigned char) *c);
}

static void variable_of(char *text, size_t n, const char *collective)
{
    make_name(text, n, "MPIR_CVAR_", collective, "_INTRA_ALGORITHM");
}

/* The numbers of a variable's values; NULL if it is not enumerated or does not exist. */
static struct json_object *numbers_of(const char *variable)
{
    struct json_object *numbers = NULL;

    json_object_object_get_ex(all_numbers, variable, &numbers);
    return numbers;
}

static bool exists(const char *variable)
{
    int index;

    return MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS;
}

/* ---- variables that only MPI_Init reads ---- */

void switch_load(void)
{
    all_numbers = json_object_from_file(NUMACOLL_SHARE "/algorithms.json");
}

static bool is_per_process(const char *name)
{
    struct json_object *names = numbers_of("per process");
    size_t n = names ? json_object_array_length(names) : 0;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(json_object_get_string(json_object_array_get_idx(names, i)), name))
            return true;
    }
    return false;
}

/* Whether a parameter has to be set before MPI_Init: it is one of those, and cannot be written
 * through MPI_T; or it is the mapping, without which MPI_Init refuses a topology. */
static bool is_of_launch(const struct algorithm *a, const struct parameter *p)
{
    char variable[256];

    for (int i = 0; i < a->parameter_count && !strcmp(p->name, "mapping"); i++) {
        if (!strcmp(a->parameters[i].name, "topology"))
            return true;
    }
    make_name(variable, sizeof variable, PREFIX, p->name, "");
    return is_per_process(p->name) && (algorithm_is_numacoll(a) || !numbers_of(variable));
}

/* The first such parameter from number *i on, or NULL. *i: the number after it. */
static const struct parameter *next_of_launch(const struct algorithm *a, int *i)
{
    while (*i < a->parameter_count) {
        const struct parameter *p = &a->parameters[(*i)++];
        if (is_of_launch(a, p))
            return p;
    }
    return NULL;
}

bool switch_share_launch(const struct algorithm *a, const struct algorithm *b)
{
    const struct parameter *p, *q;
    int i = 0, k = 0;

    if (a->kind != KIND_ALGORITHM || b->kind != KIND_ALGORITHM)
        return true;
    do {
        p = next_of_launch(a, &i);
        q = next_of_launch(b, &k);
        if (!p != !q || (p && (strcmp(p->name, q->name) || strcmp(p->value, q->value))))
            return false;
    } while (p);
    return true;
}

/* What is wrong, or NULL. */
static const char *set_for_launch(const struct options *o)
{
    const struct algorithm *first = &o->algorithms[0];
    const struct parameter *p;

    for (int a = 1; a < o->algorithm_count; a++) {
        if (switch_share_launch(first, &o->algorithms[a]))
            continue;
        snprintf(problem, sizeof problem,
                 "--algorithms: %s and %s: must be in launches of their own, by --launches: only "
                 "MPI_Init reads what they ask",
                 first->label, o->algorithms[a].label);
        return problem;
    }
    for (int i = 0; (p = next_of_launch(first, &i));) {
        char variable[256];
        make_name(variable, sizeof variable, PREFIX, p->name, "");
        setenv(variable, p->value, 1);
    }
    return NULL;
}

/* ---- texts that say what is wrong: "WHAT; there are A, B" ---- */

static void append(const char *separator, const char *word)
{
    size_t used = strlen(problem);

    snprintf(problem + used, sizeof problem - used, "%s%s", separator, word);
}

static const char *not_among(struct json_object *numbers)
{
    const char *separator = "; there are ";

    json_object_object_foreach(numbers, name, unused)
    {
        (void) unused;
        append(separator, name);
        separator = ", ";
    }
    return problem;
}

/* Appends the names of all variables of numacoll, or of the enumerated ones only. */
static const char *not_among_variables(bool enumerated)
{
    const char *separator = "; there are ";
    int n = 0;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[256];
        int length = sizeof name, verbosity, bind, scope;
        MPI_Datatype type;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, NULL, NULL, NULL, &bind,
                                &scope) ||
            strncmp(name, PREFIX, strlen(PREFIX)) || (enumerated && !numbers_of(name)))
            continue;
        for (char *c = name; *c; c++)
            *c = (char) tolower((unsigned char) *c);
        append(separator, name + strlen(PREFIX));
        separator = ", ";
    }
    return problem;
}

/* ---- start and end ---- */

/* The device's choice is made after MPICH's, and is not written through MPI_T. Where it has no
 * automatic choice, its default is to leave the choice to MPICH. */
static void device_chooses(const char *collective)
{
    char name[128];
    struct json_object *numbers;

    make_name(name, sizeof name, "MPIR_CVAR_", collective, "_POSIX_INTRA_ALGORITHM");
    numbers = numbers_of(name);
    setenv(name, !numbers || json_object_object_get_ex(numbers, "auto", NULL) ? "auto" : "mpir", 1);
}

const char *switch_environment(const struct options *o)
{
    const char *error;

    if (PLAIN)
        return NULL;
    files_choose = o->selection_files;
    /* rings for long messages take at most a quarter of it (core/nc_layout, nc_geometry_share) */
    budgets = o->algorithm_count * (algorithms_of_numacoll(o) > 1 ? 4 : 1);
    switch_load();
    error = set_for_launch(o);
    if (error)
        return error;
    geometry_listen(o);
    setenv(PREFIX "COLLECTIVES", "none", 1);
    if (!files_choose) {
        for (int i = 0; i < SELECTION_FILES; i++)
            setenv(selection_file[i], "", 1);
    }
    collective_each(device_chooses);
    return NULL;
}

/* The segments of all variants are there at once. One variant of numacoll is to find the room that
 * a job has in the node's budget, which the site's file may have changed; several the room for the
 * queues that they ask for, or one would be shortened and the others not. What the environment says
 * counts. */
static void make_room(void)
{
    static const char name[] = "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE";
    const long long most = 2097151; /* KiB: MPICH reckons with ints of bytes beyond that */
    MPI_T_cvar_handle handle;
    int index, count, limit;
    char text[16];

    if (getenv(name) || MPI_T_cvar_get_index(name, &index) ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count))
        return;
    MPI_T_cvar_read(handle, &limit);
    if ((long long) limit * budgets > most)
        limit = limit > most ? limit : (int) most;
    else
        limit *= budgets;
    MPI_T_cvar_write(handle, &limit);
    MPI_T_cvar_handle_free(&handle);
    snprintf(text, sizeof text, "%d", limit);
    setenv(name, text, 1); /* for JSON */
}

/* Whether the environment or the site's file names a file to select by. */
static bool names_file(void)
{
    for (int i = 0; i < SELECTION_FILES; i++) {
        const char *file = getenv(selection_file[i]);
        file = file ? file : json_site_value(selection_file[i]);
        if (file && *file)
            return true;
    }
    return false;
}

const char *switch_init(void)
{
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (PLAIN)
        return NULL;
    make_room();
    if (files_choose && !names_file())
        return "--selection-files: needs a file, in MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE or "
               "one of its kind";
    return all_numbers ? NULL : "cannot read " NUMACOLL_SHARE "/algorithms.json";
}

void switch_finish(void)
{
    json_object_put(all_numbers);
    MPI_T_finalize();
}

/* ---- checks ---- */

static const char *check_parameter(const struct algorithm *a, const struct parameter *p)
{
    char name[256];
    struct json_object *numbers;

    make_name(name, sizeof name, PREFIX, p->name, "");
    numbers = numbers_of(name);
    snprintf(problem, sizeof problem, "%s: %s=%s: ", p->option, p->name, p->value);
    if (!exists(name)) {
        append("no such variable", "");
        return not_among_variables(false);
    }
    if (!strcmp(p->name, "collectives")) {
        append("must not be given: an algorithm is chosen by its name", "");
        return problem;
    }
    if (numbers && !json_object_object_get_ex(numbers, p->value, NULL)) {
        append("no such value", "");
        return not_among(numbers);
    }
    if (!numbers && !algorithm_is_numacoll(a) && !is_of_launch(a, p)) {
        append("only enumerated variables can be written for ", a->name);
        return not_among_variables(true);
    }
    return NULL;
}

static const char *check_counter(const struct collective *c)
{
    char name[128];
    int index;

    snprintf(name, sizeof name, "numacoll_%s_calls", c->name);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS)
        return NULL;
    snprintf(problem, sizeof problem, "this MPI has no performance variable %s", name);
    return problem;
}

const char *switch_check(const struct collective *c, const struct algorithm *a)
{
    const char *error = NULL;
    char name[128];
    struct json_object *numbers;

    if (PLAIN)
        return NULL;
    variable_of(name, sizeof name, c->name);
    numbers = numbers_of(name);
    if (!numbers || !exists(name)) {
        snprintf(problem, sizeof problem, "%s: this MPI has no variable %s", c->name, name);
        return problem;
    }
    if (!json_object_object_get_ex(numbers, a->name, NULL)) {
        snprintf(problem, sizeof problem, "--algorithms: %s: not an algorithm of %s", a->name,
                 c->name);
        return not_among(numbers);
    }
    for (int i = 0; i < a->parameter_count && !error; i++)
        error = check_parameter(a, &a->parameters[i]);
    return error || !algorithm_is_numacoll(a) ? error : check_counter(c);
}

/* ---- the variables of a collective ---- */

static const char *open_variable(struct variable *v, const char *name)
{
    int index, count;

    v->numbers = numbers_of(name);
    if (v->numbers && MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &v->handle, &count) == MPI_SUCCESS)
        return NULL;
    snprintf(problem, sizeof problem, "this MPI has no variable %s", name);
    return problem;
}

const char *switch_open(const struct collective *c)
{
    char name[128];
    const char *error;

    if (PLAIN)
        return NULL;
    variable_of(name, sizeof name, c->name);
    error = open_variable(&algorithm, name);
    if (!error)
        error = open_variable(&fallback, "MPIR_CVAR_COLLECTIVE_FALLBACK");
    opened = c;
    return error;
}

void switch_close(void)
{
    if (PLAIN)
        return;
    MPI_T_cvar_handle_free(&algorithm.handle);
    MPI_T_cvar_handle_free(&fallback.handle);
}

/* ---- what numacoll counts ---- */

/* Whether the parameter names a version of the collective that numacoll counts separately, such as
 * allreduce_version=sliced. *index: the counter. */
static bool names_way(const struct parameter *p, int *index)
{
    char name[256];

    make_name(name, sizeof name, PREFIX, p->name, "");
    if (strncmp(p->name, opened->name, strlen(opened->name)) || !numbers_of(name) ||
        !strcmp(p->value, "auto"))
        return false;
    snprintf(name, sizeof name, "numacoll_%s_%s_calls", opened->name, p->value);
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, index) == MPI_SUCCESS;
}

/* Opens the counter of the calls that numacoll serves. If the algorithm names a version, it is the
 * counter of this version, because numacoll may have to serve a call by another version. */
static void open_counter(const struct algorithm *a)
{
    char name[128];
    int index, way, count;

    snprintf(name, sizeof name, "numacoll_%s_calls", opened->name);
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        return;
    for (int i = 0; i < a->parameter_count && algorithm_is_numacoll(a); i++) {
        if (names_way(&a->parameters[i], &way))
            index = way;
    }
    counted = MPI_T_pvar_session_create(&session) == MPI_SUCCESS &&
              MPI_T_pvar_handle_alloc(session, index, NULL, &calls, &count) == MPI_SUCCESS;
    if (counted)
        MPI_T_pvar_start(session, calls); /* fails if the variable counts all the time */
    for (int i = 0; i < WAYS_TO_COPY && counted; i++) {
        if (MPI_T_pvar_get_index(copied_name[i], MPI_T_PVAR_CLASS_COUNTER, &index) ||
            MPI_T_pvar_handle_alloc(session, index, NULL, &copied[i], &count))
            copied[i] = NULL;
    }
}

static void close_counter(void)
{
    if (counted) {
        MPI_T_pvar_handle_free(session, &calls);
        for (int i = 0; i < WAYS_TO_COPY; i++) {
            if (copied[i])
                MPI_T_pvar_handle_free(session, &copied[i]);
            copied[i] = NULL;
        }
        MPI_T_pvar_session_free(&session);
    }
    counted = false;
}

unsigned switch_copies(void)
{
    unsigned copies = 0;

    for (int i = 0; i < WAYS_TO_COPY && counted; i++) {
        unsigned long long bytes = 0;
        if (copied[i] && !MPI_T_pvar_read(session, copied[i], &bytes) && bytes)
            copies |= 1u << i;
    }
    return copies;
}

unsigned long long switch_shortened(void)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle segments;
    unsigned long long n = 0;
    int index, count;

    if (MPI_T_pvar_get_index("numacoll_shortened_segments", MPI_T_PVAR_CLASS_LEVEL, &index) ||
        MPI_T_pvar_session_create(&s))
        return 0;
    if (!MPI_T_pvar_handle_alloc(s, index, NULL, &segments, &count)) {
        MPI_T_pvar_read(s, segments, &n);
        MPI_T_pvar_handle_free(s, &segments);
    }
    MPI_T_pvar_session_free(&s);
    return n;
}

unsigned long long switch_served(void)
{
    unsigned long long n = 0;

    if (counted)
        MPI_T_pvar_read(session, calls, &n);
    return n;
}

/* ---- switching ---- */

static const char *write_value(struct variable *v, const char *name)
{
    struct json_object *number;
    int value;

    if (!json_object_object_get_ex(v->numbers, name, &number))
        return "unknown value";
    value = json_object_get_int(number);
    return MPI_T_cvar_read(v->handle, &v->saved) == MPI_SUCCESS &&
                   MPI_T_cvar_write(v->handle, &value) == MPI_SUCCESS
               ? NULL
               : "a variable cannot be written";
}

static const char *write_other(const char *name, const char *value)
{
    struct variable *v = &others[other_count];
    const char *error = open_variable(v, name);

    if (error)
        return error;
    other_count++;
    return write_value(v, value);
}

static const char *write_parameter(const struct parameter *p)
{
    char name[256];

    make_name(name, sizeof name, PREFIX, p->name, "");
    return write_other(name, p->value);
}

const char *switch_on(const struct algorithm *a)
{
    const char *error;

    if (PLAIN)
        return NULL;
    /* an algorithm that cannot serve must give an error: MPICH would fall back to another
     * algorithm, and its time would be reported under the wrong name */
    error = write_value(&fallback, strcmp(a->name, "auto") ? "error" : "silent");
    if (!error)
        error = write_value(&algorithm, a->name);
    /* the device chooses before MPICH, and does not ask which of MPICH's algorithms is wanted */
    if (!error && strcmp(a->name, "auto") && !algorithm_is_numacoll(a))
        error = write_other("MPIR_CVAR_DEVICE_COLLECTIVES", "none");
    /* MPICH's algorithms are measured with MPICH's own way of waiting, the choice of files with the
     * job's */
    if (!error && !algorithm_is_numacoll(a) && !(files_choose && !strcmp(a->name, "auto")))
        error = write_other(PREFIX "YIELD", "off");
    for (int i = 0; i < a->parameter_count && !error && !algorithm_is_numacoll(a); i++) {
        if (!is_of_launch(a, &a->parameters[i]))
            error = write_parameter(&a->parameters[i]);
    }
    open_counter(a);
    return error;
}

/* Puts the variables back, in reverse order, as one may have been written twice. */
static void restore_others(void)
{
    while (other_count > 0) {
        struct variable *v = &others[--other_count];
        MPI_T_cvar_write(v->handle, &v->saved);
        MPI_T_cvar_handle_free(&v->handle);
    }
}

void switch_off(void)
{
    if (PLAIN)
        return;
    close_counter();
    restore_others();
    write_value(&algorithm, "auto");
    write_value(&fallback, "silent");
}

/* ---- parameters as info keys ---- */

/* Whether the algorithm has parameters that are info keys. */
static bool has_keys(const struct algorithm *a)
{
    bool has = false;

    for (int i = 0; i < a->parameter_count && algorithm_is_numacoll(a); i++)
        has = has || !is_of_launch(a, &a->parameters[i]);
    return has;
}

/* Checks that the communicator has the keys: MPI ignores a key it does not know. */
static const char *check_keys(MPI_Comm comm, const struct algorithm *a)
{
    MPI_Info info;
    const char *error = NULL;

    MPI_Comm_get_info(comm, &info);
    for (int i = 0; i < a->parameter_count && !error; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL + 1];
        int flag;
        if (is_of_launch(a, &a->parameters[i]))
            continue;
        snprintf(key, sizeof key, "numacoll_%s", a->parameters[i].name);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        if (!flag) {
            snprintf(problem, sizeof problem, "%s: %s is not a variable of a communicator",
                     a->label, a->parameters[i].name);
            error = problem;
        }
    }
    MPI_Info_free(&info);
    return error;
}

/* A communicator takes the key for an order only while numacoll is selected for both collectives
 * that have one. */
static const char *select_for_order(const struct algorithm *a)
{
    static const char *const names[] = {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM",
                                        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"};
    const char *error = NULL;

    for (int i = 0; i < a->parameter_count; i++) {
        for (int n = 0; n < 2 && !error && !strcmp(a->parameters[i].name, "reduce_order"); n++)
            error = write_other(names[n], "numacoll");
    }
    return error;
}

MPI_Comm switch_comm(const struct algorithm *a, MPI_Comm comm, const char **error)
{
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Info info;
    int mpi_error, class;

    *error = NULL;
    if (!has_keys(a))
        return comm;
    MPI_Info_create(&info);
    for (int i = 0; i < a->parameter_count; i++) {
        char key[MPI_MAX_INFO_KEY];
        snprintf(key, sizeof key, "numacoll_%s", a->parameters[i].name);
        if (!is_of_launch(a, &a->parameters[i]))
            MPI_Info_set(info, key, a->parameters[i].value);
    }
    *error = select_for_order(a);
    mpi_error = MPI_Comm_dup_with_info(comm, info, &own);
    restore_others();
    MPI_Error_class(mpi_error, &class);
    if (!*error && mpi_error != MPI_SUCCESS)
        *error = class == MPI_ERR_INFO_VALUE ? "" : "MPI_Comm_dup_with_info fails";
    else if (!*error)
        *error = check_keys(own, a);
    MPI_Info_free(&info);
    return mpi_error == MPI_SUCCESS ? own : comm;
}
