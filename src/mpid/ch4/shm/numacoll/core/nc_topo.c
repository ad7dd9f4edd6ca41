/* Always built: nc_level_spec.c parses levels. This file finds the active levels, by the rules that
 * nc_topo.h numbers. */

#include "nc_topo.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define TEXT(NAME, name) #name,
    NC_LEVEL_ROWS(TEXT)
#undef TEXT
        "top"};

_Static_assert(sizeof names / sizeof *names == NC_LEVEL_TOP + 1, "every level has its name");

const char *nc_level_names(void)
{
#define AND_TEXT(NAME, name) ", " #name
    static const char all[] = NC_LEVEL_ROWS(AND_TEXT);
#undef AND_TEXT

    return all + strlen(", ");
}

const char *nc_level_name(enum nc_level level)
{
    return names[level];
}

int nc_level_find(const char *name, size_t n)
{
    for (int i = 0; i <= NC_LEVELS; i++) {
        if (strlen(names[i]) == n && !memcmp(names[i], name, n))
            return i;
    }
    return -1;
}

bool nc_levels_parse(const char *text, unsigned *levels, char *error, size_t size)
{
    *levels = *text ? 0 : NC_LEVELS_ALL;
    if (!*text)
        return true;
    do {
        size_t n = strcspn(text, ",");
        int level = nc_level_find(text, n);

        if (level < 0 || level == NC_LEVEL_TOP) {
            snprintf(error, size, "unknown level '%.*s'; known are %s", (int) n, text,
                     nc_level_names());
            return false;
        }
        *levels |= 1u << level;
        text += n;
    } while (*text++);
    return true;
}

/* Finds the first rank of each unit of a level: a hash table, at most half full. */
struct finder {
    const struct nc_locations *locations;
    int level;
    size_t slots;
    int *slot; /* the first rank found in a unit; -1: free */
    long looks;
};

/* Computes an id that no other unit of the level has: below the node, every node has the same unit
 * numbers. Returns false if the rank's unit or node is not known. */
static bool identify(const struct finder *f, int rank, uint64_t *id)
{
    const int *unit = f->locations->unit + (size_t) rank * (size_t) f->locations->columns;
    int node = f->level < NC_LEVEL_NODE ? unit[NC_LEVEL_NODE] : 0;

    *id = (uint64_t) node << 32 | (uint32_t) unit[f->level];
    return node >= 0 && unit[f->level] >= 0;
}

/* The first rank found with this id; `rank` if it is the first. */
static int find_first(struct finder *f, uint64_t id, int rank)
{
    uint64_t other, hash = id * 0x9e3779b97f4a7c15u >> 32;

    for (size_t i = hash * f->slots >> 32;; i = i + 1 < f->slots ? i + 1 : 0) {
        f->looks++;
        if (f->slot[i] < 0)
            return f->slot[i] = rank;
        identify(f, f->slot[i], &other);
        if (other == id)
            return f->slot[i];
    }
}

/* Writes every rank's leader on a level. Returns the number of units, 0 if a unit is unknown. */
static int find_leaders(struct finder *f, int level, int *leader)
{
    int units = 0;
    uint64_t id;

    f->level = level;
    memset(f->slot, -1, sizeof(int) * f->slots);
    for (int rank = 0; rank < f->locations->ranks; rank++) {
        if (!identify(f, rank, &id))
            return 0;
        leader[rank] = find_first(f, id, rank);
        units += leader[rank] == rank;
    }
    return units;
}

/* Whether each unit of the lower level lies inside one unit of the higher level. */
static bool lies_inside(const int *lower, const int *higher, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        if (higher[rank] != higher[lower[rank]])
            return false;
    }
    return true;
}

/* Finds the top and the levels that rules 1 to 4 leave: their units, and their leaders in rows of
 * memory that begin at `above`. Goes from the top down, so that of two levels that cross the lower
 * one is dropped. */
static void find_levels(struct finder *f, unsigned levels, int *above, int *units, int **leader)
{
    int ranks = f->locations->ranks;

    memset(above, 0, sizeof(int) * (size_t) ranks);
    units[NC_LEVEL_TOP] = 1;
    leader[NC_LEVEL_TOP] = above;
    for (int i = f->locations->columns - 1; i >= 0; i--) {
        int *row = above + ranks;
        int n = levels >> i & 1 ? find_leaders(f, i, row) : 0;

        if (n == 0 || n == ranks || !lies_inside(row, above, ranks))
            continue;
        units[i] = n;
        above = leader[i] = row;
    }
}

static bool is_cache(enum nc_level level)
{
    return level < NC_LEVEL_NUMA;
}

/* Rule 5. The levels lie inside each other, so two levels with equally many units group the ranks
 * in the same way. */
static void add_level(struct nc_topo *topo, enum nc_level level, int units, const int *leader)
{
    int last = topo->levels - 1;

    if (last < 0 || topo->units[last] != units)
        last = topo->levels++;
    else if (level == NC_LEVEL_TOP || is_cache(level) || !is_cache(topo->name[last]))
        return;
    topo->name[last] = level;
    topo->units[last] = units;
    topo->leader[last] = leader;
}

size_t nc_topo_bytes(const struct nc_locations *locations)
{
    return sizeof(int) * (size_t) locations->ranks * (size_t) (2 + 1 + locations->columns);
}

void nc_topo_make(struct nc_topo *topo, void *memory, const struct nc_locations *locations,
                  unsigned levels)
{
    struct finder finder = {.locations = locations, .slot = memory};
    int units[NC_LEVELS + 1] = {0}, *leader[NC_LEVELS + 1] = {0};

    finder.slots = 2 * (size_t) locations->ranks;
    find_levels(&finder, levels, finder.slot + finder.slots, units, leader);
    topo->ranks = locations->ranks;
    topo->levels = 0;
    topo->looks = finder.looks;
    for (int i = 0; i <= NC_LEVELS; i++) {
        if (units[i])
            add_level(topo, i, units[i], leader[i]);
        topo->active[i] = units[i] ? topo->levels - 1 : -1;
    }
}
