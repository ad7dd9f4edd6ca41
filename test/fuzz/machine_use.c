/* What the fuzz targets of topologies do with a machine that is taken; see machine_use.h. */

#include "machine_use.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void find_levels(const struct nc_machine *m, const int *processor, int ranks)
{
    int *unit = malloc(sizeof(int) * (size_t) ranks * (NC_LEVEL_NODE + 1));
    struct nc_locations locations = {ranks, NC_LEVEL_NODE + 1, unit};
    void *memory = malloc(nc_topo_bytes(&locations));
    struct nc_topo topo;

    assert(unit && memory);
    for (int i = 0; i < ranks; i++) {
        int *units = unit + i * (NC_LEVEL_NODE + 1);
        nc_machine_units(m, processor[i], units);
        nc_machine_tells(m, units);
        units[NC_LEVEL_NODE] = 0;
    }
    nc_topo_make(&topo, memory, &locations, NC_LEVELS_ALL);
    assert(topo.levels >= 1 && topo.units[topo.levels - 1] == 1);
    free(memory);
    free(unit);
}

static void use_masks(const struct nc_machine *m)
{
    static const struct nc_cpus masks[] = {{{0}}, {{1}}, {{~(uint64_t) 0}}, {{10, 1}}};
    int unit[NC_MACHINE_LEVELS];

    for (int i = 0; i < 4; i++)
        nc_machine_units_of_mask(m, masks[i].word, NC_CPUS_WORDS, unit);
}

void machine_use(const struct nc_machine *m, const char *mapping, int ranks)
{
    int *processor = malloc(sizeof(int) * (size_t) ranks);
    char error[1024] = "";

    assert(processor && nc_machine_processors(m) > 0);
    nc_machine_cache_bytes(m, NC_CACHE_LAST);
    nc_machine_cache_bytes(m, NC_CACHE_L2);
    use_masks(m);
    if (nc_machine_map(m, mapping, ranks, processor, error, sizeof error)) {
        for (int i = 0; i < ranks; i++)
            assert(processor[i] >= 0 && processor[i] < nc_machine_processors(m));
        find_levels(m, processor, ranks);
    } else
        assert(*error);
    free(processor);
}

double machine_most(const char *text)
{
    double product = 1;

    while (*(text += strcspn(text, "0123456789"))) {
        char *end;
        double number = strtod(text, &end);
        product *= number > 1 ? number : 1;
        text = end > text ? end : text + 1;
    }
    return product;
}
