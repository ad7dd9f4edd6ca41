/* Results as a table, CSV, JSON and a picture. */

#include "bench.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void size_text(size_t m, char *text, size_t n)
{
    if (m >= 1 << 20 && m % (1 << 20) == 0)
        snprintf(text, n, "%zu MiB", m >> 20);
    else if (m >= 1024 && m % 1024 == 0)
        snprintf(text, n, "%zu KiB", m >> 10);
    else
        snprintf(text, n, "%zu B", m);
}

static void cpu_model(char *text, size_t n)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    snprintf(text, n, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && !strncmp(line, "model name", 10)) {
            line[strcspn(line, "\n")] = 0;
            snprintf(text, n, "%s", colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

static void mpi_version(char *text, size_t n)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(all, &length);
    all[strcspn(all, "\n")] = 0;
    for (char *c = all; *c; c++) {
        if (*c == '\t')
            *c = ' ';
    }
    snprintf(text, n, "%.*s", (int) n - 1, all);
}

static void machine_text(char *text, size_t n)
{
    char cpu[128], mpi[128];
    struct utsname u;

    uname(&u);
    cpu_model(cpu, sizeof cpu);
    mpi_version(mpi, sizeof mpi);
    snprintf(text, n, "%ld processors (%s), L2 %ld KiB, L3 %ld KiB, %s %s, %s", sysconf(_SC_NPROCESSORS_ONLN), cpu,
             sysconf(_SC_LEVEL2_CACHE_SIZE) >> 10, sysconf(_SC_LEVEL3_CACHE_SIZE) >> 10, u.sysname, u.release, mpi);
}

void output_table(const struct table *t)
{
    const struct options *o = t->options;
    char text[512];

    machine_text(text, sizeof text);
    printf("# %s, %d ranks, microseconds per call of the slowest rank, median of %d rounds%s%s\n# %s\n", o->collective,
           t->ranks, o->rounds, o->off_cache ? ", off-cache" : "", o->rotate_root ? ", every root in turn" : "", text);
    printf("%10s", "size");
    for (int a = 0; a < o->algorithm_count; a++) {
        printf(" %14s", o->algorithms[a]);
        if (a)
            printf(" %22s", "ratio [low..high]");
    }
    putchar('\n');
    for (int s = 0; s < o->size_count; s++) {
        size_text(o->sizes[s], text, sizeof text);
        printf("%10s", text);
        for (int a = 0; a < o->algorithm_count; a++) {
            const struct result *r = &t->cell[s][a];
            printf(" %14.2f", r->median);
            if (a)
                printf("   %6.3f [%.3f..%.3f]", r->ratio, r->ratio_low, r->ratio_high);
        }
        putchar('\n');
    }
    fflush(stdout);
}

static FILE *open_or_say(const char *file)
{
    FILE *f = fopen(file, "w");

    if (!f)
        perror(file);
    return f;
}

bool output_csv(const struct table *t, const char *file)
{
    const struct options *o = t->options;
    FILE *f = open_or_say(file);

    if (!f)
        return false;
    fprintf(f, "collective,ranks,bytes,algorithm,median_us,min_us,p90_us,p99_us,ratio,ratio_low,ratio_high,calls\n");
    for (int s = 0; s < o->size_count; s++) {
        for (int a = 0; a < o->algorithm_count; a++) {
            const struct result *r = &t->cell[s][a];
            fprintf(f, "%s,%d,%zu,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d\n", o->collective, t->ranks, o->sizes[s],
                    o->algorithms[a], r->median, r->min, r->p90, r->p99, r->ratio, r->ratio_low, r->ratio_high, r->calls);
        }
    }
    return fclose(f) == 0;
}

static struct json_object *json_of(const struct result *r)
{
    struct json_object *j = json_object_new_object();

    json_object_object_add(j, "median_us", json_object_new_double(r->median));
    json_object_object_add(j, "min_us", json_object_new_double(r->min));
    json_object_object_add(j, "p90_us", json_object_new_double(r->p90));
    json_object_object_add(j, "p99_us", json_object_new_double(r->p99));
    json_object_object_add(j, "ratio", json_object_new_double(r->ratio));
    json_object_object_add(j, "ratio_low", json_object_new_double(r->ratio_low));
    json_object_object_add(j, "ratio_high", json_object_new_double(r->ratio_high));
    json_object_object_add(j, "calls", json_object_new_int(r->calls));
    return j;
}

bool output_json(const struct table *t, const char *file)
{
    const struct options *o = t->options;
    struct json_object *all = json_object_new_object(), *rows = json_object_new_array();
    char text[512];
    bool good;

    machine_text(text, sizeof text);
    json_object_object_add(all, "collective", json_object_new_string(o->collective));
    json_object_object_add(all, "ranks", json_object_new_int(t->ranks));
    json_object_object_add(all, "machine", json_object_new_string(text));
    json_object_object_add(all, "off_cache", json_object_new_boolean(o->off_cache));
    for (int s = 0; s < o->size_count; s++) {
        struct json_object *row = json_object_new_object();
        json_object_object_add(row, "bytes", json_object_new_int64((int64_t) o->sizes[s]));
        for (int a = 0; a < o->algorithm_count; a++)
            json_object_object_add(row, o->algorithms[a], json_of(&t->cell[s][a]));
        json_object_array_add(rows, row);
    }
    json_object_object_add(all, "results", rows);
    good = json_object_to_file_ext(file, all, JSON_C_TO_STRING_PRETTY) == 0;
    if (!good)
        perror(file);
    json_object_put(all);
    return good;
}

static void plot_data(FILE *g, const struct table *t)
{
    fprintf(g, "$data << EOD\n");
    for (int s = 0; s < t->options->size_count; s++) {
        fprintf(g, "%zu", t->options->sizes[s]);
        for (int a = 0; a < t->options->algorithm_count; a++)
            fprintf(g, " %g %g", t->cell[s][a].median, t->cell[s][a].ratio);
        fputc('\n', g);
    }
    fprintf(g, "EOD\n");
}

/* Whether some ratio would lie on the floor of a linear axis. */
static bool ratios_far_below_one(const struct table *t)
{
    for (int s = 0; s < t->options->size_count; s++) {
        for (int a = 1; a < t->options->algorithm_count; a++) {
            if (t->cell[s][a].ratio < 0.05)
                return true;
        }
    }
    return false;
}

static void plot_lines(FILE *g, const struct table *t, int first, int offset)
{
    for (int a = first; a < t->options->algorithm_count; a++)
        fprintf(g, "%s$data using 1:%d with linespoints lw 2 pt %d lc %d title '%s'", a == first ? "plot " : ", ",
                2 + 2 * a + offset, 5 + 2 * a, a + 1, t->options->algorithms[a]);
}

bool output_plot(const struct table *t, const char *file)
{
    const struct options *o = t->options;
    bool svg = strlen(file) > 4 && !strcmp(file + strlen(file) - 4, ".svg");
    FILE *g = popen("gnuplot", "w");
    char text[512];

    if (!g) {
        perror("gnuplot");
        return false;
    }
    machine_text(text, sizeof text);
    plot_data(g, t);
    fprintf(g, "set terminal %s size 1000,900 font 'Sans,12' background rgb 'white'\nset output '%s'\n", svg ? "svg" : "png",
            file);
    fprintf(g, "set multiplot layout 2,1 title \"%s, %d ranks%s\\n%s\" noenhanced font ',11'\n", o->collective, t->ranks,
            o->off_cache ? ", off-cache" : "", text);
    fprintf(g, "set logscale x 2\nset format x '%%.0b%%BB'\nset grid\nset xlabel 'message, bytes'\nset rmargin 4\n");
    fprintf(g, "set logscale y\nset ylabel 'time per call, microseconds'\nset key top left\n");
    plot_lines(g, t, 0, 0);
    fprintf(g, "\n%s\nset ylabel 'time / time of %s'\n", ratios_far_below_one(t) ? "set yrange [*:2]" :
            "unset logscale y\nset yrange [0:*]", o->algorithms[0]);
    plot_lines(g, t, 1, 1);
    fprintf(g, ", 1 with lines lw 2 lc rgb 'gray40' title '%s'\nunset multiplot\n", o->algorithms[0]);
    return pclose(g) == 0;
}
