/* Checks selection files as a whole before MPICH reads them, because MPICH takes what it does not
 * understand for something else, or aborts. MPICH calls MPIR_numacoll_csel_from_file instead of its
 * own function. The names and keys that are allowed are those of this MPICH (numacoll_csel.h, made
 * by maint/gentuning). Always built.
 *
 * What a file must be, beyond JSON: an object of "collective=NAME"; below each, objects of
 * conditions, tried in order, the last of which must always hold where MPICH has no other choice;
 * at the end of each path a csel entry: a single algorithm or composition of that collective, which
 * may have parameters. */

#define _GNU_SOURCE
#include "mpiimpl.h"

#include <errno.h>
#include <json.h>
#include <limits.h>
#include <stdarg.h>

#include "mpir_csel.h"
#include "numacoll_csel.h"
#include "compat.h"
#include "diag.h"
#include "selection_file.h"
#include "settings.h"
#include "text_file.h"
#include "../core/nc_layout.h"

/* The three levels, by enum MPIR_numacoll_csel. entries: the names of the csel entries that the
 * level has. */
static const struct level {
    const char *variable;
    const char *entries;
    bool complete; /* every call must end at a csel entry */
} levels[NC_SELECTION_FILES] = {
    [MPIR_NUMACOLL_CSEL_MPIR] = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", NC_CSEL_MPIR_LEAVES,
                                 true},
    [MPIR_NUMACOLL_CSEL_CH4] = {"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", NC_CSEL_CH4_LEAVES,
                                false},
    [MPIR_NUMACOLL_CSEL_POSIX] = {"MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE",
                                  NC_CSEL_POSIX_LEAVES, false},
};

/* The check of one file. */
struct check {
    const struct level *level;
    const char *path;
    const char *text;
    /* behind the key that was looked at last: keys are visited in the order of the text */
    const char *cursor;
    const char *at; /* where that key begins */
    /* for the line about what is wrong: file, line number, value, what is allowed */
    char *problem;
    size_t size;
};

/* A place in the tree: the collective, and what the conditions above it have settled. */
struct place {
    char collective[64];
    const char *kind;  /* kind of communicator: "intra", "inter", or NULL: either */
    bool parent;       /* the communicator has sub-communicators of nodes */
    bool not_in_place; /* the send buffer is not MPI_IN_PLACE */
    const char *local; /* a condition that ranks may answer differently, or NULL */
};

/* ---- complaints ---- */

static int line_of(const struct check *c, const char *at)
{
    int line = 1;

    for (const char *p = c->text; p < at; p++)
        line += *p == '\n';
    return line;
}

/* Writes c->problem; always false. */
static bool wrong(const struct check *c, const char *at, const char *format, ...)
{
    size_t used = (size_t) snprintf(c->problem, c->size, "%s:%d: ", c->path, line_of(c, at));
    va_list values;

    va_start(values, format);
    if (used < c->size)
        vsnprintf(c->problem + used, c->size - used, format, values);
    va_end(values);
    return false;
}

/* Sets c->at to the key in the text. json-c does not keep positions, so the key is looked for from
 * the last one on. */
static void find_key(struct check *c, const char *key)
{
    size_t n = strlen(key);

    for (const char *p = strchr(c->cursor, '"'); p; p = strchr(p + 1, '"')) {
        if (!strncmp(p + 1, key, n) && p[n + 1] == '"') {
            const char *after = p + n + 2 + strspn(p + n + 2, " \t\r\n");
            if (*after == ':') {
                c->at = p;
                c->cursor = after;
                return;
            }
        }
    }
}

/* ---- names ---- */

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static bool in_words(const char *words, const char *word)
{
    int number;
    return nc_words_find(words, word, strlen(word), &number);
}

/* Whether MPI does not define the collective on intercommunicators. (MPICH's own file names
 * algorithms for these all the same.) */
static bool intra_only(const char *collective)
{
    return in_words("scan exscan iscan iexscan", collective) || strstr(collective, "neighbor_");
}

/* Whether the name of a csel entry (n characters) belongs to this collective and, if the name says
 * intra or inter, to this kind of communicator. */
static bool entry_fits(const char *entry, size_t n, const struct place *place)
{
    static const char *const starts[] = {"algorithm=MPIR_", "algorithm=MPIDI_POSIX_mpi_",
                                         "composition=MPIDI_"};
    static const char *const ends[] = {"_intra_", "_inter_", "_allcomm_", "_impl", "_"};
    size_t name = strlen(place->collective);

    for (int i = 0; i < 3; i++) {
        const char *rest = entry + strlen(starts[i]);
        if (!starts_with(entry, starts[i]) || strlen(starts[i]) + name >= n ||
            strncasecmp(rest, place->collective, name))
            continue;
        rest += name;
        for (int e = 0; e < (i == 1 ? 5 : 4); e++) {
            if (!starts_with(rest, ends[e]))
                continue;
            if (e > 1 || intra_only(place->collective))
                return true;
            return place->kind && !strncmp(rest + 1, place->kind, strlen(place->kind));
        }
    }
    return false;
}

/* The entries of a list that fit a place, for a line to the user. */
static void known_entries(const char *words, const struct place *place, char *text, size_t size)
{
    size_t used = 0, n;

    text[0] = 0;
    for (; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (entry_fits(words, n, place) && used < size)
            used += (size_t) snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int) n,
                                      words);
    }
}

/* ---- a csel entry ---- */

/* A parameter of an entry of numacoll: a setting that is read per call, in its range. */
static bool check_our_parameter(struct check *c, const char *name, const char *value)
{
    const struct nc_variable *table = MPIDI_NUMACOLL_variables;
    char allowed[256];
    int number, i = nc_variable_find(table, NC_SETTING_COUNT, name), slot;
    size_t used = 0;

    if (i < 0 || table[i].scope != NC_PER_CALL) {
        for (int k = 0; k < NC_SETTING_COUNT && used < sizeof allowed; k++) {
            if (table[k].scope == NC_PER_CALL)
                used += (size_t) snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                          used ? ", " : "", table[k].name);
        }
        return wrong(c, c->at, "parameter %s: must be one of %s", name, allowed);
    }
    if (!MPIDI_NUMACOLL_parse(i, value, &number)) {
        nc_variable_allowed(&table[i], allowed, sizeof allowed);
        return wrong(c, c->at, "%s=%s: must be %s", name, value, allowed);
    }
    slot = MPIDI_NUMACOLL_variable(NC_VAR_FRAGMENT_SIZE);
    if (slot <= 0) /* open, or by the rule of the square root */
        slot = slot ? NC_WIDE_SLOT_BYTES : NC_SLOT_BYTES;
    if (i == NC_VAR_FRAGMENT_SIZE && number > slot)
        return wrong(c, c->at,
                     "%s=%s: must be at most %d bytes, the slot (MPIR_CVAR_NUMACOLL_FRAGMENT_SIZE)",
                     name, value, slot);
    return true;
}

/* Cuts "name=value" (without spaces) in two. False: there is no "=". */
static bool split(char *text, char **value)
{
    char *sign = strchr(text, '=');

    if (sign)
        *sign = 0;
    *value = sign ? sign + 1 : text;
    return sign != NULL;
}

static bool is_number(const char *text, long low, long high)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && !errno && low <= number && number <= high;
}

/* The parameters that an entry of MPICH's own must have. All of them: for a missing one MPICH would
 * use whatever number is in memory. */
static const char *their_parameters(const char *entry)
{
#define NC_CHECK(name, parameters) \
    if (!strcmp(entry, name)) \
        return parameters;
    NC_CSEL_PARAMETERS(NC_CHECK)
#undef NC_CHECK
    return "";
}

/* A parameter of an entry of MPICH's own: its name and its range. */
static bool check_their_parameter(struct check *c, const char *wanted, const char *name,
                                  const char *value)
{
    char with_sign[64];
    bool degree = name[0] && name[strlen(name) - 1] == 'k', kind = !strcmp(name, "tree_type");

    snprintf(with_sign, sizeof with_sign, "%s=", name);
    if (!in_words(wanted, with_sign))
        return wrong(c, c->at, "parameter %s: must be one of: %s", name, *wanted ? wanted : "none");
    if (kind && !in_words(NC_CSEL_TREE_TYPES, value))
        return wrong(c, c->at, "%s=%s: must be one of: %s", name, value, NC_CSEL_TREE_TYPES);
    if (!kind && !is_number(value, degree ? 2 : 0, INT_MAX))
        return wrong(c, c->at, "%s=%s: must be a number%s", name, value, degree ? " from 2" : "");
    return true;
}

static bool check_parameter(struct check *c, const char *entry, bool ours, const char *key)
{
    char *name = MPL_strdup_no_spaces(key), *value;
    bool good = split(name, &value);

    if (!good)
        wrong(c, c->at, "\"%s\": must be PARAMETER=VALUE", key);
    else
        good = ours ? check_our_parameter(c, name, value)
                    : check_their_parameter(c, their_parameters(entry), name, value);
    MPL_free(name);
    return good;
}

static bool is_ours(const char *entry)
{
    size_t n = strlen(entry);
    return n > 9 && !strcmp(entry + n - 9, "_numacoll");
}

/* Whether the csel entry may stand at this place. */
static bool check_standing(struct check *c, const char *name, const struct place *place)
{
    char known[1024];

    if (!in_words(c->level->entries, name) || !entry_fits(name, strlen(name), place)) {
        known_entries(c->level->entries, place, known, sizeof known);
        return wrong(c, c->at, "%s: must be one of %s%s", name,
                     *known ? known : "none: nothing is chosen for it here",
                     place->kind || intra_only(place->collective)
                         ? ""
                         : ", or below comm_type=intra or inter");
    }
    if (in_words(NC_CSEL_NEED_PARENT, name) && !place->parent && !intra_only(place->collective))
        return wrong(c, c->at, "%s: must be below comm_hierarchy=parent", name);
    if (is_ours(name) && place->local)
        return wrong(c, c->at, "%s: must not depend on %s, which ranks may see differently", name,
                     place->local);
    return true;
}

/* Checks a csel entry: its name, its place, and its parameters. */
static bool check_entry(struct check *c, const char *name, struct json_object *parameters,
                        const struct place *place)
{
    const char *entry_at = c->at, *wanted = is_ours(name) ? "" : their_parameters(name);
    int given = 0, needed = 0;

    if (!check_standing(c, name, place))
        return false;
    json_object_object_foreach(parameters, key, value)
    {
        (void) value;
        find_key(c, key);
        if (!check_parameter(c, name, is_ours(name), key))
            return false;
        given++;
    }
    for (const char *p = strchr(wanted, '='); p; p = strchr(p + 1, '='))
        needed++;
    return is_ours(name) || given >= needed ||
           wrong(c, entry_at, "%s: must have all of its parameters: %s", name, wanted);
}

/* ---- conditions ---- */

/* Length of the part of a condition before its sign. */
static size_t base_length(const char *condition)
{
    return strcspn(condition, "=<");
}

/* Whether MPICH can evaluate the condition for this collective: for some collectives it aborts. */
static bool asked_of(const char *condition, const char *collective)
{
#define NC_CHECK(key, collectives) \
    if (strlen(key) == base_length(condition) && !strncmp(key, condition, strlen(key)) && \
        !strstr(condition, "=any")) \
        return in_words(collectives, collective);
    NC_CSEL_PARTIAL(NC_CHECK)
#undef NC_CHECK
    return true;
}

static bool known_condition(const char *condition)
{
    size_t n = base_length(condition) + strspn(condition + base_length(condition), "=<");
    int number;

    return in_words(NC_CSEL_CONDITIONS, condition) ||
           (nc_words_find(NC_CSEL_THRESHOLDS, condition, n, &number) &&
            is_number(condition + n, 0, INT_MAX));
}

/* Whether ranks may answer a condition differently in a correct program: it depends on what is
 * significant at the root only, on a rank's own counts, on a count alone where only the bytes must
 * be the same on all ranks, or on the arguments of a send buffer that may be MPI_IN_PLACE. */
static bool is_local(const char *condition, const struct place *place)
{
    const char *collective = place->collective;
    bool total = starts_with(condition, "total_msg_size");

    if (strstr(condition, "=any"))
        return false;
    return (starts_with(condition, "count") &&
            in_words("bcast allgather iallgather allgatherv iallgatherv", collective)) ||
           (total &&
            in_words("gather scatter igather iscatter alltoallv alltoallw ialltoallv ialltoallw",
                     collective)) ||
           ((total || starts_with(condition, "avg_msg_size")) && !place->not_in_place &&
            in_words("alltoall ialltoall", collective));
}

/* Checks a condition, and adds to `place` what it settles. */
static bool check_condition(struct check *c, const char *condition, struct place *place)
{
    if (!known_condition(condition))
        return wrong(c, c->at, "%s: must be one of %s, or a number after one of %s", condition,
                     NC_CSEL_CONDITIONS, NC_CSEL_THRESHOLDS);
    if (!asked_of(condition, place->collective))
        return wrong(c, c->at, "%s: MPICH does not know this of %s", condition, place->collective);
    if (starts_with(condition, "comm_type="))
        place->kind = strcmp(condition, "comm_type=intra") ? "inter" : "intra";
    place->parent = place->parent || !strcmp(condition, "comm_hierarchy=parent");
    place->not_in_place = place->not_in_place || !strcmp(condition, "is_sendbuf_inplace=no");
    return true;
}

static bool is_yes_or_no(const char *condition)
{
    const char *value = condition + base_length(condition);
    return !strcmp(value, "=yes") || !strcmp(value, "=no");
}

static bool has_key(struct json_object *object, const char *wanted)
{
    json_object_object_foreach(object, key, value)
    {
        char *stripped = MPL_strdup_no_spaces(key);
        bool same = !strcmp(stripped, wanted);
        (void) value;
        MPL_free(stripped);
        if (same)
            return true;
    }
    return false;
}

/* Whether in every case one of an object's conditions holds; `last` is the last of them. */
static bool certain(struct json_object *object, const char *last, const struct place *place)
{
    static const char *const sets[] = {
        "comm_type=intra comm_type=inter",
        "comm_hierarchy=parent comm_hierarchy=node_roots comm_hierarchy=node comm_hierarchy=flat",
    };
    char other[64];

    if (strstr(last, "=any") || (!strcmp(last, "comm_type=intra") && intra_only(place->collective)))
        return true;
    if (starts_with(last, "comm_type=") && intra_only(place->collective))
        return has_key(object, "comm_type=intra");
    for (int i = 0; i < 2; i++) {
        bool all = in_words(sets[i], last);
        for (const char *word = sets[i]; all && *word;
             word += strcspn(word, " "), word += *word == ' ') {
            snprintf(other, sizeof other, "%.*s", (int) strcspn(word, " "), word);
            all = has_key(object, other);
        }
        if (all)
            return true;
    }
    snprintf(other, sizeof other, "%.*s=%s", (int) base_length(last), last,
             strstr(last, "=yes") ? "no" : "yes");
    return is_yes_or_no(last) && has_key(object, other);
}

/* Whether a condition may be the last of its object although it may not hold: MPICH has such
 * without an alternative if they are yes or no, or about the kind of communicator. */
static bool may_fail(const char *condition)
{
    return is_yes_or_no(condition) || starts_with(condition, "comm_type=") ||
           starts_with(condition, "comm_hierarchy=");
}

static bool check_tree(struct check *c, struct json_object *object, const struct place *place);

/* One key of an object with what is below it: a csel entry, or a condition with more conditions. */
static bool check_node(struct check *c, struct json_object *object, const char *name,
                       struct json_object *value, const struct place *place)
{
    struct place below = *place;

    if (!json_object_is_type(value, json_type_object))
        return wrong(c, c->at, "\"%s\": must be followed by an object { }", name);
    if (starts_with(name, "algorithm=") || starts_with(name, "composition=")) {
        if (json_object_object_length(object) != 1)
            return wrong(c, c->at, "%s: must be alone in its object", name);
        return check_entry(c, name, value, place);
    }
    return check_condition(c, name, &below) && check_tree(c, value, &below);
}

/* Everything below a collective. */
static bool check_tree(struct check *c, struct json_object *object, const struct place *place)
{
    const char *start = c->at;
    char last[128] = "", local[128];
    struct place here = *place;
    bool good = true;

    json_object_object_foreach(object, key, value)
    {
        char *name = MPL_strdup_no_spaces(key);
        find_key(c, key);
        if (strstr(last, "=any"))
            good = wrong(c, c->at, "%s: never reached: what comes before always holds", name);
        if (!here.local && is_local(name, &here)) {
            snprintf(local, sizeof local, "%s", name);
            here.local = local;
        }
        good = good && check_node(c, object, name, value, &here);
        /* the keys that follow are for the other kind of communicator, or the other send buffers */
        if (starts_with(name, "comm_type="))
            here.kind = strcmp(name, "comm_type=intra") ? "intra" : "inter";
        here.not_in_place = here.not_in_place || !strcmp(name, "is_sendbuf_inplace=yes");
        snprintf(last, sizeof last, "%s", name);
        MPL_free(name);
        if (!good)
            return false;
    }
    if (!last[0])
        return wrong(c, start, "%s: must choose something: { } is empty", place->collective);
    if (starts_with(last, "algorithm=") || starts_with(last, "composition=") ||
        certain(object, last, place))
        return true;
    if (!c->level->complete && may_fail(last))
        return true;
    return wrong(
        c, start,
        "%s: nothing is chosen here if %s does not hold: must end with %.*s=any or the like",
        place->collective, last, (int) base_length(last), last);
}

static bool check_collectives(struct check *c, struct json_object *root)
{
    struct place place = {.kind = NULL, .parent = false, .not_in_place = false, .local = NULL};
    char missing[64];
    size_t n;

    json_object_object_foreach(root, key, value)
    {
        char *name = MPL_strdup_no_spaces(key);
        bool good = starts_with(name, "collective=") &&
                    in_words(NC_CSEL_COLLECTIVES, name + strlen("collective="));
        find_key(c, key);
        snprintf(place.collective, sizeof place.collective, "%s",
                 good ? name + strlen("collective=") : "");
        MPL_free(name);
        if (!good)
            return wrong(c, c->at, "\"%s\": must be collective= and one of %s", key,
                         NC_CSEL_COLLECTIVES);
        if (!json_object_is_type(value, json_type_object))
            return wrong(c, c->at, "\"%s\": must be followed by an object { }", key);
        if (!check_tree(c, value, &place))
            return false;
    }
    for (const char *word = NC_CSEL_REQUIRED; c->level->complete && *word;
         word += n + (word[n] == ' ')) {
        n = strcspn(word, " ");
        snprintf(missing, sizeof missing, "collective=%.*s", (int) n, word);
        if (!has_key(root, missing))
            return wrong(c, c->cursor,
                         "%s is missing: the file takes the place of all that MPICH would choose; "
                         "share/numacoll/mpir.json has everything",
                         missing);
    }
    return true;
}

/* ---- the file ---- */

/* Checks the text of a file. */
static bool check_text(struct check *c)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *root = json_tokener_parse_ex(tokener, c->text, (int) strlen(c->text));
    enum json_tokener_error error = json_tokener_get_error(tokener);
    const char *end = c->text + tokener->char_offset;
    bool good = false;

    if (error == json_tokener_continue)
        wrong(c, c->text + strlen(c->text),
              "must be one object { }; the file ends before one does");
    else if (error != json_tokener_success)
        wrong(c, end, "not JSON: %s", json_tokener_error_desc(error));
    else if (!json_object_is_type(root, json_type_object))
        wrong(c, c->text, "must be one object { }");
    else if (end[strspn(end, " \t\r\n")])
        wrong(c, end + strspn(end, " \t\r\n"), "text after the end of the object");
    else
        good = check_collectives(c, root);
    json_object_put(root);
    json_tokener_free(tokener);
    return good;
}

static unsigned checksums[NC_SELECTION_FILES];

/* What MPICH makes a level's csel entries by, and where it keeps them; NULL: there is a file. */
static struct {
    void *(*create_container)(struct json_object *);
    void **csel;
} defaults[NC_SELECTION_FILES];

const char *MPIDI_NUMACOLL_file_variable(int level)
{
    return levels[level].variable;
}

unsigned MPIDI_NUMACOLL_file_checksum(int level)
{
    return checksums[level];
}

bool MPIDI_NUMACOLL_files_are_given(void)
{
    for (int level = 0; level < NC_SELECTION_FILES; level++) {
        if (checksums[level])
            return true;
    }
    return false;
}

void MPIDI_NUMACOLL_files_forget(void)
{
    memset(checksums, 0, sizeof checksums);
    memset(defaults, 0, sizeof defaults);
}

bool MPIDI_NUMACOLL_file_check(int level, const char *path, const char *text, char *problem,
                               size_t size)
{
    struct check check = {.level = &levels[level],
                          .path = path,
                          .text = text,
                          .cursor = text,
                          .at = text,
                          .problem = problem,
                          .size = size};

    return check_text(&check);
}

int MPIDI_NUMACOLL_file_make(int level, const char *text, void **csel)
{
    return MPIR_Csel_create_from_buf(text, defaults[level].create_container, csel);
}

void **MPIDI_NUMACOLL_file_default(int level)
{
    return defaults[level].csel;
}

int MPIR_numacoll_csel_from_default(enum MPIR_numacoll_csel level, const char *text,
                                    void *(*create_container)(struct json_object *), void **csel)
{
    defaults[level].create_container = create_container;
    defaults[level].csel = csel;
    return MPIR_Csel_create_from_buf(text, create_container, csel);
}

int MPIR_numacoll_csel_from_file(enum MPIR_numacoll_csel level, const char *path,
                                 void *(*create_container)(struct json_object *), void **csel)
{
    int mpi_errno = MPI_SUCCESS;
    char *text = MPIDI_NUMACOLL_text_file_read(path), problem[NC_SELECTION_PROBLEM];
    bool good = text && MPIDI_NUMACOLL_file_check(level, path, text, problem, sizeof problem);

    if (!text)
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(),
                                "%s=%s: must be a regular file that can be read: %s",
                                levels[level].variable, path, strerror(errno));
    else if (!good)
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(), "%s (%s)", problem,
                                levels[level].variable);
    if (!good && level == MPIR_NUMACOLL_CSEL_POSIX && !NC_MEET_BY_COMM) {
        /* the files of the other levels are read before the ranks of the job meet; before that
         * nobody has made a file in /dev/shm, but with 4.3 a rank that waits for this one */
        MPIDI_NUMACOLL_refuse_start(MPIDI_NUMACOLL_job_rank());
        *csel = NULL;
        goto fn_exit;
    }
    if (!good)
        MPIDI_NUMACOLL_pause_before_error(MPIDI_NUMACOLL_job_rank());
    MPIR_ERR_CHKANDJUMP(!good, mpi_errno, MPI_ERR_OTHER, "**other");
    checksums[level] = MPIDI_NUMACOLL_text_checksum(text);
    mpi_errno = MPIR_Csel_create_from_buf(text, create_container, csel);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(text);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIR_numacoll_csel_entry(struct json_object *entry)
{
    int row = -1;

    json_object_object_foreach(entry, key_of_entry, parameters)
    {
        char *name = MPL_strdup_no_spaces(key_of_entry);
        bool ours = is_ours(name);
        MPL_free(name);
        if (!ours)
            continue;
        json_object_object_foreach(parameters, key, unused)
        {
            char *parameter = MPL_strdup_no_spaces(key), *value;
            int i, number;
            (void) unused;
            if (row < 0)
                row = MPIDI_NUMACOLL_csel_entry_new();
            if (row >= 0 && split(parameter, &value)) {
                i = nc_variable_find(MPIDI_NUMACOLL_variables, NC_SETTING_COUNT, parameter);
                if (i >= 0 && MPIDI_NUMACOLL_parse(i, value, &number))
                    MPIDI_NUMACOLL_csel_entry_set(row, i, number);
            }
            MPL_free(parameter);
        }
    }
    return row;
}
