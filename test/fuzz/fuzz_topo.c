/* The command line of numacoll-topo (tools/topo): an input is its words, one a line. What is shown
 * for words that are taken must come to its end, as JSON that can be read again where that was
 * asked for. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "machine_use.h"
#include "tool.h"
#include "topo/topo.h"

enum { MOST_RANKS = 4000 };

/* How many ranks there are without --np: no more than these. */
static double most_ranks(const struct options *o)
{
    double nodes = 1;

    for (const char *c = o->cluster.nodes ? o->cluster.nodes : ""; *c; c++)
        nodes += *c == ',';
    return nodes * machine_most(o->cluster.topology);
}

static void show(const struct options *o)
{
    static void (*const write[])(const struct hierarchy *) = {text_write, json_write, dot_write};
    struct hierarchy hierarchy;

    hierarchy_make(&hierarchy, o);
    write[o->output](&hierarchy);
}

static void run(int argc, char **argv)
{
    struct options o;

    options_parse(&o, argc, argv);
    for (int i = 0; i < SETTINGS; i++)
        assert(*options_setting(&o, (enum setting) i));
    assert(o.cluster.ranks >= 0 && o.cluster.ranks <= MAX_RANKS);
    if (!strncmp(o.cluster.topology, "xml:", 4) ||
        o.cluster.network) /* files have targets of their own */
        return;
    if (!*o.cluster.topology) /* takes long: the machine is read each time */
        o.cluster.topology = "synthetic:package:2 numa:2 core:2 pu:2";
    if (o.cluster.ranks <= MOST_RANKS && machine_most(o.cluster.topology) <= MOST_RANKS &&
        (o.cluster.ranks || most_ranks(&o) <= MOST_RANKS))
        show(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tool_show(run, data, size);
    return 0;
}
