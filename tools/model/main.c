/* numacoll-model's main program. See model.h. */

#include <stdlib.h>

#include "common/arguments.h"
#include "model.h"

int main(int argc, char **argv)
{
    static void (*const fill[COMMANDS])(const struct options *, struct table *) = {
        [QUEUE] = queue_fill,       [TREE] = tree_fill,       [BARRIER] = barrier_fill,
        [MESSAGES] = messages_fill, [PREDICT] = predict_fill, [WHY] = why_fill};
    static const char *const names[COMMANDS] = {"queue",    "tree",    "barrier",
                                                "messages", "predict", "why"};
    struct options options;
    struct table *table;

    end_if_output_is_lost();
    options_parse(&options, argc, argv);
    table = table_make(names[options.command]);
    fill[options.command](&options, table);
    if (options.plot)
        picture_draw(table, options.plot);
    table_write(table, options.output);
    return EXIT_SUCCESS;
}
