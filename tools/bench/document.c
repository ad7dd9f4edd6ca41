/* Reads a document that json.c has written: the output of a launch, or a file that a user names. So
 * nothing of it is taken for granted. */

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is wrong first; empty: nothing. */
static char problem[256];

static void wrong(const char *what)
{
    if (!*problem)
        snprintf(problem, sizeof problem, "is not what --json writes: %s is missing or wrong",
                 what);
}

/* ---- values by their names; one that is missing or of another type is a problem ---- */

static struct json_object *member(struct json_object *j, const char *name, enum json_type type)
{
    struct json_object *value = NULL;

    if (json_object_is_type(j, json_type_object) && json_object_object_get_ex(j, name, &value) &&
        (json_object_is_type(value, type) ||
         (type == json_type_double && json_object_is_type(value, json_type_int))))
        return value;
    wrong(name);
    return NULL;
}

static double number(struct json_object *j, const char *name)
{
    double value = json_object_get_double(member(j, name, json_type_double));

    if (!isfinite(value))
        wrong(name);
    return value;
}

static int whole(struct json_object *j, const char *name, int low, int high)
{
    int64_t value = json_object_get_int64(member(j, name, json_type_int));

    if (value < low || value > high)
        wrong(name);
    return (int) value;
}

static uint64_t bytes(struct json_object *j, const char *name)
{
    return (uint64_t) json_object_get_int64(member(j, name, json_type_int));
}

static bool truth(struct json_object *j, const char *name)
{
    return json_object_get_boolean(member(j, name, json_type_boolean));
}

/* "" if there is none. It stays until the document is put. */
static const char *text(struct json_object *j, const char *name)
{
    const char *value = json_object_get_string(member(j, name, json_type_string));

    return value ? value : "";
}

/* Whether an older numacoll-bench may have written the object, which has no such member. */
static bool lacks(struct json_object *j, const char *name)
{
    return json_object_is_type(j, json_type_object) && !json_object_object_get_ex(j, name, NULL);
}

static int length(struct json_object *array)
{
    return array ? (int) json_object_array_length(array) : 0;
}

/* ---- what was measured, where and how ---- */

static void read_machine(struct json_object *j, struct machine *m)
{
    snprintf(m->cpu, sizeof m->cpu, "%s", text(j, "cpu"));
    snprintf(m->kernel, sizeof m->kernel, "%s", text(j, "kernel"));
    snprintf(m->mpi, sizeof m->mpi, "%s", text(j, "mpi"));
    m->processors = whole(j, "processors", 0, INT_MAX);
    m->packages = whole(j, "packages", 0, INT_MAX);
    m->numa_nodes = whole(j, "numa_nodes", 0, INT_MAX);
    m->l1d = bytes(j, "l1d_bytes");
    m->l2 = bytes(j, "l2_bytes");
    m->l3 = bytes(j, "l3_bytes");
    m->memory = bytes(j, "memory_bytes");
    /* a file that was written before there were tuned files has none */
    if (json_object_object_get_ex(j, "tuned", NULL))
        snprintf(m->tuned, sizeof m->tuned, "%s", text(j, "tuned"));
}

static void read_algorithms(struct json_object *j, struct options *o)
{
    int n = length(j);

    if (n < 1 || n > MAX_ALGORITHMS) {
        wrong("algorithms");
        return;
    }
    for (int a = 0; a < n; a++) {
        const char *label = json_object_get_string(json_object_array_get_idx(j, (size_t) a));
        o->algorithms[a].label = strdup(label ? label : "");
        o->algorithms[a].name = "";
    }
    o->algorithm_count = n;
}

static void read_baseline(const char *label, struct options *o)
{
    while (o->baseline < o->algorithm_count && strcmp(o->algorithms[o->baseline].label, label))
        o->baseline++;
    if (o->baseline == o->algorithm_count) {
        wrong("baseline");
        o->baseline = 0;
    }
}

static void read_options(struct json_object *j, struct options *o)
{
    read_algorithms(member(j, "algorithms", json_type_array), o);
    o->launches = whole(j, "launches", 0, MAX_UNITS);
    o->rounds = whole(j, "rounds", 1, MAX_UNITS);
    o->seconds = number(j, "seconds");
    o->off_cache = truth(j, "off_cache");
    o->rotate_root = truth(j, "rotate_root");
    o->alloc_mem = !strcmp(text(j, "buffers"), "alloc_mem");
    if (!o->alloc_mem && strcmp(text(j, "buffers"), "malloc"))
        wrong("buffers");
    o->error = number(j, "error");
    o->touch = truth(j, "touch");
    if (!skew_parse(text(j, "skew"), &o->skew))
        wrong("skew");
    if (!counts_parse(text(j, "counts"), &o->counts))
        wrong("counts");
    o->use = !lacks(j, "use") && truth(j, "use");
    o->selection_files = !lacks(j, "selection_files") && truth(j, "selection_files");
    if (!lacks(j, "baseline"))
        read_baseline(text(j, "baseline"), o);
}

/* ---- results ---- */

static unsigned copies_of(const char *name)
{
    unsigned copies = 0;

    while (copies < ALL_WAYS_TO_COPY && strcmp(copies_text(copies), name))
        copies++;
    if (strcmp(copies_text(copies), name))
        wrong("single_copy");
    return copies;
}

static void read_medians(struct json_object *j, struct result *r)
{
    int n = length(j);

    r->medians = n > 0 && n <= MAX_UNITS ? malloc(sizeof *r->medians * (size_t) n) : NULL;
    if (!r->medians) {
        wrong("medians_us");
        return;
    }
    for (int i = 0; i < n; i++) {
        struct json_object *value = json_object_array_get_idx(j, (size_t) i);
        if (!json_object_is_type(value, json_type_double) &&
            !json_object_is_type(value, json_type_int))
            wrong("medians_us");
        r->medians[i] = json_object_get_double(value);
    }
    r->median_count = n;
}

static void read_result(struct json_object *j, struct result *r)
{
    for (int c = 0; c < COLUMN_COUNT; c++)
        *(double *) ((char *) r + result_columns[c].offset) = number(j, result_columns[c].name);
    read_medians(member(j, "medians_us", json_type_array), r);
    r->launches = whole(j, "launches", 1, MAX_UNITS);
    r->rounds = whole(j, "rounds", 1, MAX_UNITS * MAX_UNITS);
    r->calls = whole(j, "calls", 1, INT_MAX);
    r->late = whole(j, "late", 0, INT_MAX);
    r->copies = copies_of(text(j, "single_copy"));
}

/* The sizes are those of the first collective that has sizes. */
static void read_sizes(struct json_object *results, struct options *o)
{
    int n = length(results) / o->algorithm_count;

    if (n > MAX_SIZES) {
        wrong("results");
        return;
    }
    for (int s = 0; s < n; s++)
        o->sizes[s] = bytes(
            json_object_array_get_idx(results, (size_t) s * (size_t) o->algorithm_count), "bytes");
    o->size_count = n;
}

/* Notes a collective and a number of ranks that were not there before. */
static void note(struct options *o, const struct measurement *m)
{
    int c = 0, r = 0;

    while (c < o->collective_count && o->collectives[c] != m->collective)
        c++;
    while (r < o->rank_count_count && o->rank_counts[r] != m->ranks)
        r++;
    if (c == MAX_COLLECTIVES || r == MAX_RANK_COUNTS) {
        wrong("measurements");
        return;
    }
    o->collectives[c] = m->collective;
    o->collective_count += c == o->collective_count;
    o->rank_counts[r] = m->ranks;
    o->rank_count_count += r == o->rank_count_count;
}

static void read_results(struct json_object *results, struct options *o, struct measurement *m)
{
    int n = o->algorithm_count;

    if (collective_has_size(m->collective) && o->size_count == 0)
        read_sizes(results, o);
    if (length(results) == 0 || length(results) != options_sizes_of(o, m->collective) * n)
        wrong("results");
    for (int i = 0; i < length(results) && !*problem; i++) {
        struct json_object *j = json_object_array_get_idx(results, (size_t) i);
        if (bytes(j, "bytes") != measurement_bytes(o, m, i / n) ||
            strcmp(text(j, "algorithm"), o->algorithms[i % n].label))
            wrong("results");
        read_result(j, &m->cell[i / n][i % n]);
    }
}

static void read_measurement(struct json_object *j, struct options *o, struct measurement *m)
{
    m->collective = collective_find(text(j, "collective"));
    m->ranks = whole(j, "ranks", 2, INT_MAX);
    m->common_start = truth(j, "common_start");
    m->start_window = number(j, "start_window_us");
    if (!m->collective)
        wrong("collective");
    if (*problem)
        return;
    note(o, m);
    read_results(member(j, "results", json_type_array), o, m);
}

const char *document_read(struct json_object *j, struct document *d)
{
    struct json_object *measurements;
    int n;

    *problem = 0;
    *d = (struct document){.options = {.tolerance = 0}};
    read_machine(member(j, "machine", json_type_object), &d->machine);
    read_options(member(j, "options", json_type_object), &d->options);
    d->environment = json_object_get(member(j, "environment", json_type_object));
    measurements = member(j, "measurements", json_type_array);
    n = length(measurements);
    if (n < 1 || n > MAX_COLLECTIVES * MAX_RANK_COUNTS)
        wrong("measurements");
    if (*problem || n < 1)
        return problem;
    d->all = calloc((size_t) n, sizeof *d->all);
    if (!d->all)
        return "no memory for the results";
    d->count = n;
    for (int i = 0; i < n && !*problem; i++)
        read_measurement(json_object_array_get_idx(measurements, (size_t) i), &d->options,
                         &d->all[i]);
    return *problem ? problem : NULL;
}

const char *document_read_file(const char *option, const char *file, struct document *d)
{
    static char message[1024];
    int fd = open(file, O_RDONLY);
    struct json_object *j = fd >= 0 ? json_object_from_fd(fd) : NULL;
    const char *error = fd < 0 ? strerror(errno) : j ? document_read(j, d) : "is not JSON";

    if (fd >= 0)
        close(fd);
    json_object_put(j);
    if (error)
        snprintf(message, sizeof message, "--%s=%s: %s", option, file, error);
    return error ? message : NULL;
}

void document_free(struct document *d)
{
    for (int a = 0; a < d->options.algorithm_count; a++)
        free((char *) d->options.algorithms[a].label);
    measurements_free(d->all, d->count);
    json_object_put(d->environment);
    *d = (struct document){.count = 0};
}
