/* Reduce as a part of another collective. It does not count a call: the other collective counts
 * itself. Errors of all functions: of MPICH, of the operation; and
 * **collective_size_mismatch or MPI_ERR_TRUNCATE where lengths differ inside a node. */

#ifndef NUMACOLL_REDUCE_H_INCLUDED
#define NUMACOLL_REDUCE_H_INCLUDED

#include "reduction.h"

/* How a message of so many bytes goes along one chain of the node's ranks: in fragments that are
 * short enough to fill it soon. */
struct nc_transfer MPIDI_NUMACOLL_chain_transfer(const struct nc_reduction *r, size_t bytes);

/* Reduces elements first .. first + n - 1 of the operands inside the node, to local rank
 * local_root. There the result of element `first` is written at `result`; elsewhere `result` is not
 * used. Every rank of the node calls it. */
int MPIDI_NUMACOLL_reduce_chunk(struct nc_reduction *r, int local_root, size_t first, size_t n,
                                char *result);

/* Reduces all elements to `root`, a rank of the communicator. Every rank of the communicator calls
 * it. tag: of the collective that calls it, for messages between nodes. */
int MPIDI_NUMACOLL_reduce_to(struct nc_reduction *r, int root, int tag);

#endif
