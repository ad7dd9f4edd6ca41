/* What the fuzz targets of topologies do with a machine that is taken. */

#ifndef MACHINE_USE_H_INCLUDED
#define MACHINE_USE_H_INCLUDED

#include "mpich/machine.h"

/* Maps ranks by a mapping, finds their units and the active levels, and asserts that all are in
 * their ranges. */
void machine_use(const struct nc_machine *machine, const char *mapping, int ranks);

#endif
