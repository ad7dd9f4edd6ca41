/* Reduce, Allreduce, Scan and Exscan among the ranks of one node, in shared memory, with a kernel
 * of coll/reduction.c; no MPI. The steps are nc_transfer's. PROTOCOLS.md, 3.5. */

#ifndef NC_REDUCE_H_INCLUDED
#define NC_REDUCE_H_INCLUDED

#include "../core/nc_combine.h"
#include "../core/nc_route.h"
#include "../core/nc_scan.h"
#include "nc_transfer.h"

/* The op kernel: what reduces elements, supplied by the caller. `packed` elements are in shared
 * memory, one behind the other. The context knows where this rank's own elements and the result
 * are; `first` is the number of the first element, counted from there. n: elements. All functions
 * return 0 or an error. */
struct nc_op_kernel {
    size_t element; /* bytes of a packed element; at most a slot, see nc_reduce_fits */
    void *context;
    int (*own)(void *context, size_t first, size_t n); /* result := this rank's elements */
    int (*take)(void *context, size_t first, const void *packed, size_t n); /* result := packed */
    int (*join)(void *context, size_t first, const void *packed,
                size_t n); /* result := packed op result */
    /* other := packed op other, where `other` is packed too. Only for elements that have the same
     * form packed and in the user's buffer */
    int (*reduce_packed)(void *context, const void *packed, void *other, size_t n);
    /* For elements that are numbers, one behind the other: the function that is used instead of the
     * four functions above. It saves a pass over the elements: the elements that are reduced first
     * need not be copied to the place of the result before. NULL for other elements. */
    nc_combine *numbers;
    /* For numbers: the same, with a result that goes past the caches. It is used where a long
     * result is written once, of two operands. NULL: the result is read again in the call. */
    nc_combine *numbers_streaming;
    const char *mine; /* for numbers: this rank's first element, at the beginning of its stream, or
                         NULL: they are not one behind the other; and the first of the result, if
                         this rank has one */
    char *result;
};

/* Whether elements of so many bytes can be reduced here: a fragment has at least one. */
static inline bool nc_reduce_fits(const struct nc_transfer *transfer, size_t element)
{
    return element <= transfer->largest_fragment;
}

/* For all functions: they reduce the rest of the streams `mine`, which must have the same number
 * of elements on all ranks; element 0 of the kernel is the first of that rest. Long messages are
 * pipelined by fragments of whole elements. Every rank of the node calls the function.
 *
 * *unequal: whether a message that this rank should have reduced had another length than its own;
 * such a message is left out. Returns 0, or the error of a copy or of the kernel; after it the
 * other ranks are still served.
 *
 * Source: Kurnosov 2023, ReduceGroup, with the slot protocol of PROTOCOLS.md. */

/* Up the trees of the route to the root: each rank reduces the messages of its children with its
 * own elements, and its parent reads the result. For commutative operations, and elements that have
 * the same form packed and in the user's buffer. */
int nc_reduce_tree_node(struct nc_transfer *transfer, struct nc_route *route, int root,
                        const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal);

/* Elements of a message. */
struct nc_range {
    size_t first, count; /* elements */
};

/* The slice of `whole` that rank i of a team combines where a message is reduced by slices. */
static inline struct nc_range nc_range_slice(const struct nc_range *whole,
                                             const struct nc_team *team, int i)
{
    size_t n = whole->count, size = (size_t) team->size;
    size_t begin = n * (size_t) i / size, end = n * (size_t) (i + 1) / size;

    return (struct nc_range){whole->first + begin, end - begin};
}

/* For nc_reduce_scatter_node: whether a rank may keep its own elements in a message of so many
 * bytes. */
static inline bool nc_reduce_keeps(size_t bytes)
{
    return bytes > NC_INLINE_BYTES;
}

/* In the order of a team: a0 op (a1 op (a2 ..)). The root, a rank of the team, does it; or, if root
 * is -1, every rank of the team does it for itself. Only elements first .. first + count - 1 of the
 * range are reduced. All ranks of the node call it in the same operation, each with its own team;
 * no rank is in two teams. A rank that is in no team calls nc_queue_end instead. */
int nc_reduce_ordered_node(struct nc_transfer *transfer, const struct nc_team *team, int root,
                           const struct nc_op_kernel *kernel, struct nc_stream *mine,
                           const struct nc_range *range, bool *unequal);

/* As nc_reduce_ordered_node to every rank of the team, where no two ranks have an element of their
 * ranges in common. Where the kernel's result of an element lies is the caller's matter; it may be
 * the operand's place of an element before, if that is in the stream.
 *
 * keeps: the stream `mine` lacks this rank's own range, which nobody else reads. nc_reduce_keeps
 * must allow it, elements must have the same form packed and in the user's buffer, and those of the
 * range must be at kernel->mine, also while the result is written. Each rank decides for itself. */
int nc_reduce_scatter_node(struct nc_transfer *transfer, const struct nc_team *team,
                           const struct nc_op_kernel *kernel, struct nc_stream *mine,
                           const struct nc_range *range, bool keeps, bool *unequal);

/* For nc_reduce_pair_node: whether the blocks of both ranks fit control slots. In bytes. */
static inline bool nc_reduce_fits_pair(size_t block, size_t other_block)
{
    return block <= NC_INLINE_BYTES && other_block <= NC_INLINE_BYTES;
}

/* As nc_reduce_scatter_node, for a team of two ranks whose ranges are so short that
 * nc_reduce_fits_pair allows it; elements and operation may be any. theirs: this rank's elements of
 * the other rank's range; own: those of its own range, which for numbers are at kernel->mine as
 * well. *unequal: whether the other rank's message is not as long as this rank's own range. */
int nc_reduce_pair_node(struct nc_transfer *transfer, const struct nc_team *team,
                        const struct nc_op_kernel *kernel, struct nc_stream *theirs,
                        struct nc_stream *own, const struct nc_range *range, bool *unequal);

/* One step of a scan. The readers get the rest of the stream `mine`; the result of this rank is
 * what its sources send, combined in their order, and behind it, if it joins, the kernel's own
 * elements, which need not be those of the stream. Without sources the result is the own elements,
 * or, if it does not join, is left as it is. The lists must stay in place as long as lists of
 * readers. A rank whose step is empty makes the operation, too. */
int nc_scan_step_node(struct nc_transfer *transfer, const struct nc_scan_step *step,
                      const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal);

/* A scan along the chain of all ranks, of messages that are longer than NC_INLINE_BYTES, and of
 * elements that have the same form packed and in the user's buffer: each rank hands on what the
 * rank before it has handed on, combined with its own elements. That is its result, or, if
 * `exclusive`, what the rank before it has handed on; rank 0 has none then. */
int nc_scan_chain_node(struct nc_transfer *transfer, bool exclusive,
                       const struct nc_op_kernel *kernel, struct nc_stream *mine, bool *unequal);

#endif
