/* The command line of numacoll-bench (tools/bench/options.c): an input is its words, one a line. Of
 * words that are taken all that is measured must be in its range, and every text one that a table
 * or a picture can show. */

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "fuzz.h"
#include "tool.h"

static void check_algorithm(const struct algorithm *a)
{
    assert(fuzz_is_line(a->label) && *a->name && strlen(a->name) <= strlen(a->label));
    assert(a->parameter_count >= 0 && a->parameter_count <= MAX_PARAMETERS);
    for (int i = 0; i < a->parameter_count; i++) {
        assert(*a->parameters[i].name && *a->parameters[i].value);
        assert(!strchr(a->parameters[i].name, '='));
    }
}

static void run(int argc, char **argv)
{
    struct options o;

    options_parse(&o, argc, argv, 0);
    assert(o.collective_count >= 1 && o.collective_count <= MAX_COLLECTIVES);
    for (int c = 0; c < o.collective_count; c++)
        assert(o.collectives[c] == collective_find(o.collectives[c]->name));
    assert(o.algorithm_count >= 1 && o.algorithm_count <= MAX_ALGORITHMS);
    for (int a = 0; a < o.algorithm_count; a++)
        check_algorithm(&o.algorithms[a]);
    assert(options_longest_label(&o) > 0);
    assert(o.baseline >= 0 && o.baseline < o.algorithm_count);
    assert(o.size_count >= 1 && o.size_count <= MAX_SIZES);
    for (int i = 0; i < o.size_count; i++)
        assert(o.sizes[i] <= 1 << 30 && (i == 0 || o.sizes[i] > o.sizes[i - 1]));
    assert(o.rank_count_count >= 0 && o.rank_count_count <= MAX_RANK_COUNTS);
    for (int i = 0; i < o.rank_count_count; i++)
        assert(o.rank_counts[i] >= 2);
    assert(o.rounds >= 1 && o.rounds <= MAX_UNITS && options_rounds_in_all(&o) >= 0);
    assert(o.seconds > 0 && o.seconds <= 1e6);
    assert(o.error >= 0 && o.error <= 1e6 && o.tolerance > 0 && o.tolerance <= 1e6);
    assert(o.skew.kind <= SKEW_LATE && (o.skew.kind == SKEW_NONE || o.skew.us > 0));
    assert(o.counts <= COUNTS_ONE && o.format < FORMATS);
    assert(o.launches >= 0 && o.launches <= MAX_UNITS && !o.launches == !o.launcher);
    assert(o.other_count >= 0 && o.algorithm_count + o.other_count <= MAX_ALGORITHMS);
    for (int i = 0; i < o.other_count; i++)
        assert(o.others[i] && o.launches);
    for (int i = 0; i < o.word_count; i++)
        assert(o.words[i].text && o.words[i].text[0]);
    assert(!o.results || (!o.launches && o.word_count == 0));
    assert(!o.plot || strlen(o.plot) >= 4);
    for (int i = 0; i < argc; i++)
        assert(o.command[i]);
    assert(!o.command[argc]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    tool_run(run, text);
    tool_end();
    free(text);
    return 0;
}
