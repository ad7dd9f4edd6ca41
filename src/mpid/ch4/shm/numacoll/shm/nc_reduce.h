/* Reduce and allreduce among ranks that share a segment: no MPI. */

#ifndef NC_REDUCE_H_INCLUDED
#define NC_REDUCE_H_INCLUDED

#include "../core/nc_combine.h"
#include "../core/nc_route.h"
#include "nc_transfer.h"

/* What is done to elements. `packed` ones are in shared memory, one behind the other; those of this
 * rank, and the result, are the context's, by the number of the first. 0 or an error. */
struct nc_op_kernel {
    size_t element; /* bytes of a packed one; at most a slot, see nc_reduce_fits */
    void *context;
    int (*own)(void *context, size_t first, size_t n); /* result := this rank's */
    int (*take)(void *context, size_t first, const void *packed, size_t n); /* result := packed */
    int (*join)(void *context, size_t first, const void *packed,
                size_t n); /* result := packed op result */
    /* other := packed op other, which is packed too; only for elements that are the same packed and
     * not */
    int (*reduce_packed)(void *context, const void *packed, void *other, size_t n);
    /* Where elements are numbers, one behind the other, this is done here instead of all those: a
     * pass less over what is combined first. Else NULL. */
    nc_combine *numbers;
    const char *mine; /* ... this rank's first one, at the begin of its stream, and the result's, if
                         it has one */
    char *result;
};

static inline bool nc_reduce_fits(const struct nc_transfer *transfer, size_t element)
{
    return element <= transfer->largest_fragment;
}

/* Bytes that go inline: in a payload elements begin where malloc might put them, at a multiple
 * of 16. A user's operation may be given a type that needs it, and so is __float128. */
#define NC_REDUCE_PAD    8
#define NC_REDUCE_INLINE (NC_INLINE_BYTES - NC_REDUCE_PAD)

/* Both combine the rest of the streams `mine`, of as many elements on all ranks; the elements the
 * kernel counts begin there. *unequal: another rank's length was not mine; it was left out. 0, or
 * the error of a wait, a copy, or the kernel; after one of the last two the other ranks are still
 * served. Pipelined by fragments of whole elements. Source: Kurnosov 2023, ReduceGroup, with the
 * slot protocol of PROTOCOLS.md. */

/* Up the trees to the root: each rank adds what its children send to what it has. For commutative
 * operations, and elements that are the same packed. */
int nc_reduce_tree_node(struct nc_transfer *transfer, const struct nc_route *route, int root,
                        const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal);

/* In the order of a team, a0 op (a1 op (a2 ..)), by the root, who is one of it, or, root -1, by
 * every rank of it for itself. Of the elements first .. first + count - 1 there is a result. All
 * ranks of the node make it one operation, each with its team; no rank is in two. */
struct nc_range {
    size_t first, count;
};
int nc_reduce_ordered_node(struct nc_transfer *transfer, const struct nc_team *team, int root,
                           const struct nc_op_kernel *kernel, struct nc_stream *mine,
                           const struct nc_range *range, bool *unequal);

#endif
