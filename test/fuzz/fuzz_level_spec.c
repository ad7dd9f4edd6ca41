/* Level specs, links and lists of levels (core/nc_level_spec.c, core/nc_topo.c): what is taken is
 * in its range. */

#include "fuzz.h"

#include <stdlib.h>

#include "core/nc_level_spec.h"

static void read_spec(const char *text)
{
    struct nc_level_spec spec;

    if (!nc_level_spec_parse(&spec, text, "auto flat kary/ balanced/ knomial/ chain sag"))
        return;
    for (int level = 0; level <= NC_LEVELS; level++) {
        assert(spec.algorithm[level] < 7); /* as many as there are names */
        assert(spec.degree[level] >= 2 && spec.degree[level] <= NC_LEVEL_SPEC_LARGEST_DEGREE);
    }
}

static void read_links(const char *text)
{
    struct nc_links links;

    if (!nc_links_parse(&links, text))
        return;
    for (int level = 0; level <= NC_LEVELS; level++) {
        /* 1e6 microseconds, 1e6 nanoseconds */
        assert(links.link[level].alpha >= 0 && links.link[level].alpha <= 1.000001);
        assert(links.link[level].beta >= 0 && links.link[level].beta <= 0.001000001);
    }
}

static void read_levels(const char *text)
{
    char error[256] = "";
    unsigned levels;

    if (nc_levels_parse(text, &levels, error, sizeof error))
        assert(levels != 0 && (levels & ~NC_LEVELS_ALL) == 0);
    else
        assert(*error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    read_spec(text);
    read_links(text);
    read_levels(text);
    free(text);
    return 0;
}
