/* Writes results as JSON. document.c reads what is written here. */

#include "bench.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
    json_object_object_add(object, key, json_object_new_int64((int64_t) number));
}

static struct json_object *json_machine(void)
{
    const struct machine *m = machine_get();
    struct json_object *j = json_object_new_object();

    add_text(j, "cpu", m->cpu);
    add_number(j, "processors", (uint64_t) m->processors);
    add_number(j, "packages", (uint64_t) m->packages);
    add_number(j, "numa_nodes", (uint64_t) m->numa_nodes);
    add_number(j, "l1d_bytes", m->l1d);
    add_number(j, "l2_bytes", m->l2);
    add_number(j, "l3_bytes", m->l3);
    add_number(j, "memory_bytes", m->memory);
    add_text(j, "kernel", m->kernel);
    add_text(j, "mpi", m->mpi);
    add_text(j, "tuned", m->tuned);
    return j;
}

/* libmpi's, see mpich/site.h. Weak: another MPI library has no site's file. */
extern const char *MPIDI_NUMACOLL_site_line(int number) __attribute__((weak));

const char *json_site_value(const char *variable)
{
    size_t n = strlen(variable);
    const char *line;

    for (int i = 0; MPIDI_NUMACOLL_site_line && (line = MPIDI_NUMACOLL_site_line(i)); i++) {
        if (!strncmp(line, variable, n) && line[n] == '=')
            return line + n + 1;
    }
    return NULL;
}

/* Adds a setting NAME=value. */
static void add_setting(struct json_object *j, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name = strndup(text, (size_t) (equals - text));

    add_text(j, name, equals + 1);
    free(name);
}

static struct json_object *environment_elsewhere;

void json_environment_is(struct json_object *environment)
{
    environment_elsewhere = environment;
}

/* Whether a name is that of a control variable: MPICH knows each by three names. */
static bool is_variable(const char *name)
{
    static const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    bool is = false;

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        is = is || !strncmp(name, prefixes[i], strlen(prefixes[i]));
    return is;
}

/* The control variables that are set in the environment, which counts, or by the site's file. */
static struct json_object *json_environment(void)
{
    struct json_object *j;
    const char *line;

    if (environment_elsewhere)
        return json_object_get(environment_elsewhere);
    j = json_object_new_object();
    for (int i = 0; MPIDI_NUMACOLL_site_line && (line = MPIDI_NUMACOLL_site_line(i)); i++)
        add_setting(j, line);
    for (char **e = environ; *e; e++) {
        if (strchr(*e, '=') && is_variable(*e))
            add_setting(j, *e);
    }
    return j;
}

/* What, when and where: version, date, host and command. */
static void add_run(struct json_object *j, const struct options *o)
{
    struct json_object *command = json_object_new_array();
    char date[32], host[256] = "";
    time_t now = time(NULL);

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    gethostname(host, sizeof host - 1);
    for (char **word = o->command; word && *word; word++)
        json_object_array_add(command, json_object_new_string(*word));
    add_text(j, "numacoll", NUMACOLL_VERSION);
    add_text(j, "date", date);
    add_text(j, "host", host);
    json_object_object_add(j, "command", command);
}

static struct json_object *json_options(const struct options *o)
{
    struct json_object *j = json_object_new_object(), *algorithms = json_object_new_array();
    char skew[32];

    for (int a = 0; a < o->algorithm_count; a++)
        json_object_array_add(algorithms, json_object_new_string(o->algorithms[a].label));
    json_object_object_add(j, "algorithms", algorithms);
    add_number(j, "launches", (uint64_t) o->launches);
    add_number(j, "rounds", (uint64_t) o->rounds);
    json_object_object_add(j, "seconds", json_object_new_double(o->seconds));
    json_object_object_add(j, "off_cache", json_object_new_boolean(o->off_cache));
    json_object_object_add(j, "rotate_root", json_object_new_boolean(o->rotate_root));
    add_text(j, "buffers", o->alloc_mem ? "alloc_mem" : "malloc");
    json_object_object_add(j, "error", json_object_new_double(o->error));
    json_object_object_add(j, "touch", json_object_new_boolean(o->touch));
    skew_text(&o->skew, skew, sizeof skew);
    add_text(j, "skew", skew);
    add_text(j, "counts", counts_names[o->counts]);
    json_object_object_add(j, "use", json_object_new_boolean(o->use));
    json_object_object_add(j, "selection_files", json_object_new_boolean(o->selection_files));
    add_text(j, "baseline", o->algorithms[o->baseline].label);
    return j;
}

static struct json_object *json_medians(const struct result *r)
{
    struct json_object *j = json_object_new_array();

    for (int i = 0; i < r->median_count; i++)
        json_object_array_add(j, json_object_new_double(r->medians[i]));
    return j;
}

static struct json_object *json_result(size_t bytes, const char *algorithm, const struct result *r)
{
    struct json_object *j = json_object_new_object();

    add_number(j, "bytes", bytes);
    add_text(j, "algorithm", algorithm);
    for (int c = 0; c < COLUMN_COUNT; c++)
        json_object_object_add(j, result_columns[c].name,
                               json_object_new_double(column_value(r, c)));
    json_object_object_add(j, "medians_us", json_medians(r));
    add_number(j, "launches", (uint64_t) r->launches);
    add_number(j, "rounds", (uint64_t) r->rounds);
    add_number(j, "calls", (uint64_t) r->calls);
    add_number(j, "late", (uint64_t) r->late);
    add_text(j, "single_copy", copies_text(r->copies));
    return j;
}

static struct json_object *json_measurement(const struct options *o, const struct measurement *m)
{
    struct json_object *j = json_object_new_object(), *results = json_object_new_array();

    add_text(j, "collective", m->collective->name);
    add_number(j, "ranks", (uint64_t) m->ranks);
    json_object_object_add(j, "common_start", json_object_new_boolean(m->common_start));
    json_object_object_add(j, "start_window_us", json_object_new_double(m->start_window));
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        for (int a = 0; a < o->algorithm_count; a++)
            json_object_array_add(results, json_result(measurement_bytes(o, m, s),
                                                       o->algorithms[a].label, &m->cell[s][a]));
    }
    json_object_object_add(j, "results", results);
    return j;
}

static struct json_object *json_of(const struct options *o, const struct measurement *all, int n)
{
    struct json_object *j = json_object_new_object(), *measurements = json_object_new_array();

    add_run(j, o);
    json_object_object_add(j, "machine", json_machine());
    json_object_object_add(j, "environment", json_environment());
    json_object_object_add(j, "options", json_options(o));
    for (int i = 0; i < n; i++)
        json_object_array_add(measurements, json_measurement(o, &all[i]));
    json_object_object_add(j, "measurements", measurements);
    return j;
}

bool output_json(const struct options *o, const struct measurement *all, int n)
{
    struct json_object *j = json_of(o, all, n);
    bool good = true;

    if (o->format == FORMAT_JSON)
        good = puts(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY)) >= 0;
    if (o->json && json_object_to_file_ext(o->json, j, JSON_C_TO_STRING_PRETTY)) {
        perror(o->json);
        good = false;
    }
    json_object_put(j);
    return good;
}
