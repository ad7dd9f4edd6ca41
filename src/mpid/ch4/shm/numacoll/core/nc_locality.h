/* The locality string of PMIx: the units of the node that a launcher has bound a process to.
 *
 *     SK0:L31:L232:L132:CR32:HT32-33:NM0      package 0, L3 no. 1, L2 no. 32, NUMA node 0
 *
 * The string has parts `<type><numbers>` with : between, in any order; it may begin with `hwloc:`.
 * A type is two characters: a capital letter, then a capital letter or a digit. So L31 is unit 1 of
 * type L3, and not unit 31 of a type L. Numbers are a list such as 0-3,8; the range `8-` has no
 * end. A process is in a unit of a level if the list of that type names this unit only. Types
 * without a level in nc_topo.h (L1, CR, HT, or types of a newer PMIx) are parsed and ignored.
 * mpich/locality.c gets the string from PMIx for each process of the node. Source: PMIx standard,
 * PMIX_LOCALITY_STRING; OpenPMIx says the same with PMIx_server_generate_locality_string. */

#ifndef NC_LOCALITY_H_INCLUDED
#define NC_LOCALITY_H_INCLUDED

#include <stdbool.h>

#include "nc_topo.h"

/* Reads a locality string. Writes to unit[NC_LEVEL_NODE] the number of the process's unit on each
 * level below node, -1 where the text names no unit or several. Returns false, and writes -1 to all
 * of unit[], if the text does not have the form above; an empty text does not have it. */
bool nc_locality_parse(const char *text, int *unit);

#endif
