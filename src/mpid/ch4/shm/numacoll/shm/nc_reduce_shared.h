/* Reduce and Allreduce inside a node straight out of shared buffers (struct nc_direct), by slices,
 * with a kernel of coll/reduction.c; no MPI. PROTOCOLS.md, 3.8. */

#ifndef NC_REDUCE_SHARED_H_INCLUDED
#define NC_REDUCE_SHARED_H_INCLUDED

#include "nc_reduce.h"

/* Why nothing was reduced: alike on all ranks that have called it with messages. */
enum nc_shared_outcome {
    NC_SHARED_REDUCED,   /* the result is there, or an error is returned */
    NC_SHARED_ELSEWHERE, /* some buffer is not shared: the caller has to reduce in another way */
    NC_SHARED_UNEQUAL    /* the ranks' messages or roots differ, or a rank is in another call:
                            nobody who knows it may go on, for others would wait */
};

/* Reduces `count` elements of the kernel, which have the same form packed and in the user's buffer,
 * to `root`, or, if that is -1, to all ranks. It does so if the operands of all ranks, and the
 * result of the root or of all, are in shared buffers: kernel->mine is where this rank's elements
 * are, and kernel->result where its result goes, if it gets one; they may be the same. `plain`:
 * whether this rank's elements have that form. The operation must commute. Row and column: this
 * rank's NUMA node, and the ranks with its index on all NUMA nodes, which all have the same number
 * of ranks. Every rank of the node calls it. 0, or the first error of this rank's kernel. */
int nc_reduce_shared_node(struct nc_transfer *transfer, int root, const struct nc_team *row,
                          const struct nc_team *column, const struct nc_op_kernel *kernel,
                          size_t count, bool plain, enum nc_shared_outcome *outcome);

#endif
