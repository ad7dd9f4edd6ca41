/* Operands and operation of a reduction: what the op kernel of shm/nc_reduce.h does with MPI's
 * datatypes and operations. A collective that reduces makes a struct nc_reduction for each call;
 * above.c combines by it what comes from other nodes. */

#ifndef NUMACOLL_REDUCTION_H_INCLUDED
#define NUMACOLL_REDUCTION_H_INCLUDED

#include "../mpich/call.h"
#include "../shm/nc_reduce.h"

/* A call's operands and operation. Private to a rank. */
struct nc_reduction {
    const struct nc_call *call;
    struct nc_typed mine;   /* this rank's operand; with MPI_IN_PLACE the result buffer */
    struct nc_typed result; /* if has_result */
    bool has_result;
    MPI_Op op;
    bool commutative;
    bool plain;      /* elements have the same bytes in the user's buffer as packed; the same on all
                        ranks, as it follows from the type map */
    MPI_Aint extent; /* of an element in the user's buffers, bytes; may be negative */
    size_t element;  /* bytes of a packed element; 1 if it has none */
    /* an element fits a slot (of all nodes, at set-up), and any order will do; the same on all
     * ranks. If not, the root gathers the operands, and combines them in the order of ranks */
    bool fits;
    bool in_slots; /* the first of the two; a scan is in the order of ranks in any case */
    /* A join copies the operand of another rank before: it has to unpack it, or the operation is
     * user-defined and may write into its first operand, where other ranks read it as well */
    bool copies;
    char *temporary; /* room for that copy; or NULL */
    void *allocated; /* what to free for `temporary` */
    struct nc_op_kernel kernel;
    struct nc_route *route; /* the trees inside the node */
};

/* Fills *r on this rank. sendbuf may be MPI_IN_PLACE. has_result: recvbuf gets the result on this
 * rank. Errors: no memory for `temporary`; the caller must make the call nevertheless, because
 * other ranks wait, and the joins of this rank then fail. */
int MPIDI_NUMACOLL_reduction_init(struct nc_reduction *r, const struct nc_call *call,
                                  const void *sendbuf, void *recvbuf, bool has_result,
                                  MPI_Aint count, MPI_Datatype datatype, MPI_Op op);
void MPIDI_NUMACOLL_reduction_free(struct nc_reduction *r);

/* The function that combines numbers of this builtin datatype by this operation; NULL: there is
 * none.
 */
nc_combine *MPIDI_NUMACOLL_find_numbers(MPI_Op op, MPI_Datatype datatype,
                                        enum nc_combine_kind kind);

/* Memory for n elements as they are in the user's buffers: where the first of them is; NULL: no
 * memory. *allocated is what to free. */
char *MPIDI_NUMACOLL_room(const struct nc_reduction *r, size_t n, void **allocated);

/* Prefetches the first cache lines of operand and result; entry.c and reduction_init have begun
 * with the very first. */
void MPIDI_NUMACOLL_expect_operands(const struct nc_reduction *r);

/* The MPI error for `unequal` of the functions in shm/nc_reduce.h. */
static inline int MPIDI_NUMACOLL_unequal_error(bool unequal)
{
    return unequal ? MPIDI_NUMACOLL_unequal(0, 1) : MPI_SUCCESS;
}

/* Whether to ask if the ranks have shared buffers, to reduce straight out of them: the messages are
 * long, and all NUMA nodes have the same number of ranks (else column.size is 0). All ranks decide
 * alike if their counts are equal. */
static inline bool MPIDI_NUMACOLL_may_be_shared(const struct nc_reduction *r)
{
    const struct nc_direct *direct = MPIDI_NUMACOLL_transfer(r->call)->direct;

    return direct && direct->shared && !r->call->across && r->fits && r->commutative &&
           r->call->state->column.size > 0 && r->element * (size_t) r->mine.count > direct->above;
}

/* Reduces straight out of shared buffers, if all ranks have them, to `root` or, if that is -1, to
 * all ranks. *over: the call is over, with a result or an error; if not, it is to be served in
 * another way. */
int MPIDI_NUMACOLL_reduce_shared(struct nc_reduction *r, int root, bool *over);

/* Where the root gathers what it combines: the elements that each rank gives at a time. Of all
 * ranks together they are about NC_CHUNK bytes; at least one. */
size_t MPIDI_NUMACOLL_gathered_at_once(const struct nc_reduction *r);

/* Elements of a chunk inside a node: as many as fit the slots of a send ring, at least one. */
static inline size_t MPIDI_NUMACOLL_ring_elements(const struct nc_reduction *r)
{
    const struct nc_geometry *g = &r->call->state->queue.geometry;
    size_t n = (size_t) g->slots * g->slot_bytes / r->element;

    return n ? n : 1;
}

/* Sets where the kernel's element 0 is: this rank's operand at element `first` of `of` (r->mine or
 * r->result), the result at `result`. */
static inline void MPIDI_NUMACOLL_operands_from(struct nc_reduction *r, const struct nc_typed *of,
                                                size_t first, char *result)
{
    r->kernel.mine = (const char *) of->buffer + (MPI_Aint) first * r->extent;
    r->kernel.result = result;
}

/* To be called where what the node combines next is the call's result, and is not read again: a
 * long one may then go past the caches. */
static inline void MPIDI_NUMACOLL_result_is_final(struct nc_reduction *r)
{
    if (r->kernel.numbers)
        r->kernel.numbers_streaming = r->call->state->numbers.streaming;
}

/* result := a op b, for n plain elements. `result` is a or b; if it is a, b may be overwritten.
 * Returns an error of MPICH. */
int MPIDI_NUMACOLL_reduce_elements(const struct nc_reduction *r, const void *a, void *b,
                                   void *result, size_t n);

/* Elements first .. first + n - 1 of `of`, which is r->mine or r->result. */
struct nc_typed MPIDI_NUMACOLL_elements(const struct nc_reduction *r, const struct nc_typed *of,
                                        size_t first, size_t n);

#endif
