/* The steps of a scan among the ranks of a node: which ranks a rank reads in each of them, and
 * which read it. mpich/choose.c makes them, coll/scan.c runs them; a step is one operation of
 * shm/nc_reduce.h.
 *
 * Neighbouring ranks on one NUMA node are a block. With radix k:
 *
 *   up      in each block, by windows: in step s = 0, 1, .. a rank combines what the ranks i k^s
 *           before it have, for i = k - 1 .. 1, with what it has itself, which then stands for
 *           k^(s + 1) ranks
 *   across  the last ranks of the blocks do so with the totals of their blocks; then each has what
 *           all blocks before its own have together
 *   down    the last rank of each block but the first gives that to its block
 *
 * So only the totals cross between NUMA nodes, and between two of them once. Where no two
 * neighbours are on one NUMA node all ranks are one block. An exclusive scan, and the steps across,
 * begin with a step in which a rank reads the k ranks before it and leaves out what it has itself.
 *
 * Source: Hillis, Steele 1986 (k = 2), whose windows are combined in the order of ranks. */

#ifndef NC_SCAN_H_INCLUDED
#define NC_SCAN_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* What a rank does in one step; nothing if both lists are empty. Both lists ascend. */
struct nc_scan_step {
    const int *source, *reader; /* ranks that it reads, and that read it */
    int sources, readers;
    bool joins; /* what it has itself comes behind what the sources have; false: is left out */
};

/* The steps of a rank. Each phase has as many steps on all ranks of the node. */
struct nc_scan_plan {
    int up, across, down;
    struct nc_scan_step *step; /* [up + across + down] */
    bool is_last;              /* of its block */
    bool joins;                /* it has a result after the steps up: is false on the first rank of
                                  a block in an exclusive scan */
};

/* Bytes of the memory of nc_scan_make. */
size_t nc_scan_bytes(int ranks, int radix);

/* Makes the steps of a rank in `memory`, which is aligned for pointers and must outlive the plan.
 * numa[ranks]: a number for the NUMA node of each rank. radix: at least 2. O(ranks). */
void nc_scan_make(struct nc_scan_plan *plan, void *memory, const int *numa, int ranks, int radix,
                  bool exclusive, int rank);

#endif
