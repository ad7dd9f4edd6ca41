/* Writes results as a table, CSV and JSON. main.c calls these functions on rank 0. */

#include "bench.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- table ---- */

void size_text(size_t m, char *text, size_t n)
{
    if (m >= 1 << 20 && m % (1 << 20) == 0)
        snprintf(text, n, "%zu MiB", m >> 20);
    else if (m >= 1024 && m % 1024 == 0)
        snprintf(text, n, "%zu KiB", m >> 10);
    else
        snprintf(text, n, "%zu B", m);
}

static int label_width(const struct options *o)
{
    int longest = options_longest_label(o), head = (int) strlen("algorithm");

    return longest > head ? longest : head;
}

static const char *copies_text(const struct result *r)
{
    static const char *const texts[] = {
        [0] = "",
        [COPIED_SHARED] = "shared",
        [COPIED_CMA] = "cma",
        [COPIED_SHARED | COPIED_CMA] = "shared+cma",
        [COPIED_XPMEM] = "xpmem",
        [COPIED_SHARED | COPIED_XPMEM] = "shared+xpmem",
        [COPIED_CMA | COPIED_XPMEM] = "cma+xpmem",
        [COPIED_SHARED | COPIED_CMA | COPIED_XPMEM] = "shared+cma+xpmem"};

    return texts[r->copies];
}

void measurement_text(const struct options *o, const struct measurement *m, char *text, size_t n)
{
    snprintf(text, n, "%s, %d ranks%s%s%s", m->collective->name, m->ranks,
             o->off_cache && collective_has_size(m->collective) ? ", off-cache" : "",
             o->rotate_root && m->collective->rooted ? ", every root in turn" : "",
             o->alloc_mem ? ", buffers of MPI_Alloc_mem" : "");
}

static void table_head(const struct options *o, const struct measurement *m)
{
    char what[128], where[512];

    measurement_text(o, m, what, sizeof what);
    machine_text(where, sizeof where);
    printf("# %s: microseconds per call of the slowest rank, %d rounds\n# %s\n", what, o->rounds,
           where);
    if (!m->common_start)
        printf("# several nodes: no common start, each rank's time is from its own; machine and "
               "processors are the first rank's\n");
    printf("%9s  %-*s %11s %11s %11s %11s %7s %6s  %s\n",
           collective_has_size(m->collective) ? "size" : "", label_width(o), "algorithm", "median",
           "min", "p90", "p99", "cv", "calls", "ratio [low..high]");
}

void output_table(const struct options *o, const struct measurement *m)
{
    int width = label_width(o);

    progress_clear();
    table_head(o, m);
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        char text[32] = "";
        if (collective_has_size(m->collective))
            size_text(o->sizes[s], text, sizeof text);
        for (int a = 0; a < o->algorithm_count; a++) {
            const struct result *r = &m->cell[s][a];
            printf("%9s  %-*s %11.2f %11.2f %11.2f %11.2f %7.2f %6d", a ? "" : text, width,
                   o->algorithms[a].label, r->median, r->min, r->p90, r->p99, r->cv, r->calls);
            if (a)
                printf("  %.3f [%.3f..%.3f]", r->ratio, r->ratio_low, r->ratio_high);
            if (r->copies)
                printf("  single copy: %s", copies_text(r));
            putchar('\n');
        }
    }
    fflush(stdout);
}

/* ---- the columns of CSV and JSON files ---- */

static const struct {
    const char *name;
    size_t offset;
} columns[] = {
    {"median_us", offsetof(struct result, median)},
    {"min_us", offsetof(struct result, min)},
    {"p90_us", offsetof(struct result, p90)},
    {"p99_us", offsetof(struct result, p99)},
    {"cv", offsetof(struct result, cv)},
    {"ratio", offsetof(struct result, ratio)},
    {"ratio_low", offsetof(struct result, ratio_low)},
    {"ratio_high", offsetof(struct result, ratio_high)},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static double value(const struct result *r, int column)
{
    return *(const double *) ((const char *) r + columns[column].offset);
}

static size_t bytes_of(const struct options *o, const struct measurement *m, int s)
{
    return collective_has_size(m->collective) ? o->sizes[s] : 0;
}

static bool closed(FILE *f, const char *file)
{
    bool good = !ferror(f);

    good = fclose(f) == 0 && good;
    if (!good)
        perror(file);
    return good;
}

/* ---- CSV ---- */

/* Writes a text; one with a comma, a quote or a line's end in double quotes, its own doubled. */
static void csv_text(FILE *f, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n");

    if (quoted)
        putc('"', f);
    for (; *text; text++)
        fprintf(f, quoted && *text == '"' ? "\"%c" : "%c", *text);
    if (quoted)
        putc('"', f);
}

static void csv_rows(FILE *f, const struct options *o, const struct measurement *m)
{
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        for (int a = 0; a < o->algorithm_count; a++) {
            const struct result *r = &m->cell[s][a];
            fprintf(f, "%s,%d,%zu,", m->collective->name, m->ranks, bytes_of(o, m, s));
            csv_text(f, o->algorithms[a].label);
            for (int c = 0; c < COLUMN_COUNT; c++)
                fprintf(f, ",%.6g", value(r, c));
            fprintf(f, ",%d,%d,%s\n", r->rounds, r->calls, copies_text(r));
        }
    }
}

bool output_csv(const struct options *o, const struct measurement *all, int n)
{
    FILE *f = fopen(o->csv, "w");

    if (!f) {
        perror(o->csv);
        return false;
    }
    fprintf(f, "collective,ranks,bytes,algorithm");
    for (int c = 0; c < COLUMN_COUNT; c++)
        fprintf(f, ",%s", columns[c].name);
    fprintf(f, ",rounds,calls,single_copy\n");
    for (int i = 0; i < n; i++)
        csv_rows(f, o, &all[i]);
    return closed(f, o->csv);
}

/* ---- JSON ---- */

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
    return j;
}

/* libmpi's, see mpich/site.h. Weak: another MPI library has no site's file. */
extern const char *MPIDI_NUMACOLL_site_line(int number) __attribute__((weak));

/* Adds a setting NAME=value. */
static void add_setting(struct json_object *j, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name = strndup(text, (size_t) (equals - text));

    add_text(j, name, equals + 1);
    free(name);
}

/* The control variables that are set in the environment or by the site's file. */
static struct json_object *json_environment(void)
{
    struct json_object *j = json_object_new_object();
    static const char prefix[] = "MPIR_CVAR_";
    const char *line;

    for (char **e = environ; *e; e++) {
        if (strchr(*e, '=') && !strncmp(*e, prefix, strlen(prefix)))
            add_setting(j, *e);
    }
    for (int i = 0; MPIDI_NUMACOLL_site_line && (line = MPIDI_NUMACOLL_site_line(i)); i++)
        add_setting(j, line);
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

    for (int a = 0; a < o->algorithm_count; a++)
        json_object_array_add(algorithms, json_object_new_string(o->algorithms[a].label));
    json_object_object_add(j, "algorithms", algorithms);
    add_number(j, "rounds", (uint64_t) o->rounds);
    json_object_object_add(j, "seconds", json_object_new_double(o->seconds));
    json_object_object_add(j, "off_cache", json_object_new_boolean(o->off_cache));
    json_object_object_add(j, "rotate_root", json_object_new_boolean(o->rotate_root));
    add_text(j, "buffers", o->alloc_mem ? "alloc_mem" : "malloc");
    return j;
}

static struct json_object *json_result(size_t bytes, const char *algorithm, const struct result *r)
{
    struct json_object *j = json_object_new_object();

    add_number(j, "bytes", bytes);
    add_text(j, "algorithm", algorithm);
    for (int c = 0; c < COLUMN_COUNT; c++)
        json_object_object_add(j, columns[c].name, json_object_new_double(value(r, c)));
    add_number(j, "rounds", (uint64_t) r->rounds);
    add_number(j, "calls", (uint64_t) r->calls);
    add_text(j, "single_copy", copies_text(r));
    return j;
}

static struct json_object *json_measurement(const struct options *o, const struct measurement *m)
{
    struct json_object *j = json_object_new_object(), *results = json_object_new_array();

    add_text(j, "collective", m->collective->name);
    add_number(j, "ranks", (uint64_t) m->ranks);
    json_object_object_add(j, "common_start", json_object_new_boolean(m->common_start));
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        for (int a = 0; a < o->algorithm_count; a++)
            json_object_array_add(
                results, json_result(bytes_of(o, m, s), o->algorithms[a].label, &m->cell[s][a]));
    }
    json_object_object_add(j, "results", results);
    return j;
}

bool output_json(const struct options *o, const struct measurement *all, int n)
{
    struct json_object *j = json_object_new_object(), *measurements = json_object_new_array();
    bool good;

    add_run(j, o);
    json_object_object_add(j, "machine", json_machine());
    json_object_object_add(j, "environment", json_environment());
    json_object_object_add(j, "options", json_options(o));
    for (int i = 0; i < n; i++)
        json_object_array_add(measurements, json_measurement(o, &all[i]));
    json_object_object_add(j, "measurements", measurements);
    good = json_object_to_file_ext(o->json, j, JSON_C_TO_STRING_PRETTY) == 0;
    if (!good)
        perror(o->json);
    json_object_put(j);
    return good;
}
