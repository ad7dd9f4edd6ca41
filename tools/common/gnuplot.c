/* Parts of the commands for gnuplot. See gnuplot.h. */

#define _GNU_SOURCE /* memmem */
#include "gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *gnuplot_suffix(const char *file)
{
    const char *dot = strrchr(file, '.');

    return dot ? dot : "";
}

bool gnuplot_writes(const char *file)
{
    const char *suffix = gnuplot_suffix(file);

    return !strcmp(suffix, ".png") || !strcmp(suffix, ".svg");
}

bool gnuplot_runs(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

/* Whether a picture has its end; gnuplot does not say that a disk is full. */
static bool is_whole(const char *file)
{
    const char *end = strcmp(gnuplot_suffix(file), ".png") ? "</svg>" : "IEND";
    char tail[32];
    FILE *f = fopen(file, "rb");
    size_t n = 0;

    if (f && fseek(f, -(long) sizeof tail, SEEK_END) == 0)
        n = fread(tail, 1, sizeof tail, f);
    if (f)
        fclose(f);
    return memmem(tail, n, end, strlen(end)) != NULL;
}

bool gnuplot_end(FILE *g, const char *file)
{
    return pclose(g) == 0 && is_whole(file);
}

/* In single quotes; a single quote inside it is written twice. */
void gnuplot_quote(FILE *g, const char *text)
{
    fputc('\'', g);
    for (const char *c = text; *c; c++)
        fputs(*c == '\'' ? "''" : (char[]){*c, 0}, g);
    fputc('\'', g);
}

void gnuplot_labelled(FILE *g, const char *before, const char *text)
{
    fputs(before, g);
    gnuplot_quote(g, text);
}

void gnuplot_begin(FILE *g, const char *file, int width, int height)
{
    fprintf(g, "set terminal %s size %d,%d font 'Sans,12' background rgb 'white' noenhanced\n",
            gnuplot_suffix(file) + 1, width, height);
    gnuplot_labelled(g, "set output ", file);
    fputc('\n', g);
}

void gnuplot_logarithmic(FILE *g, double lowest, double highest)
{
    fprintf(g, "set logscale y\nset yrange [%g:%g]\nset ytics auto\n", lowest / 1.5, 1.5 * highest);
    if (highest / lowest > 1000)
        return;
    for (int i = (int) floor(log10(lowest / 1.5)); pow(10, i) <= 1.5 * highest; i++)
        fprintf(g, "set ytics add (%g, %g, %g)\n", pow(10, i), 2 * pow(10, i), 5 * pow(10, i));
}
