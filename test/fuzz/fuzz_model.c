/* The command line of numacoll-model (tools/model): an input is its words, one a line. What is
 * computed for words that are taken must come to its end, as JSON that can be read again where that
 * was asked for. */

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "machine_use.h"
#include "model/model.h"
#include "tool.h"

enum { MOST_RANKS = 300, MOST_ROWS = 200 };

static void (*const fill[COMMANDS])(const struct options *, struct table *) = {
    queue_fill, tree_fill, barrier_fill, messages_fill, predict_fill, why_fill};

/* How many rows the options make, about. */
static uint64_t rows_of(const struct options *o)
{
    return o->step ? (o->to - o->from) / o->step : 64;
}

static void run(int argc, char **argv)
{
    struct options o;
    struct table *t;

    options_parse(&o, argc, argv);
    assert(o.from <= o.to && o.ranks >= 1);
    if (o.command == QUEUE || o.command == TREE) {
        if (rows_of(&o) > MOST_ROWS)
            return;
    } else {
        if (!strncmp(o.cluster.topology, "xml:", 4) || o.cluster.network)
            return;               /* files have targets of their own */
        if (!*o.cluster.topology) /* takes long: the machine is read each time */
            o.cluster.topology = "synthetic:package:2 numa:2 core:2 pu:2";
        if (o.cluster.ranks > MOST_RANKS || machine_most(o.cluster.topology) > MOST_RANKS ||
            (o.cluster.nodes && strlen(o.cluster.nodes) > 40))
            return;
    }
    t = table_make("model");
    fill[o.command](&o, t);
    table_write(t, o.output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tool_show(run, data, size);
    return 0;
}
