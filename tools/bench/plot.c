/* Draws the results of a collective with gnuplot: time and ratio over size, or bars if there is no
 * size. main.c calls plot() on rank 0, for --plot. */

#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/gnuplot.h"

/* In points: the picture without legend, the space below the lower diagram, a row of the legend. */
enum { WIDTH = 1000, HEIGHT = 950, BELOW = 75, ROW = 18 };

char *plot_file(const struct options *o, const struct collective *collective, int ranks)
{
    const char *suffix = gnuplot_suffix(o->plot);
    int stem = (int) (suffix - o->plot), length;
    char *file;

    if (o->collective_count * o->rank_count_count == 1)
        length = asprintf(&file, "%s", o->plot);
    else
        length = asprintf(&file, "%.*s-%s-%d%s", stem, o->plot, collective->name, ranks, suffix);
    return length < 0 ? NULL : file;
}

/* Whether the picture has curves over size. It has bars if the collective has no size, or if no
 * size fits on a logarithmic axis. */
static bool has_curves(const struct options *o, const struct measurement *m)
{
    return collective_has_size(m->collective) && o->sizes[o->size_count - 1] > 0;
}

/* Writes the rows of data: bytes (with bars, the number of the algorithm), time, ratio, the
 * interval of the ratio. */
static void write_data(FILE *g, const struct options *o, const struct measurement *m)
{
    bool curves = has_curves(o, m);

    for (int a = 0; a < o->algorithm_count; a++) {
        fprintf(g, "$a%d << EOD\n", a);
        for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
            const struct result *r = &m->cell[s][a];
            fprintf(g, "%zu %g %g %g %g\n", curves ? o->sizes[s] : (size_t) a, r->time.median,
                    r->ratio.median, r->ratio.low, r->ratio.high);
        }
        fprintf(g, "EOD\n");
    }
}

/* The lowest and the highest value of one member of all results, at `offset` in struct result. */
static void extremes(const struct options *o, const struct measurement *m, size_t offset,
                     double *lowest, double *highest)
{
    *lowest = INFINITY;
    *highest = 0;
    for (int s = 0; s < options_sizes_of(o, m->collective); s++) {
        for (int a = 0; a < o->algorithm_count; a++) {
            double value = *(const double *) ((const char *) &m->cell[s][a] + offset);
            *lowest = fmin(*lowest, value);
            *highest = fmax(*highest, value);
        }
    }
}

/* Writes an axis from zero; a logarithmic one if the lowest value would be too near to zero. The
 * axis ends a little above the medians, so that one slow round does not flatten the curves. */
static void linear_axis(FILE *g, double lowest, double highest)
{
    if (lowest < 0.05 * highest)
        gnuplot_logarithmic(g, lowest, highest);
    else
        fprintf(g, "unset logscale y\nset ytics auto\nset yrange [0:%g]\n", 1.2 * highest);
}

static void ratio_axis(FILE *g, const struct options *o, const struct measurement *m)
{
    double lowest, highest;

    extremes(o, m, offsetof(struct result, ratio.median), &lowest, &highest);
    linear_axis(g, lowest, highest);
}

static void time_axis(FILE *g, const struct options *o, const struct measurement *m)
{
    double lowest, highest;

    extremes(o, m, offsetof(struct result, time.median), &lowest, &highest);
    if (has_curves(o, m))
        gnuplot_logarithmic(g, lowest, highest);
    else
        linear_axis(g, lowest, highest);
    fprintf(g, "set ylabel 'time per call, microseconds'\n");
}

/* At most 13 sizes have a tic. 0 bytes have no place on a logarithmic axis. */
static void size_axis(FILE *g, const struct options *o)
{
    int stride = (o->size_count + 12) / 13, first = o->sizes[0] == 0;

    fprintf(g, "set logscale x 2\nset xrange [%g:%g]\nset xlabel 'message'\nset xtics (",
            (double) o->sizes[first] / 1.3, 1.3 * (double) o->sizes[o->size_count - 1]);
    for (int s = first; s < o->size_count; s += stride) {
        char text[32];
        size_text(o->sizes[s], text, sizeof text);
        fprintf(g, "%s'%s' %zu", s > first ? ", " : "", text, o->sizes[s]);
    }
    fprintf(g, ")\n");
}

static void bar_axis(FILE *g, const struct options *o)
{
    fprintf(g,
            "set style fill solid 0.6\nset boxwidth 0.6\nunset xtics\nset xrange [-0.6:%d-0.4]\n",
            o->algorithm_count);
}

/* The size of letters in the legend, which is below the lower diagram: small if labels are long. */
static int legend_font(const struct options *o)
{
    return options_longest_label(o) > 38 ? 9 : 12;
}

/* The legend has as many columns as the longest label allows. */
static int legend_columns(const struct options *o)
{
    /* gnuplot reserves the font's size for the width of a character, which uses 3/4 of it */
    int reserved = legend_font(o) * options_longest_label(o), used = reserved * 3 / 4;

    return used < 895 ? 1 + (895 - used) / (72 + reserved) : 1;
}

static int legend_rows(const struct options *o)
{
    int columns = legend_columns(o);

    return (o->algorithm_count + columns - 1) / columns;
}

static void write_title(FILE *g, const struct options *o, const struct measurement *m)
{
    char text[512];
    double font;

    measurement_text(o, m, text, sizeof text);
    gnuplot_labelled(g, "set label 1 at screen 0.5,0.98 center font ',15' ", text);
    machine_text(text, sizeof text);
    /* a letter takes at most 3/4 of the font's size, as in the legend */
    font = WIDTH * 4.0 / 3 / (double) (strlen(text) + 1);
    fprintf(g, "\nset label 2 at screen 0.5,0.955 center font ',%.1f' ", font < 9 ? font : 9);
    gnuplot_labelled(g, "", text);
    fputc('\n', g);
}

static void write_head(FILE *g, const struct options *o, const struct measurement *m,
                       const char *file)
{
    int rows = legend_rows(o), height = HEIGHT + ROW * rows;

    gnuplot_begin(g, file, WIDTH, height);
    write_title(g, o, m);
    fprintf(
        g,
        "set multiplot layout 2,1 margins 0.12,0.97,%g,0.93 spacing 0,0.09\nset grid\nunset key\n",
        (double) (BELOW + ROW * rows) / height);
}

/* The curves or bars of all algorithms. */
static void write_series(FILE *g, const struct options *o, const char *columns, const char *style)
{
    for (int a = 0; a < o->algorithm_count; a++) {
        fprintf(g, "%s$a%d using %s with %s lw 2 lc %d", a ? ", " : "", a, columns, style, a + 1);
        if (strstr(style, "lines"))
            fprintf(g, " pt %d ps 1.2", 4 + a % 10);
        gnuplot_labelled(g, " title ", o->algorithms[a].label);
    }
    fputc('\n', g);
}

static void write_times(FILE *g, const struct options *o, const struct measurement *m)
{
    bool curves = has_curves(o, m);

    if (curves)
        size_axis(g, o);
    else
        bar_axis(g, o);
    time_axis(g, o, m);
    fprintf(g, "plot ");
    write_series(g, o, "1:2", curves ? "linespoints" : "boxes");
}

static void write_ratios(FILE *g, const struct options *o, const struct measurement *m)
{
    bool curves = has_curves(o, m);

    fprintf(g,
            "unset label\nset key at screen 0.03,0.01 left bottom Left reverse vertical font ',%d' "
            "maxrows %d\n",
            legend_font(o), legend_rows(o));
    ratio_axis(g, o, m);
    gnuplot_labelled(g, "set ylabel 'time / time of ' . ", o->algorithms[o->baseline].label);
    fprintf(g, "\nplot ");
    write_series(g, o, curves ? "1:3:4:5" : "1:3:4:5:(0.6)",
                 curves ? "yerrorlines" : "boxerrorbars");
}

bool plot(const struct options *o, const struct measurement *m)
{
    FILE *g = popen("gnuplot", "w");
    char *file = plot_file(o, m->collective, m->ranks);
    bool good;

    if (!g || !file) {
        perror("gnuplot");
        return false;
    }
    write_data(g, o, m);
    write_head(g, o, m, file);
    write_times(g, o, m);
    write_ratios(g, o, m);
    fprintf(g, "unset multiplot\n");
    good = gnuplot_end(g, file);
    if (!good)
        fprintf(stderr, "numacoll-bench: --plot=%s: gnuplot could not draw it\n", file);
    free(file);
    return good;
}
