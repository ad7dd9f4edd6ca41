/* Which levels of the machine the ranks are grouped by.
 *
 * Each rank has a location: the number of the unit it uses on each level, -1 where it is not
 * confined to one (unbound; a mask that spans several; a machine without such a level). Numbers of
 * the levels below node count within the node. A level is active if
 *
 *   1. LEVELS allows it;
 *   2. the unit of every rank is known. One unknown switches the level off for all ranks: who may
 *      run anywhere belongs to no group, and all ranks must see the same levels. Levels on which
 *      that rank is known stay. (An unknown node makes what is below it unknown too.);
 *   3. at least two ranks share a unit of it;
 *   4. each of its units lies inside one unit of the active level above. Of two levels that cross,
 *      the lower is dropped (an L3 that spans NUMA nodes, a NUMA node that spans packages);
 *   5. it groups the ranks otherwise than its neighbours. Of levels that group alike, one stays and
 *      stands for the others: the lowest that is no cache (an L3 that is one NUMA node goes by the
 *      name of numa), or else the lowest cache.
 *
 * The highest active level has all ranks in one unit; if none of the above does, it is `top`.
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
    NC_LEVEL_TOP = NC_LEVELS /* all ranks; not in LEVELS, cannot be switched off */
};

#define NC_SWITCHES (NC_LEVELS - NC_LEVEL_SWITCH1) /* levels of network switches */

#define NC_LEVELS_ALL    ((1u << NC_LEVELS) - 1)
#define NC_LEVELS_INSIDE ((1u << NC_LEVEL_SWITCH1) - 1) /* the node, and what is in it */

_Static_assert(NC_LEVELS < 8 * sizeof(int), "a set of levels is a number of a setting, an int");

struct nc_locations {
    int ranks;       /* >= 1 */
    int columns;     /* NC_LEVEL_NODE + 1 to NC_LEVELS: levels beyond are not known */
    const int *unit; /* [ranks][columns] */
};

struct nc_topo {
    int ranks;
    int levels;                        /* active ones, 1 to NC_LEVELS + 1 */
    enum nc_level name[NC_LEVELS + 1]; /* [levels] */
    int units[NC_LEVELS + 1];          /* [levels] units that ranks use; 1 on the last */
    const int *leader[NC_LEVELS + 1];  /* [levels][ranks] lowest rank in the unit of a rank */
    int active[NC_LEVELS + 1]; /* by enum nc_level: the active level that groups so, -1 if none */
    long looks;                /* locations looked at while numbering: the cost, for its test */
};

/* The names of all levels but the top, a comma and a space between. */
const char *nc_level_names(void);

/* A level's name, and the level of a name of n characters, -1 if there is none. */
const char *nc_level_name(enum nc_level level);
int nc_level_find(const char *name, size_t n);

/* The set of levels, bit i for level i, that a comma list of names stands for; all if the text is
 * empty. False, and one line that names the word and the known ones, if a word is none of them. */
bool nc_levels_parse(const char *text, unsigned *levels, char *error, size_t size);

/* Bytes nc_topo_make needs, and the active levels among a set of them, in memory of that size,
 * aligned for int, which belongs to the result; the locations do not. O(L * P). */
size_t nc_topo_bytes(const struct nc_locations *locations);
void nc_topo_make(struct nc_topo *topo, void *memory, const struct nc_locations *locations,
                  unsigned levels);

#endif
