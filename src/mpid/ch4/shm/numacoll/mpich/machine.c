/* A machine by hwloc: loading a topology, mapping ranks to its processors, and finding the units
 * that processors are in. location.c calls this in the library; tools/common and the unit test call
 * it without MPI. */

#include "machine.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nc_machine {
    hwloc_topology_t topology;
    bool borrowed;
};

/* ---- load ---- */

/* The text behind a prefix; NULL if the text does not begin with the prefix. */
static const char *after(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) ? NULL : text + n;
}

/* Tells hwloc which machine to load: "" leaves it at this one. */
static bool describe(hwloc_topology_t topology, const char *text, char *error, size_t size)
{
    const char *synthetic = after(text, "synthetic:"), *xml = after(text, "xml:");

    if (!*text)
        return true;
    if (!synthetic && !xml) {
        snprintf(error, size, "%s: must be synthetic:STRING or xml:FILE", text);
        return false;
    }
    errno = 0;
    if (synthetic && hwloc_topology_set_synthetic(topology, synthetic)) {
        snprintf(error, size,
                 "%s: must be a synthetic topology of hwloc, such as "
                 "synthetic:package:2 numa:2 core:32 pu:1",
                 text);
        return false;
    }
    if (xml && hwloc_topology_set_xml(topology, xml)) {
        snprintf(error, size, "%s: must be an XML file of hwloc: %s", text,
                 errno ? strerror(errno) : "not one");
        return false;
    }
    return true;
}

/* Whether every object of a type that names processors has some in the topology. hwloc accepts an
 * XML file in which those of a package are missing; a mapping to that package would fail. */
static bool has_processors(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t o = NULL;

    while ((o = hwloc_get_next_obj_by_type(topology, type, o))) {
        if (!hwloc_bitmap_iszero(o->cpuset) &&
            hwloc_get_nbobjs_inside_cpuset_by_type(topology, o->cpuset, HWLOC_OBJ_PU) == 0)
            return false;
    }
    return true;
}

/* Whether the processors of each object of a type (cores or processors) follow one another, and
 * those of the object before: deal_inside counts on it. hwloc accepts an XML file in which cores
 * are on several levels, or have processors in common. */
static bool are_in_order(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t o = NULL, pu = NULL;

    while ((o = hwloc_get_next_obj_by_type(topology, type, o))) {
        int processors = hwloc_bitmap_weight(o->cpuset);
        for (int i = 0; i < processors; i++) {
            hwloc_obj_t next = hwloc_get_next_obj_inside_cpuset_by_type(topology, o->cpuset,
                                                                        HWLOC_OBJ_PU, pu);
            if (!next || (i > 0 && next->logical_index != pu->logical_index + 1))
                return false;
            pu = next;
        }
    }
    return hwloc_get_nbobjs_by_type(topology, type) >= 0;
}

/* Loads what `describe` named, and checks that ranks can be mapped to it. */
static bool take(hwloc_topology_t topology, const char *text, char *error, size_t size)
{
    if (hwloc_topology_load(topology)) {
        snprintf(error, size, "%s: must be a topology hwloc can load", text);
        return false;
    }
    if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) <= 0 ||
        !are_in_order(topology, HWLOC_OBJ_PU) || !are_in_order(topology, HWLOC_OBJ_CORE) ||
        !has_processors(topology, HWLOC_OBJ_NUMANODE) ||
        !has_processors(topology, HWLOC_OBJ_PACKAGE)) {
        snprintf(error, size,
                 "%s: must have the processors of its cores, NUMA nodes and packages, each of them "
                 "in one core",
                 text);
        return false;
    }
    return true;
}

struct nc_machine *nc_machine_load(const char *topology, char *error, size_t size)
{
    struct nc_machine *m = calloc(1, sizeof *m);

    if (!m || hwloc_topology_init(&m->topology)) {
        snprintf(error, size, "no memory for a topology");
        free(m);
        return NULL;
    }
    if (describe(m->topology, topology, error, size) && take(m->topology, topology, error, size))
        return m;
    nc_machine_free(m);
    return NULL;
}

struct nc_machine *nc_machine_borrow(void *topology)
{
    struct nc_machine *m = calloc(1, sizeof *m);

    if (m) {
        m->topology = topology;
        m->borrowed = true;
    }
    return m;
}

void nc_machine_free(struct nc_machine *m)
{
    if (m && !m->borrowed)
        hwloc_topology_destroy(m->topology);
    free(m);
}

int nc_machine_processors(const struct nc_machine *m)
{
    return hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_PU);
}

/* Copies a text as a word: letters, digits, + and . as they are (models of processors differ by
 * them), one dash for each row of other characters, none at the ends. */
static void copy_as_word(const char *text, char *word, size_t size)
{
    size_t used = 0;
    bool gap = false;

    for (; *text && used + 2 < size; text++) {
        bool kept = isalnum((unsigned char) *text) || (used > 0 && strchr("+.", *text));
        if (kept && gap)
            word[used++] = '-';
        if (kept)
            word[used++] = *text;
        gap = !kept && used > 0;
    }
    word[used] = 0;
}

void nc_machine_name(const struct nc_machine *m, char *name, size_t size)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = hwloc_obj_get_info_by_name(
        package ? package : hwloc_get_root_obj(m->topology), "CPUModel");
    char word[128] = "";

    copy_as_word(model ? model : "", word, sizeof word);
    snprintf(name, size, "%s_numa-%d_processors-%d", *word ? word : "unknown",
             hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_NUMANODE), nc_machine_processors(m));
}

/* The last-level caches, or the L2 caches: how many bytes one has at most, and how many
 * processors share one at most. */
static void look_at_caches(const struct nc_machine *m, enum nc_cache cache, size_t *bytes,
                           int *processors)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE};

    *bytes = 0;
    *processors = 0;
    for (int t = cache == NC_CACHE_LAST ? 0 : 1; t < 2 && *bytes == 0; t++) {
        hwloc_obj_t o = NULL;
        while ((o = hwloc_get_next_obj_by_type(m->topology, types[t], o))) {
            int n = hwloc_get_nbobjs_inside_cpuset_by_type(m->topology, o->cpuset, HWLOC_OBJ_PU);
            *bytes = o->attr->cache.size > *bytes ? o->attr->cache.size : *bytes;
            *processors = n > *processors ? n : *processors;
        }
    }
}

size_t nc_machine_cache_bytes(const struct nc_machine *m, enum nc_cache cache)
{
    size_t bytes;
    int processors;

    look_at_caches(m, cache, &bytes, &processors);
    return bytes;
}

int nc_machine_cache_processors(const struct nc_machine *m)
{
    size_t bytes;
    int processors;

    look_at_caches(m, NC_CACHE_LAST, &bytes, &processors);
    return bytes ? processors : 0;
}

/* ---- units of the machine ---- */

static const hwloc_obj_type_t level_type[NC_MACHINE_LEVELS] = {
    [NC_LEVEL_L2] = HWLOC_OBJ_L2CACHE,
    [NC_LEVEL_L3] = HWLOC_OBJ_L3CACHE,
    [NC_LEVEL_NUMA] = HWLOC_OBJ_NUMANODE,
    [NC_LEVEL_PACKAGE] = HWLOC_OBJ_PACKAGE,
};

/* The unit of a type that contains a whole set of processors; NULL if no single unit does.
 * Processors may belong to several NUMA nodes (memory of two kinds; a NUMA node without processors
 * of its own is local to all around it): then the unit is the one with the fewest processors, of
 * equal ones the first. A set that reaches beyond the narrowest unit it shares processors with is
 * in none. */
static hwloc_obj_t unit_of(const struct nc_machine *m, hwloc_obj_type_t type,
                           hwloc_const_cpuset_t set)
{
    hwloc_obj_t o = NULL, unit = NULL;

    while ((o = hwloc_get_next_obj_by_type(m->topology, type, o))) {
        if (hwloc_bitmap_intersects(set, o->cpuset) &&
            (!unit || hwloc_bitmap_weight(o->cpuset) < hwloc_bitmap_weight(unit->cpuset)))
            unit = o;
    }
    return unit && hwloc_bitmap_isincluded(set, unit->cpuset) ? unit : NULL;
}

/* ---- mapping ---- */

/* The type that ranks are dealt out to inside a set of processors: cores, or processors where the
 * set contains no whole core. */
static hwloc_obj_type_t core_type(const struct nc_machine *m, hwloc_const_cpuset_t set)
{
    return hwloc_get_nbobjs_inside_cpuset_by_type(m->topology, set, HWLOC_OBJ_CORE) > 0
               ? HWLOC_OBJ_CORE
               : HWLOC_OBJ_PU;
}

/* Deals the processors of a set out to ranks first, first + step, and so on: first the first
 * processor of each core, then the second of each, then round again. Machines have thousands of
 * processors, so each core is looked for behind the one before. */
static void deal_inside(const struct nc_machine *m, hwloc_const_cpuset_t set, int first, int step,
                        int ranks, int *processor)
{
    hwloc_obj_type_t type = core_type(m, set);
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(m->topology, set, type);
    hwloc_obj_t core = NULL, pu = NULL;

    for (int k = 0; k < cores; k++) {
        int threads;
        core = hwloc_get_next_obj_inside_cpuset_by_type(m->topology, set, type, core);
        pu = hwloc_get_next_obj_inside_cpuset_by_type(m->topology, core->cpuset, HWLOC_OBJ_PU, pu);
        threads = hwloc_bitmap_weight(core->cpuset);
        /* the logical numbers of a core's processors are consecutive */
        for (int n = k; first + n * step < ranks; n += cores)
            processor[first + n * step] = (int) pu->logical_index + n / cores % threads;
    }
}

/* The unit after o (NULL: the first one) that ranks are dealt out to. Skips units whose processors
 * also belong to a narrower unit, or to an earlier one of the same size: no rank would count as in
 * them. */
static hwloc_obj_t next_unit(const struct nc_machine *m, hwloc_obj_type_t type, hwloc_obj_t o)
{
    do
        o = hwloc_get_next_obj_by_type(m->topology, type, o);
    while (o && unit_of(m, type, o->cpuset) != o);
    return o;
}

/* Deals ranks out to the units of a type in turn. False: the machine has no such unit. */
static bool deal_out(const struct nc_machine *m, hwloc_obj_type_t type, int ranks, int *processor)
{
    hwloc_obj_t o = NULL;
    int units = 0, unit = 0;

    while ((o = next_unit(m, type, o)))
        units++;
    while ((o = next_unit(m, type, o)))
        deal_inside(m, o->cpuset, unit++, units, ranks, processor);
    return units > 0;
}

/* Reads "PROCESSOR,PROCESSOR,..", one for each rank. Checks the whole list, but a list may be
 * longer than the node has ranks: all nodes have the same MAPPING, and others may have more
 * ranks. */
static bool read_list(const struct nc_machine *m, const char *list, int ranks, int *processor,
                      char *error, size_t size)
{
    int last = nc_machine_processors(m) - 1, i = 0;
    char *end;

    do {
        long n = strtol(list, &end, 10);
        if (end == list || n < 0 || n > last || (*end && *end != ',')) {
            snprintf(error, size, "list: rank %d: \"%.*s\": must be a processor, 0 to %d", i,
                     (int) strcspn(list, ","), list, last);
            return false;
        }
        if (i < ranks)
            processor[i] = (int) n;
        i++;
        list = end + 1;
    } while (*end);
    if (i < ranks)
        snprintf(error, size, "list: %d processors: must be one for each of %d ranks", i, ranks);
    return i >= ranks;
}

bool nc_machine_map(const struct nc_machine *m, const char *mapping, int ranks, int *processor,
                    char *error, size_t size)
{
    hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(m->topology);
    const char *list = after(mapping, "list:");

    if (list)
        return read_list(m, list, ranks, processor, error, size);
    if (!strcmp(mapping, "numa") && deal_out(m, HWLOC_OBJ_NUMANODE, ranks, processor))
        return true;
    if (!strcmp(mapping, "package") && deal_out(m, HWLOC_OBJ_PACKAGE, ranks, processor))
        return true;
    if (!strcmp(mapping, "core")) {
        deal_inside(m, all, 0, 1, ranks, processor);
        return true;
    }
    if (!strcmp(mapping, "numa") || !strcmp(mapping, "package"))
        snprintf(error, size, "%s: this machine has no level of that name", mapping);
    else
        snprintf(error, size, "%s: must be core, numa, package or list:PROCESSOR,PROCESSOR,..",
                 mapping);
    return false;
}

/* ---- units of ranks ---- */

/* The unit of a set of processors on each level inside the node. */
static void units_of_set(const struct nc_machine *m, hwloc_const_cpuset_t set, int *unit)
{
    for (int level = 0; level < NC_MACHINE_LEVELS; level++) {
        hwloc_obj_t o = unit_of(m, level_type[level], set);
        unit[level] = o ? (int) o->logical_index : -1;
    }
}

void nc_machine_units(const struct nc_machine *m, int processor, int *unit)
{
    units_of_set(m, hwloc_get_obj_by_type(m->topology, HWLOC_OBJ_PU, (unsigned) processor)->cpuset,
                 unit);
}

void nc_machine_units_of_mask(const struct nc_machine *m, const uint64_t *mask, int words,
                              int *unit)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    for (int level = 0; level < NC_MACHINE_LEVELS; level++)
        unit[level] = -1;
    if (!set)
        return;
    for (unsigned i = 0; i < (unsigned) words * 64; i++) {
        if (mask[i / 64] >> i % 64 & 1)
            hwloc_bitmap_set(set, i);
    }
    /* a mask may contain processors that are off line, or that this process may not use */
    hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(m->topology));
    if (!hwloc_bitmap_iszero(set))
        units_of_set(m, set, unit);
    hwloc_bitmap_free(set);
}

bool nc_machine_tells(const struct nc_machine *m, const int *unit)
{
    for (int level = 0; level < NC_MACHINE_LEVELS; level++) {
        if (unit[level] >= 0 && hwloc_get_nbobjs_by_type(m->topology, level_type[level]) > 1)
            return true;
    }
    return false;
}
