/* The locality string of PMIx: the units of the node that a launcher has bound a process to.
 *
 *     SK0:L31:L232:L132:CR32:HT32-33:NM0      package 0, L3 no. 1, L2 no. 32, NUMA node 0
 *
 * Parts `<type><numbers>` with : between, in any order; before them there may be `hwloc:`. A type
 * is two characters, a capital letter and one more or a digit: L31 is number 1 of L3, there is no L
 * number 31. Numbers are a list such as 0-3,8, where `8-` has no end. A process is in a unit of a
 * level if the list names no other; types that are no level here (L1, CR, HT, or of a newer PMIx)
 * are read and left out. Source: PMIx standard, PMIX_LOCALITY_STRING; OpenPMIx says the same with
 * PMIx_server_generate_locality_string. */

#ifndef NC_LOCALITY_H_INCLUDED
#define NC_LOCALITY_H_INCLUDED

#include <stdbool.h>

#include "nc_topo.h"

/* unit[NC_LEVEL_NODE]: the process's units below node, -1 where the text names none or several.
 * False, and all -1, if the text is none of the above; the empty one is not: a process without a
 * string is not bound. */
bool nc_locality_parse(const char *text, int *unit);

#endif
