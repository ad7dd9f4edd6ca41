/* What is done with results, wherever they come from: tables, files, a comparison. */

#include "bench.h"

#include <stdlib.h>

bool results_finish(const struct options *o, const struct measurement *all, int n)
{
    bool good = files_write(o, all, n);

    return (!o->compare || compare(o, all, n)) && good;
}

int results_write(const struct options *o, const struct measurement *all, int n)
{
    for (int i = 0; i < n; i++)
        output(o, &all[i]);
    return results_finish(o, all, n) ? EXIT_SUCCESS : EXIT_FAILURE;
}

struct options results_options(const struct options *measured, const struct options *asked)
{
    struct options o = *measured;

    o.results = asked->results;
    o.csv = asked->csv;
    o.json = asked->json;
    o.plot = asked->plot;
    o.format = asked->format;
    o.compare = asked->compare;
    o.tolerance = asked->tolerance;
    o.command = asked->command;
    return o;
}

int results_run(const struct options *o)
{
    struct document d = {.count = 0};
    struct options shown;
    const char *problem = document_read_file("results", o->results, &d);
    int status = WRONG_INPUT;

    if (!problem) {
        shown = results_options(&d.options, o);
        machine_is(&d.machine);
        json_environment_is(d.environment);
        problem = files_check(&shown);
    }
    if (!problem)
        problem = compare_open(o);
    if (problem)
        fprintf(stderr, "numacoll-bench: %s\n", problem);
    else
        status = results_write(&shown, d.all, d.count);
    document_free(&d);
    return status;
}
