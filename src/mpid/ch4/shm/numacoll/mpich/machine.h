/* A machine as hwloc sees it, this one or a described one, and where processes are on it. No MPI:
 * location.c uses it in the library, tools/common/cluster.c without MPI. */

#ifndef NUMACOLL_MACHINE_H_INCLUDED
#define NUMACOLL_MACHINE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

#include "../core/nc_cpus.h"
#include "../core/nc_topo.h"

enum { NC_MACHINE_LEVELS = NC_LEVEL_NODE }; /* the levels inside a node: l2, l3, numa, package */

struct nc_machine;

/* Loads a machine. topology: "" for this machine as far as this process may use it,
 * "synthetic:STRING" or "xml:FILE". NULL, with one line in error[size], if hwloc does not take
 * it. */
struct nc_machine *nc_machine_load(const char *topology, char *error, size_t size);

/* A machine by a topology (hwloc_topology_t) that the caller has loaded. The caller keeps it until
 * after nc_machine_free, and frees it. NULL: no memory. */
struct nc_machine *nc_machine_borrow(void *topology);

void nc_machine_free(struct nc_machine *machine);

/* How many processors (hwloc's PUs) the machine has. */
int nc_machine_processors(const struct nc_machine *machine);

/* What machines alike have alike, as a word that can name a folder: the model of the processors,
 * with a dash for what is neither letter, digit, `+` nor `.`, how many NUMA nodes and processors:
 * "Name-of-the-model_numa-2_processors-64". */
void nc_machine_name(const struct nc_machine *machine, char *name, size_t size);

/* Bytes of the largest last-level cache, or of the largest L2 cache; 0 if none is known. */
enum nc_cache { NC_CACHE_LAST, NC_CACHE_L2 };
size_t nc_machine_cache_bytes(const struct nc_machine *machine, enum nc_cache cache);

/* How many processors share a last-level cache, at most; 0 if none is known. */
int nc_machine_cache_processors(const struct nc_machine *machine);

/* Puts ranks 0 .. ranks - 1 on processors by a mapping: processor[ranks] become hwloc's logical
 * numbers. "core" fills core after core; "numa" and "package" deal the ranks out to the units in
 * turn, and fill each unit core after core; "list:0,4,.." names the processors. Where ranks
 * outnumber cores, a second round begins. False, with one line in error[size]: the mapping is
 * wrong, or does not fit this machine. */
bool nc_machine_map(const struct nc_machine *machine, const char *mapping, int ranks,
                    int *processor, char *error, size_t size);

/* The units that a processor, or all processors of mask[words], are in: unit[NC_MACHINE_LEVELS]. -1
 * on a level that the machine does not have, or where the processors are not all in one unit. A
 * processor that belongs to several NUMA nodes counts as in the one with the fewest processors, of
 * equal ones (two kinds of memory) in the first. */
void nc_machine_units(const struct nc_machine *machine, int processor, int *unit);
void nc_machine_units_of_mask(const struct nc_machine *machine, const uint64_t *mask, int words,
                              int *unit);

/* Whether these units distinguish this place from other places of the machine: one of them is on a
 * level that has several units. (Even an unbound process is in the only NUMA node of a machine.) */
bool nc_machine_tells(const struct nc_machine *machine, const int *unit);

#endif
