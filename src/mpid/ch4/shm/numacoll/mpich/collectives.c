/* The names of the collectives and which of them the variables select, from numacoll_table.h. See
 * collectives.h. */

#include "collectives.h"

#include <strings.h>

unsigned MPIDI_NUMACOLL_listed, MPIDI_NUMACOLL_tuned;

/* The collectives, then the nonblocking ones. */
static const struct {
    const char *name;
    int *variable;
    int ours, automatic;
} table[NC_COLL_COUNT + NC_NONBLOCKING_COUNT] = {
#define NC_ROW(name, Name, NAME, ...) \
    {#name, (int *) &MPIR_CVAR_##NAME##_INTRA_ALGORITHM, \
     MPIR_CVAR_##NAME##_INTRA_ALGORITHM_numacoll, MPIR_CVAR_##NAME##_INTRA_ALGORITHM_auto},
    NC_COLLECTIVES(NC_ROW) NC_NONBLOCKING(NC_ROW)
#undef NC_ROW
};

const char *MPIDI_NUMACOLL_coll_name(enum nc_coll coll)
{
    return table[coll].name;
}

unsigned MPIDI_NUMACOLL_coll_bit(const char *name)
{
    for (int c = 0; c < NC_COLL_COUNT; c++) {
        if (!strcasecmp(name, table[c].name))
            return 1u << c;
    }
    return 0;
}

const char *MPIDI_NUMACOLL_nonblocking_name(enum nc_nonblocking_coll coll)
{
    return table[NC_COLL_COUNT + (int) coll].name;
}

const char *MPIDI_NUMACOLL_coll_algorithms(enum nc_coll coll)
{
    static const char *const names[NC_COLL_COUNT] = {
#define NC_NAMES(NAME, algorithms) [NC_COLL_##NAME] = algorithms,
        NC_COLLECTIVE_ALGORITHMS(NC_NAMES)
#undef NC_NAMES
    };

    return names[coll];
}

/* Whether the collective of a row is selected. */
static bool selects(int row)
{
    return MPIDI_NUMACOLL_is_selected(row, *table[row].variable, table[row].ours,
                                      table[row].automatic);
}

bool MPIDI_NUMACOLL_selected(enum nc_coll coll)
{
    return selects((int) coll);
}

bool MPIDI_NUMACOLL_nonblocking_selected(enum nc_nonblocking_coll coll)
{
    return selects(NC_COLL_COUNT + (int) coll);
}

bool MPIDI_NUMACOLL_any_nonblocking_selected(void)
{
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++) {
        if (MPIDI_NUMACOLL_nonblocking_selected(c))
            return true;
    }
    return false;
}
