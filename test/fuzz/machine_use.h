/* What the fuzz targets of topologies do with a machine that is taken. */

#ifndef MACHINE_USE_H_INCLUDED
#define MACHINE_USE_H_INCLUDED

#include "mpich/machine.h"

/* Maps ranks by a mapping, finds their units and the active levels, and asserts that all are in
 * their ranges. */
void machine_use(const struct nc_machine *machine, const char *mapping, int ranks);

/* The product of the numbers in a text that describes a machine: it asks for no more processors
 * than that. A string may ask for any number, and takes time and memory as it says. */
double machine_most(const char *text);

#endif
