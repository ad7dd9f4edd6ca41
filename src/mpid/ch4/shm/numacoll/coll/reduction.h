/* The elements of reduce and allreduce: what a kernel of nc_reduce.h does with MPI's types and
 * operations. */

#ifndef NUMACOLL_REDUCTION_H_INCLUDED
#define NUMACOLL_REDUCTION_H_INCLUDED

#include "../mpich/call.h"

/* A call's operands. Private to a rank. */
struct nc_reduction {
    const struct nc_call *call;
    struct nc_typed mine;   /* MPI_IN_PLACE is resolved: then it is the result */
    struct nc_typed result; /* if this rank has one */
    bool has_result;
    MPI_Op op;
    bool commutative;
    bool plain; /* elements are the same packed and not */
    MPI_Aint extent;
    size_t element; /* bytes, packed; 1 if there are none */
    bool fits;      /* an element fits the slots, of all nodes if there are several; the same on all
                       ranks */
    char *temporary; /* for elements that are not plain, as many as are joined at once, or NULL */
    void *allocated; /* ... as it was */
    struct nc_op_kernel kernel;
    const struct nc_route *route; /* inside the node, up */
};

/* Errors: no memory; the call is to be made all the same. */
int MPIDI_NUMACOLL_reduction_init(struct nc_reduction *r, const struct nc_call *call,
                                  const void *sendbuf, void *recvbuf, bool has_result,
                                  MPI_Aint count, MPI_Datatype datatype, MPI_Op op);
void MPIDI_NUMACOLL_reduction_free(struct nc_reduction *r);

/* Asks for the first lines of the operands ahead of their use, but the very first, which
 * reduction_init has: they may be far away. */
void MPIDI_NUMACOLL_expect_operands(const struct nc_reduction *r);

/* The error of a pure part that met another length. */
static inline int MPIDI_NUMACOLL_unequal_error(bool unequal)
{
    return unequal ? MPIDI_NUMACOLL_unequal(0, 1) : MPI_SUCCESS;
}

/* Where the root gathers what it combines: elements a rank gives at a time, of all ranks about a
 * chunk, at least one. */
size_t MPIDI_NUMACOLL_gathered_at_once(const struct nc_reduction *r);

/* The kernel's elements begin at element `first` of mine or of the result, and at `result`. */
static inline void MPIDI_NUMACOLL_operands_from(struct nc_reduction *r, const struct nc_typed *of,
                                                size_t first, char *result)
{
    r->kernel.mine = (const char *) of->buffer + (MPI_Aint) first * r->extent;
    r->kernel.result = result;
}

/* result := a op b, of n plain elements. The result is a or b; if it is a, b may be overwritten. An
 * error of MPI. */
int MPIDI_NUMACOLL_reduce_elements(const struct nc_reduction *r, const void *a, void *b,
                                   void *result, size_t n);

/* Elements first .. first + n - 1 of mine or of the result. */
struct nc_typed MPIDI_NUMACOLL_elements(const struct nc_reduction *r, const struct nc_typed *of,
                                        size_t first, size_t n);

#endif
