/* numacoll-topo's main program: shows levels, groups, trees and segment of a job, which need not
 * run. See topo.h. */

#include "topo.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static void (*const write[])(const struct hierarchy *) = {
        [OUTPUT_TEXT] = text_write,
        [OUTPUT_JSON] = json_write,
        [OUTPUT_DOT] = dot_write,
    };
    struct options options;
    struct hierarchy hierarchy;

    options_parse(&options, argc, argv);
    hierarchy_make(&hierarchy, &options);
    write[options.output](&hierarchy);
    if (fflush(stdout) || ferror(stdout))
        err(EXIT_FAILURE, "standard output");
    return EXIT_SUCCESS;
}
