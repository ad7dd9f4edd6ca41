/* Reduce inside another collective, which is the one that is counted. */

#ifndef NUMACOLL_REDUCE_H_INCLUDED
#define NUMACOLL_REDUCE_H_INCLUDED

#include "reduction.h"

/* Reduce to a rank of this node, inside it; also what is left of a stream. */
int MPIDI_NUMACOLL_reduce_inside(struct nc_reduction *r, int local_root, struct nc_stream *mine);

/* Of elements first .. first + n - 1; the result of those, if this rank has it, begins at `result`.
 */
int MPIDI_NUMACOLL_reduce_chunk(struct nc_reduction *r, int local_root, size_t first, size_t n,
                                char *result);

/* Reduce, to a rank of the communicator; of a call of either kind, so that the tag is the caller's.
 */
int MPIDI_NUMACOLL_reduce_to(struct nc_reduction *r, int root, int tag);

#endif
