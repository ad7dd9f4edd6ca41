/* Which levels of the machine the ranks of a communicator are grouped by. mpich/state_make.c asks
 * for the ranks of a node, mpich/hierarchy.c for all ranks; groups (nc_group.h) are made from the
 * answer.
 *
 * Each rank has a location: the number of the unit it uses on each level; -1 if the rank is not
 * confined to one unit (it is not bound, its mask spans several units, or the machine does not have
 * the level). Units below the node are numbered within the node. A level is active if
 *
 *   1. the setting LEVELS allows it;
 *   2. the unit of every rank is known. One unknown unit switches the level off for all ranks,
 *      because a rank that may run anywhere belongs to no group, and all ranks must see the same
 *      levels. Levels on which this rank's unit is known are not affected. (If the node of a rank
 *      is unknown, its units below the node are unknown too);
 *   3. at least two ranks share a unit of it;
 *   4. each of its units lies inside one unit of the active level above. Of two levels that cross,
 *      the lower is dropped (an L3 that spans NUMA nodes, a NUMA node that spans packages);
 *   5. it groups the ranks differently from the active levels next to it. Of levels that group the
 *      ranks in the same way, one is active and stands for the others: the lowest that is not a
 *      cache (if each L3 is one NUMA node, the level is numa), or else the lowest cache.
 *
 * The highest active level has all ranks in one unit. If no level above does, this is `top`.
 * Source: Kurnosov 2023, hierarchical groups. */

#ifndef NC_TOPO_H_INCLUDED
#define NC_TOPO_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* The levels from the lowest up, one row each: X(NAME, name). Above the node there are switches of
 * the network; switch1 is the leaf, and switchN is NC_LEVEL_NODE + N. */
#define NC_LEVEL_ROWS(X) \
    X(L2, l2) \
    X(L3, l3) \
    X(NUMA, numa) \
    X(PACKAGE, package) \
    X(NODE, node) \
    X(SWITCH1, switch1) \
    X(SWITCH2, switch2) \
    X(SWITCH3, switch3) \
    X(SWITCH4, switch4) \
    X(SWITCH5, switch5) \
    X(SWITCH6, switch6) \
    X(SWITCH7, switch7) \
    X(SWITCH8, switch8)

enum nc_level {
#define NC_NUMBER(NAME, name) NC_LEVEL_##NAME,
    NC_LEVEL_ROWS(NC_NUMBER)
#undef NC_NUMBER
        NC_LEVELS,
    NC_LEVEL_TOP = NC_LEVELS /* all ranks; not a name in LEVELS, cannot be switched off */
};

#define NC_SWITCHES (NC_LEVELS - NC_LEVEL_SWITCH1) /* levels of network switches */

#define NC_LEVELS_ALL    ((1u << NC_LEVELS) - 1)
#define NC_LEVELS_INSIDE ((1u << NC_LEVEL_SWITCH1) - 1) /* the node and the levels below it */

_Static_assert(NC_LEVELS < 8 * sizeof(int), "a set of levels is a number of a setting, an int");

struct nc_locations {
    int ranks;       /* >= 1 */
    int columns;     /* levels given, the lowest ones: NC_LEVEL_NODE + 1 to NC_LEVELS; the others
                        are not known */
    const int *unit; /* [ranks][columns] by rank and enum nc_level; -1: unknown */
};

struct nc_topo {
    int ranks;
    int levels;                        /* active levels, 1 to NC_LEVELS + 1 */
    enum nc_level name[NC_LEVELS + 1]; /* [levels] of each active level, the lowest first */
    int units[NC_LEVELS + 1];          /* [levels] units that ranks use; 1 on the last */
    const int *leader[NC_LEVELS + 1];  /* [levels][ranks] lowest rank in the unit of a rank */
    int active[NC_LEVELS + 1]; /* by enum nc_level: index of the active level that groups the ranks
                                  in the same way, -1 if none does */
    long looks;                /* slots of the hash table looked at: the cost, for a unit test */
};

/* The names of all levels but the top, with a comma and a space between. */
const char *nc_level_names(void);

/* The name of a level; and the level with a name of n characters, the top included, -1 if there is
 * none. */
const char *nc_level_name(enum nc_level level);
int nc_level_find(const char *name, size_t n);

/* Reads a list of level names with commas between. *levels: bit i for level i; all levels if the
 * text is empty. If a name is unknown, returns false and writes one line with this name and the
 * known names to error[size]. */
bool nc_levels_parse(const char *text, unsigned *levels, char *error, size_t size);

/* Bytes nc_topo_make needs; and nc_topo_make, which finds the active levels among the allowed ones,
 * `levels`, a bit each. `memory` has nc_topo_bytes bytes, is aligned for int, and must outlive
 * *topo; the locations are not needed afterwards. O(L * P). */
size_t nc_topo_bytes(const struct nc_locations *locations);
void nc_topo_make(struct nc_topo *topo, void *memory, const struct nc_locations *locations,
                  unsigned levels);

#endif
