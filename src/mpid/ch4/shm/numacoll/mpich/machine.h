/* A machine as hwloc sees it, this one or a described one, and where processes are on it. No MPI:
 * tools use it too. */

#ifndef NUMACOLL_MACHINE_H_INCLUDED
#define NUMACOLL_MACHINE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "../core/nc_cpus.h"
#include "../core/nc_topo.h"

enum { NC_MACHINE_LEVELS = NC_LEVEL_NODE }; /* l2, l3, numa, package: those inside a node */

struct nc_machine;

/* topology: "" for this machine as far as this process may use it, "synthetic:STRING", "xml:FILE".
 * NULL, and one line in error, if hwloc does not take it. */
struct nc_machine *nc_machine_load(const char *topology, char *error, size_t size);

/* The machine of a topology that somebody else has loaded (hwloc_topology_t), and frees after
 * nc_machine_free. NULL: no memory. */
struct nc_machine *nc_machine_borrow(void *topology);

void nc_machine_free(struct nc_machine *machine);

int nc_machine_processors(const struct nc_machine *machine);

/* Bytes of the largest last-level cache; 0 if none is known. */
size_t nc_machine_cache_bytes(const struct nc_machine *machine);

/* Processors (hwloc's logical numbers) of ranks 0 .. ranks - 1 by a mapping: "core" fills core
 * after core, "numa" and "package" deal ranks out in turn, each unit filled core after core,
 * "list:0,4,.." names them. Where ranks outnumber cores they go round again. False, and one line in
 * error. */
bool nc_machine_map(const struct nc_machine *machine, const char *mapping, int ranks,
                    int *processor, char *error, size_t size);

/* The units that a processor, or all processors of a mask, are in: unit[NC_MACHINE_LEVELS], -1 on
 * the levels that the machine does not have or where it is not a single one. A
 * processor of several NUMA nodes is in the narrowest, of equal ones (two kinds of memory) in the
 * first. */
void nc_machine_units(const struct nc_machine *machine, int processor, int *unit);
void nc_machine_units_of_mask(const struct nc_machine *machine, const struct nc_cpus *mask,
                              int *unit);

/* Do units tell one place in the machine from another: is one of a level that has several? (An
 * unbound process, too, is in the only NUMA node of a machine.) */
bool nc_machine_tells(const struct nc_machine *machine, const int *unit);

#endif
