/* Operands and operation of a reduction: the op kernel that shm/nc_reduce.c calls, which combines
 * by MPIR_Reduce_local or, for numbers, by a function of core/nc_combine.h; and the memory it
 * needs. See reduction.h. */

#include "reduction.h"

#include "../shm/nc_reduce_shared.h"

struct nc_typed MPIDI_NUMACOLL_elements(const struct nc_reduction *r, const struct nc_typed *of,
                                        size_t first, size_t n)
{
    return (struct nc_typed){(char *) of->buffer + (MPI_Aint) first * r->extent, (MPI_Aint) n,
                             of->datatype};
}

/* ---- the op kernel: its functions are declared in struct nc_op_kernel ---- */

/* Elements first .. first + n - 1 of the buffer whose element 0 is at `from`. */
static struct nc_typed operand(const struct nc_reduction *r, const char *from, size_t first,
                               size_t n)
{
    struct nc_typed all = {(void *) from, 0, r->mine.datatype};

    return MPIDI_NUMACOLL_elements(r, &all, first, n);
}

static int own(void *context, size_t first, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed from = operand(r, r->kernel.mine, first, n);
    struct nc_typed to = operand(r, r->kernel.result, first, n);

    return from.buffer == to.buffer ? MPI_SUCCESS : MPIDI_NUMACOLL_copy_own(&from, &to, 0);
}

static int unpack(struct nc_typed *to, const void *packed, size_t bytes)
{
    struct nc_stream stream;

    MPIDI_NUMACOLL_stream_init(&stream, to);
    return nc_copy_out(&stream, packed, bytes, 0, NULL); /* shm/nc_reduce.c counts the traffic */
}

static int take(void *context, size_t first, const void *packed, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed to = operand(r, r->kernel.result, first, n);

    return unpack(&to, packed, n * r->element);
}

static int join(void *context, size_t first, const void *packed, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed to = operand(r, r->kernel.result, first, n);

    if (r->copies) {
        struct nc_typed temporary = {r->temporary, (MPI_Aint) n, r->mine.datatype};
        int mpi_errno = r->temporary ? unpack(&temporary, packed, n * r->element)
                                     : MPIDI_NUMACOLL_internal_error();
        if (mpi_errno != MPI_SUCCESS)
            return mpi_errno;
        packed = r->temporary;
    }
    return MPIR_Reduce_local(packed, to.buffer, (MPI_Aint) n, r->mine.datatype, r->op);
}

int MPIDI_NUMACOLL_reduce_elements(const struct nc_reduction *r, const void *a, void *b,
                                   void *result, size_t n)
{
    int mpi_errno;

    if (r->kernel.numbers) {
        r->kernel.numbers(result, a, b, n);
        return MPI_SUCCESS;
    }
    mpi_errno = MPIR_Reduce_local(a, b, (MPI_Aint) n, r->mine.datatype, r->op);
    if (mpi_errno == MPI_SUCCESS && result != b)
        memcpy(result, b, n * r->element);
    return mpi_errno;
}

static int reduce_packed(void *context, const void *packed, void *other, size_t n)
{
    return MPIDI_NUMACOLL_reduce_elements(context, packed, other, other, n);
}

/* ---- numbers ---- */

/* The kind of number of a datatype of MPI; false if it is none. Only datatypes that have a C type
 * of their own are listed. */
static bool number_of(MPI_Datatype datatype, enum nc_number *number)
{
#define NC_SIZED(name, type) \
    (sizeof(type) == 1   ? name##8 \
     : sizeof(type) == 2 ? name##16 \
     : sizeof(type) == 4 ? name##32 \
                         : name##64)
#define NC_CASE(datatype, kind) \
    case datatype: \
        *number = (kind); \
        return true;
#define NC_SIGNED(datatype, type)   NC_CASE(datatype, NC_SIZED(NC_INT, type))
#define NC_UNSIGNED(datatype, type) NC_CASE(datatype, NC_SIZED(NC_UINT, type))
#define NC_FLOATING(datatype) \
    NC_CASE(datatype, \
            MPIR_Datatype_get_basic_size(datatype) == sizeof(float) ? NC_FLOAT : NC_DOUBLE)
    switch (NC_RAW_TYPE(datatype)) {
        NC_SIGNED_TYPES(NC_SIGNED)
        NC_UNSIGNED_TYPES(NC_UNSIGNED)
        NC_FLOATING_TYPES(NC_FLOATING)
        default:
            return false;
    }
}

nc_combine *MPIDI_NUMACOLL_find_numbers(MPI_Op op, MPI_Datatype datatype, enum nc_combine_kind kind)
{
    static const MPI_Op ops[NC_OPS] = {
        [NC_SUM] = MPI_SUM,   [NC_PROD] = MPI_PROD, [NC_MAX] = MPI_MAX,  [NC_MIN] = MPI_MIN,
        [NC_BAND] = MPI_BAND, [NC_BOR] = MPI_BOR,   [NC_BXOR] = MPI_BXOR};
    enum nc_number number;

    /* compiler options can make Fortran's numbers larger than the C types assumed above */
    if (!number_of(datatype, &number) ||
        (size_t) MPIR_Datatype_get_basic_size(datatype) != nc_number_bytes(number))
        return NULL;
    for (int i = 0; i < NC_OPS; i++) {
        if (ops[i] == op)
            return nc_combine_find((enum nc_op) i, number, kind);
    }
    return NULL;
}

/* MPIDI_NUMACOLL_find_numbers for a builtin datatype; the last result is kept in the state, as a
 * call often has the operation and the datatype of the call before. It cannot become wrong: handles
 * of builtin datatypes and operations never change their meaning, and for a user's operation it is
 * NULL. */
static nc_combine *numbers(struct MPIDI_NUMACOLL_comm *state, MPI_Op op, MPI_Datatype datatype)
{
    if (state->numbers.op != op || state->numbers.datatype != datatype) {
        state->numbers.op = op;
        state->numbers.datatype = datatype;
        state->numbers.combine = MPIDI_NUMACOLL_find_numbers(op, datatype, NC_COMBINE_WIDE);
        state->numbers.streaming = MPIDI_NUMACOLL_find_numbers(op, datatype, NC_COMBINE_STREAMING);
    }
    return state->numbers.combine;
}

/* ---- the operands ---- */

/* For a type that is not builtin: nc_reduction.plain. All ranks decide by it who combines what.
 * They have the same type map, but may have made it in different ways, and so MPICH may call it
 * contiguous on some of them alone. */
static bool is_plain(MPI_Datatype datatype, MPI_Aint size, MPI_Aint extent, MPI_Aint true_lb,
                     MPI_Aint true_extent)
{
    int contiguous = 1;

    if (size != extent || true_lb != 0 || true_extent != size)
        return false;
    MPIR_Datatype_is_contig(datatype, &contiguous);
    return contiguous || MPIDI_NUMACOLL_is_in_order(datatype, size);
}

size_t MPIDI_NUMACOLL_gathered_at_once(const struct nc_reduction *r)
{
    size_t n = NC_CHUNK / ((size_t) r->call->comm->local_size * r->element);

    return n ? n : 1;
}

/* The largest number of elements that `join` gets at once. */
static size_t joined_at_once(const struct nc_reduction *r)
{
    size_t count = (size_t) r->mine.count,
           fragment = MPIDI_NUMACOLL_transfer(r->call)->largest_fragment;
    size_t n = MPIDI_NUMACOLL_gathered_at_once(r);
    size_t read = (fragment > NC_INLINE_BYTES ? fragment : NC_INLINE_BYTES) / r->element + 1;

    if (r->in_slots && (r->call->across ? r->plain && n < read : r->fits || n < read))
        n = read;
    return n < count ? n : count;
}

char *MPIDI_NUMACOLL_room(const struct nc_reduction *r, size_t n, void **allocated)
{
    /* an extent may be smaller than an element's span in memory, so that elements overlap, or
     * negative, so that they go down */
    size_t step = (size_t) (r->extent < 0 ? -r->extent : r->extent);
    MPI_Aint lb = 0, true_extent = 0;

    if (!MPIDI_NUMACOLL_is_builtin(r->mine.datatype))
        MPIR_Type_get_true_extent_impl(r->mine.datatype, &lb, &true_extent);
    *allocated = MPL_malloc((size_t) true_extent + n * step, MPL_MEM_COLL);
    if (!*allocated)
        return NULL;
    return (char *) *allocated - lb + (r->extent < 0 && n > 0 ? (n - 1) * step : 0);
}

static int make_temporary(struct nc_reduction *r)
{
    int mpi_errno = MPI_SUCCESS;

    r->temporary = MPIDI_NUMACOLL_room(r, joined_at_once(r), &r->allocated);
    MPIR_ERR_CHKANDJUMP(!r->temporary, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_fail:
    return mpi_errno;
}

int MPIDI_NUMACOLL_reduction_init(struct nc_reduction *r, const struct nc_call *call,
                                  const void *sendbuf, void *recvbuf, bool has_result,
                                  MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    MPI_Aint size, extent, lb = 0, true_extent = 0;
    bool builtin = MPIDI_NUMACOLL_is_builtin(datatype);
    nc_combine *combine = builtin ? numbers(call->state, op, datatype) : NULL;

    /* the rest of this function takes about as long as a cache miss */
    nc_copy_expect_written(recvbuf, 1);
    MPIR_Datatype_get_size_macro(datatype, size);
    extent = size;
    if (!builtin) {
        MPIR_Datatype_get_extent_macro(datatype, extent);
        MPIR_Type_get_true_extent_impl(datatype, &lb, &true_extent);
    }
    if (size == 0 || count < 0) /* MPICH does not refuse a negative count */
        count = 0;
    /* field by field: a compound literal would first fill this large struct with zeros */
    r->call = call;
    r->mine = (struct nc_typed){(void *) (sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf), count,
                                datatype};
    r->result = (struct nc_typed){recvbuf, count, datatype};
    r->has_result = has_result;
    r->op = op;
    r->commutative = combine || MPIR_Op_is_commutative(op);
    r->plain = builtin || size == 0 || is_plain(datatype, size, extent, lb, true_extent);
    r->copies = !r->plain || !HANDLE_IS_BUILTIN(op);
    r->extent = extent;
    r->element = size ? (size_t) size : 1;
    /* by the smallest slot: those of nodes may differ in size, and where a segment grows, the same
     * inputs must be combined in the same order as before */
    r->in_slots = r->element <= call->state->smallest_slot &&
                  (call->across ? r->element <= NC_CHUNK
                                : nc_reduce_fits(MPIDI_NUMACOLL_transfer(call), r->element));
    r->fits = r->in_slots && !call->state->in_rank_order;
    r->temporary = NULL;
    r->allocated = NULL;
    r->kernel.element = r->element;
    r->kernel.context = r;
    r->kernel.own = own;
    r->kernel.take = take;
    r->kernel.join = join;
    r->kernel.reduce_packed = reduce_packed;
    r->kernel.numbers = combine;
    r->kernel.numbers_streaming = NULL;
    r->route = &call->choice->reduce;
    MPIDI_NUMACOLL_operands_from(r, &r->mine, 0, recvbuf);
    /* of elements that are plain a leader has a node's result in a chunk */
    return r->copies && (has_result || r->plain) ? make_temporary(r) : MPI_SUCCESS;
}

void MPIDI_NUMACOLL_expect_operands(const struct nc_reduction *r)
{
    nc_copy_expect_read(r->mine.buffer, r->element * (size_t) r->mine.count);
    if (r->has_result)
        nc_copy_expect_written(r->result.buffer, r->element * (size_t) r->result.count);
}

void MPIDI_NUMACOLL_reduction_free(struct nc_reduction *r)
{
    MPL_free(r->allocated);
}

int MPIDI_NUMACOLL_reduce_shared(struct nc_reduction *r, int root, bool *over)
{
    struct MPIDI_NUMACOLL_comm *state = r->call->state;
    enum nc_shared_outcome outcome;
    int mpi_errno;

    MPIDI_NUMACOLL_result_is_final(r);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_reduce_shared_node(MPIDI_NUMACOLL_transfer(r->call), root, &state->row, &state->column,
                              &r->kernel, (size_t) r->mine.count, r->plain, &outcome));

    *over = outcome != NC_SHARED_ELSEWHERE;
    r->kernel.numbers_streaming = NULL;
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_unequal_error(outcome == NC_SHARED_UNEQUAL));
    return mpi_errno;
}
