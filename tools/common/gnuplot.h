/* What the pictures of the tools have in common: parts of the commands for gnuplot. */

#ifndef GNUPLOT_H_INCLUDED
#define GNUPLOT_H_INCLUDED

#include <stdbool.h>
#include <stdio.h>

/* What a file's name ends in, with the dot; "" if it has none. */
const char *gnuplot_suffix(const char *file);

/* Whether a picture can be written to a file of this name: .png, .svg. */
bool gnuplot_writes(const char *file);

/* Whether gnuplot can be run. */
bool gnuplot_runs(void);

/* Write a string of gnuplot; the second function, after the text `before`. */
void gnuplot_quote(FILE *g, const char *text);
void gnuplot_labelled(FILE *g, const char *before, const char *text);

/* Ends gnuplot, which has been given the commands for a picture by popen. False: it could not draw
 * it, or not write all of it. */
bool gnuplot_end(FILE *g, const char *file);

/* Begins a picture of a size in points. */
void gnuplot_begin(FILE *g, const char *file, int width, int height);

/* Writes a logarithmic axis `y` for positive values between two. If it has few decades, there is
 * more than one tic per decade. */
void gnuplot_logarithmic(FILE *g, double lowest, double highest);

#endif
