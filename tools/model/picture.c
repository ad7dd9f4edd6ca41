/* Draws a table with gnuplot, for --plot. See model.h. */

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/gnuplot.h"
#include "model.h"

enum { WIDTH = 1000, HEIGHT = 650, BAR = 26, AROUND = 150 }; /* points */
enum { FAR = 30 }; /* bars that differ more than that have a logarithmic axis */

/* The values of all curves: x, then a column for each; a value that cannot be drawn is left out. */
static void write_data(FILE *g, const struct table *t)
{
    bool bars = table_picture(t)->bars;

    fprintf(g, "$data << EOD\n");
    for (int r = 0; r < table_rows(t); r++) {
        fprintf(g, "%.9g", bars ? r : table_value(t, r, 0));
        for (int i = 1; i < table_columns(t); i++) {
            double y = table_value(t, r, i);
            if (!table_is_curve(t, i))
                continue;
            if (isnan(y) || (table_picture(t)->log_y && y <= 0))
                fprintf(g, " nan");
            else
                fprintf(g, " %.9g", y);
        }
        fputc('\n', g);
    }
    fprintf(g, "EOD\n");
}

/* The least and the greatest positive value of the curves. */
static void extremes(const struct table *t, double *lowest, double *highest)
{
    *lowest = INFINITY;
    *highest = 0;
    for (int r = 0; r < table_rows(t); r++) {
        for (int i = 1; i < table_columns(t); i++) {
            double y = table_is_curve(t, i) ? table_value(t, r, i) : (double) NAN;
            if (y > 0) {
                *lowest = fmin(*lowest, y);
                *highest = fmax(*highest, y);
            }
        }
    }
}

static void write_curves(FILE *g, const struct table *t)
{
    enum { COLOURS = 9 };
    static const char *const colours[COLOURS] = {"1", "2", "3", "4",           "5",
                                                 "6", "7", "8", "rgb 'grey50'"};
    const struct table_picture *p = table_picture(t);
    double lowest, highest;

    extremes(t, &lowest, &highest);
    if (p->log_x)
        fprintf(g, "set logscale x 2\n");
    if (p->log_x && p->bytes)
        fprintf(g, "set format x '%%.0b %%B'\n");
    if (p->log_y && highest > 0)
        gnuplot_logarithmic(g, lowest, highest);
    fprintf(g, "set xrange [*:*] noextend\nset key outside below maxrows 3\nplot ");
    for (int i = 1, n = 1; i < table_columns(t); i++) {
        if (!table_is_curve(t, i))
            continue;
        fprintf(g, "%s$data using 1:%d with %s lw 2 lc %s", n > 1 ? ", " : "", n + 1,
                table_rows(t) > 60 ? "lines" : "linespoints", colours[n <= COLOURS ? n - 1 : 0]);
        gnuplot_labelled(g, " title ", table_name(t, i));
        n++;
    }
    fputc('\n', g);
}

/* Of a row: its first texts. */
static void write_label(FILE *g, const struct table *t, int row)
{
    char text[128] = "";

    for (int i = 0; i < table_columns(t) && *table_label(t, row, i); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ": " : "",
                 table_label(t, row, i));
    gnuplot_quote(g, text);
}

/* A bar for each row, from left to right, the first row above. */
static void write_bars(FILE *g, const struct table *t)
{
    double lowest, highest, from = 0;
    int rows = table_rows(t);

    extremes(t, &lowest, &highest);
    if (highest > FAR * lowest) {
        from = lowest / 2;
        fprintf(g, "set logscale x\n");
    }
    fprintf(g, "set style fill solid 0.6\nunset key\nset yrange [%d:-1]\nset xrange [%g:*]\n", rows,
            from);
    fprintf(g, "set ytics (");
    for (int r = 0; r < rows; r++) {
        fputs(r ? ", " : "", g);
        write_label(g, t, r);
        fprintf(g, " %d", r);
    }
    fprintf(g, ")\nplot $data using (%g):1:(%g):2:($1-0.3):($1+0.3) with boxxyerror lc 1\n", from,
            from);
}

void picture_draw(const struct table *t, const char *file)
{
    const struct table_picture *p = table_picture(t);
    char facts[150];
    FILE *g;

    if (!p->y || table_rows(t) == 0)
        errx(WRONG_ARGUMENTS, "--plot=%s: there is nothing to draw", file);
    if (!gnuplot_runs())
        errx(EXIT_FAILURE, "--plot=%s: needs gnuplot, which does not run", file);
    g = fopen(file, "ab"); /* where gnuplot cannot, it writes to its standard output */
    if (!g)
        err(EXIT_FAILURE, "--plot=%s", file);
    fclose(g);
    g = popen("gnuplot", "w");
    if (!g)
        err(EXIT_FAILURE, "gnuplot");
    write_data(g, t);
    gnuplot_begin(g, file, WIDTH, p->bars ? AROUND + BAR * table_rows(t) : HEIGHT);
    table_facts(t, facts, sizeof facts);
    gnuplot_labelled(g, "set tmargin 4\nset title ", p->title);
    fprintf(g, " offset 0,1");
    gnuplot_labelled(g, "\nset label 1 at screen 0.5,graph 1 center offset 0,0.8 font ',10' ",
                     facts);
    gnuplot_labelled(g, "\nset grid\nset xlabel ", p->bars ? p->y : p->x);
    gnuplot_labelled(g, "\nset ylabel ", p->bars ? "" : p->y);
    fputc('\n', g);
    (p->bars ? write_bars : write_curves)(g, t);
    if (!gnuplot_end(g, file))
        errx(EXIT_FAILURE, "--plot=%s: gnuplot could not draw it", file);
}
