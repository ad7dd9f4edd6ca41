/* Writes results as a table and CSV. main.c and launches.c call these functions, on one process. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *copies_text(unsigned copies)
{
    static const char *const texts[ALL_WAYS_TO_COPY + 1] = {
        [0] = "",
        [COPIED_SHARED] = "shared",
        [COPIED_CMA] = "cma",
        [COPIED_SHARED | COPIED_CMA] = "shared+cma",
        [COPIED_XPMEM] = "xpmem",
        [COPIED_SHARED | COPIED_XPMEM] = "shared+xpmem",
        [COPIED_CMA | COPIED_XPMEM] = "cma+xpmem",
        [COPIED_SHARED | COPIED_CMA | COPIED_XPMEM] = "shared+cma+xpmem"};

    return texts[copies];
}

void measurement_text(const struct options *o, const struct measurement *m, char *text, size_t n)
{
    enum counts counts = collective_counts(m->collective, o->counts);
    char skew[32];

    skew_text(&o->skew, skew, sizeof skew);
    snprintf(text, n, "%s, %d ranks%s%s%s%s%s%s%s%s%s", m->collective->name, m->ranks,
             counts == COUNTS_EVEN ? "" : ", counts ",
             counts == COUNTS_EVEN ? "" : counts_names[counts],
             o->off_cache && collective_has_size(m->collective) ? ", off-cache" : "",
             o->touch && collective_has_size(m->collective) ? ", inputs written again" : "",
             o->use && collective_has_size(m->collective) ? ", results read" : "",
             o->rotate_root && m->collective->rooted ? ", every root in turn" : "",
             o->alloc_mem ? ", buffers of MPI_Alloc_mem" : "",
             o->skew.kind == SKEW_NONE ? "" : ", skew ", o->skew.kind == SKEW_NONE ? "" : skew);
}

/* What the columns with an interval say, in a text of few words. */
static const char *interval_text(int units)
{
    return order_interval_rank(units) ? "its 95 % confidence interval"
                                      : "the lowest and the highest (fewer than 6)";
}

/* Of what the median is: rounds of one launch, or launches. */
static void units_text(const struct options *o, char *text, size_t n)
{
    if (o->launches)
        snprintf(text, n, "the median of %d launches and low, high: %s", o->launches,
                 interval_text(o->launches));
    else if (o->error > 0)
        snprintf(text, n, "%d rounds or more, until medians are known to %g %%", o->rounds,
                 100 * o->error);
    else
        snprintf(text, n, "%d rounds", o->rounds);
}

static void table_head(const struct options *o, const struct measurement *m)
{
    char what[256], where[512], units[128];

    measurement_text(o, m, what, sizeof what);
    machine_text(where, sizeof where);
    units_text(o, units, sizeof units);
    printf("# %s: microseconds %s, %s\n# %s\n", what,
           o->skew.kind == SKEW_NONE ? "per call of the slowest rank"
                                     : "from the last rank's arrival until the last one leaves",
           units, where);
    if (!m->common_start)
        printf("# several nodes: no common start, each rank's time is from its own; machine and "
               "processors are the first rank's\n");
    else if (m->start_window == 0)
        printf("# ranks do not start at one moment: not all of them run\n");
    if (o->baseline)
        printf("# ratios are to %s\n", o->algorithms[o->baseline].label);
    printf("%9s  %-*s %11s", collective_has_size(m->collective) ? "size" : "", label_width(o),
           "algorithm", "median");
    if (o->launches)
        printf(" %11s %11s", "low", "high");
    printf(" %11s %11s %11s %7s %6s  %s\n", "min", "p90", "p99", "cv", "calls",
           "ratio [low..high]");
}

static void table_row(const struct options *o, const char *size, int a, const struct result *r)
{
    int digits = r->ratio.median < 0.01 ? 6 : 3;

    printf("%9s  %-*s %11.2f", size, label_width(o), o->algorithms[a].label, r->time.median);
    if (o->launches)
        printf(" %11.2f %11.2f", r->time.low, r->time.high);
    printf(" %11.2f %11.2f %11.2f %7.2f %6d", r->min, r->p90, r->p99, r->cv, r->calls);
    if (a != o->baseline)
        printf("  %.*f [%.*f..%.*f]", digits, r->ratio.median, digits, r->ratio.low, digits,
               r->ratio.high);
    if (r->copies)
        printf("  single copy: %s", copies_text(r->copies));
    putchar('\n');
}

/* How well the medians are known, which --error asks for. */
static void write_error(const struct options *o, const struct measurement *m)
{
    int missed = 0, all = options_sizes_of(o, m->collective) * o->algorithm_count;
    double worst = 0;

    for (int i = 0; i < all; i++) {
        const struct result *r = &m->cell[i / o->algorithm_count][i % o->algorithm_count];
        double error = order_error(&r->time);
        missed += error > o->error || !order_interval_rank(r->median_count);
        worst = error > worst ? error : worst;
    }
    printf("# medians known to %.2g %% at worst; to %g %% as asked: %d of %d\n", 100 * worst,
           100 * o->error, all - missed, all);
}

static void output_table(const struct options *o, const struct measurement *m)
{
    table_head(o, m);
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        char text[32] = "";
        if (collective_has_size(m->collective))
            size_text(o->sizes[s], text, sizeof text);
        for (int a = 0; a < o->algorithm_count; a++)
            table_row(o, a ? "" : text, a, &m->cell[s][a]);
    }
    if (o->error > 0 && !o->launches)
        write_error(o, m);
    fflush(stdout);
}

void output(const struct options *o, const struct measurement *m)
{
    progress_clear();
    if (o->format == FORMAT_TABLE)
        output_table(o, m);
    else if (o->format != FORMAT_JSON)
        output_shaped(o, m);
}

/* ---- the columns of CSV and JSON files ---- */

const struct column result_columns[COLUMN_COUNT] = {
    {"median_us", offsetof(struct result, time.median)},
    {"min_us", offsetof(struct result, min)},
    {"p90_us", offsetof(struct result, p90)},
    {"p99_us", offsetof(struct result, p99)},
    {"cv", offsetof(struct result, cv)},
    {"ratio", offsetof(struct result, ratio.median)},
    {"ratio_low", offsetof(struct result, ratio.low)},
    {"ratio_high", offsetof(struct result, ratio.high)},
    {"median_low_us", offsetof(struct result, time.low)},
    {"median_high_us", offsetof(struct result, time.high)},
    {"rank_min_us", offsetof(struct result, mean.min)},
    {"rank_avg_us", offsetof(struct result, mean.avg)},
    {"rank_max_us", offsetof(struct result, mean.max)},
};

double column_value(const struct result *r, int column)
{
    return *(const double *) ((const char *) r + result_columns[column].offset);
}

size_t measurement_bytes(const struct options *o, const struct measurement *m, int s)
{
    return collective_has_size(m->collective) ? o->sizes[s] : 0;
}

bool csv_close(FILE *f, const char *file)
{
    bool good = !ferror(f);

    good = fclose(f) == 0 && good;
    if (!good)
        perror(file);
    return good;
}

/* ---- CSV ---- */

void csv_text(FILE *f, const char *text)
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
            fprintf(f, "%s,%d,%zu,", m->collective->name, m->ranks, measurement_bytes(o, m, s));
            csv_text(f, o->algorithms[a].label);
            for (int c = 0; c < COLUMN_COUNT; c++)
                fprintf(f, ",%.6g", column_value(r, c));
            fprintf(f, ",%d,%d,%s,%d,%d\n", r->rounds, r->calls, copies_text(r->copies),
                    r->launches, r->late);
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
        fprintf(f, ",%s", result_columns[c].name);
    fprintf(f, ",rounds,calls,single_copy,launches,late\n");
    for (int i = 0; i < n; i++)
        csv_rows(f, o, &all[i]);
    return csv_close(f, o->csv);
}
