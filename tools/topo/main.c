/* numacoll-topo's main program: shows levels, groups, trees and segment of a job, which need not
 * run. See topo.h. */

#include "topo.h"

#include <stdlib.h>

#include "common/arguments.h"

int main(int argc, char **argv)
{
    static void (*const write[])(const struct hierarchy *) = {
        [OUTPUT_TEXT] = text_write,
        [OUTPUT_JSON] = json_write,
        [OUTPUT_DOT] = dot_write,
    };
    struct options options;
    struct hierarchy hierarchy;

    end_if_output_is_lost();
    options_parse(&options, argc, argv);
    hierarchy_make(&hierarchy, &options);
    write[options.output](&hierarchy);
    return EXIT_SUCCESS;
}
