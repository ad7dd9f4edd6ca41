#include "reduction.h"

struct nc_typed MPIDI_NUMACOLL_elements(const struct nc_reduction *r, const struct nc_typed *of, size_t first, size_t n)
{
    return (struct nc_typed) {(char *) of->buffer + (MPI_Aint) first * r->extent, (MPI_Aint) n, of->datatype};
}

/* ---- the combiner ---- */

static int own(void *context, size_t first, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed from = MPIDI_NUMACOLL_elements(r, &r->mine, r->before + first, n);
    struct nc_typed to = MPIDI_NUMACOLL_elements(r, &r->result, r->before + first, n);

    return r->in_place ? MPI_SUCCESS : MPIDI_NUMACOLL_copy_own(&from, &to);
}

static int unpack(const struct nc_reduction *r, struct nc_typed *to, const void *packed, size_t bytes)
{
    struct nc_stream stream;
    struct nc_ledger elsewhere; /* the combiner's caller counts */

    if (r->builtin) {
        stream.bytes = to->buffer;
        stream.length = bytes;
        stream.at = 0;
    } else {
        MPIDI_NUMACOLL_stream_init(&stream, to);
    }
    return nc_copy_out(&stream, packed, bytes, 0, &elsewhere);
}

static int take(void *context, size_t first, const void *packed, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed to = MPIDI_NUMACOLL_elements(r, &r->result, r->before + first, n);

    return unpack(r, &to, packed, n * r->element);
}

static int join(void *context, size_t first, const void *packed, size_t n)
{
    const struct nc_reduction *r = context;
    struct nc_typed to = MPIDI_NUMACOLL_elements(r, &r->result, r->before + first, n);

    if (!r->plain) {
        struct nc_typed temporary = {r->temporary, (MPI_Aint) n, r->mine.datatype};
        int mpi_errno = r->temporary ? unpack(r, &temporary, packed, n * r->element) : MPIDI_NUMACOLL_internal_error();
        if (mpi_errno != MPI_SUCCESS)
            return mpi_errno;
        packed = r->temporary;
    }
    return MPIR_Reduce_local(packed, to.buffer, (MPI_Aint) n, r->mine.datatype, r->op);
}

static int join_packed(void *context, const void *packed, void *other, size_t n)
{
    const struct nc_reduction *r = context;

    return MPIR_Reduce_local(packed, other, (MPI_Aint) n, r->mine.datatype, r->op);
}

/* ---- the operands ---- */

static bool is_plain(MPI_Datatype datatype, MPI_Aint size, MPI_Aint extent, MPI_Aint true_lb)
{
    int contiguous = 1;

    MPIR_Datatype_is_contig(datatype, &contiguous);
    return contiguous && size == extent && true_lb == 0;
}

size_t MPIDI_NUMACOLL_gathered_at_once(const struct nc_reduction *r)
{
    size_t n = NC_WINDOW / ((size_t) r->comm->local_size * r->element);

    return n ? n : 1;
}

/* Elements that are joined at once, at most. */
static size_t joined_at_once(const struct nc_reduction *r)
{
    size_t count = (size_t) r->mine.count, fragment = MPIDI_NUMACOLL_move(r->state)->largest_fragment;
    size_t n = MPIDI_NUMACOLL_gathered_at_once(r);

    if (r->fits && !MPIDI_NUMACOLL_is_across(r->comm))
        n = (fragment > NC_REDUCE_INLINE ? fragment : NC_REDUCE_INLINE) / r->element + 1;
    return n < count ? n : count;
}

/* Whatever the extent: the elements may lie in each other, or go down. */
static int make_temporary(struct nc_reduction *r, MPI_Aint lb, MPI_Aint true_extent)
{
    int mpi_errno = MPI_SUCCESS;
    size_t n = joined_at_once(r), step = (size_t) (r->extent < 0 ? -r->extent : r->extent);

    r->allocated = MPL_malloc((size_t) true_extent + n * step, MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!r->allocated, mpi_errno, MPI_ERR_OTHER, "**nomem");
    r->temporary = (char *) r->allocated - lb;
    if (r->extent < 0 && n > 0)
        r->temporary += (n - 1) * step;

  fn_fail:
    return mpi_errno;
}

int MPIDI_NUMACOLL_reduction_init(struct nc_reduction *r, const void *sendbuf, void *recvbuf, bool has_result, MPI_Aint count,
                                  MPI_Datatype datatype, MPI_Op op, MPIR_Comm * comm, NC_ERRFLAG_T errflag)
{
    MPI_Aint size, extent, lb = 0, true_extent = 0;
#ifdef MPL_HAVE_GPU
    bool builtin = false;
#else
    bool builtin = HANDLE_IS_BUILTIN(datatype);
#endif

    /* both may be far away, and what follows here takes as long as they do */
    __builtin_prefetch(sendbuf);
    __builtin_prefetch(recvbuf, 1);
    MPIR_Datatype_get_size_macro(datatype, size);
    extent = size;
    if (!builtin) {
        MPIR_Datatype_get_extent_macro(datatype, extent);
        MPIR_Type_get_true_extent_impl(datatype, &lb, &true_extent);
    }
    if (size == 0)
        count = 0;
    *r = (struct nc_reduction) {
        .state = MPIDI_NUMACOLL_home_state(comm),.comm = comm,.errflag = errflag,
        .mine = {(void *) (sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf), count, datatype},.result = {recvbuf, count, datatype},
        .has_result = has_result,.op = op,.in_place = sendbuf == MPI_IN_PLACE,.commutative = MPIR_Op_is_commutative(op),
        .builtin = builtin,.plain = builtin || is_plain(datatype, size, extent, lb),.extent = extent,.element = size ? (size_t) size : 1
    };
    /* on several nodes by what they have agreed on, for their slots may differ */
    r->fits = MPIDI_NUMACOLL_is_across(comm) ? r->element <= r->state->smallest_slot && r->element <= NC_WINDOW :
        nc_reduce_fits(MPIDI_NUMACOLL_move(r->state), r->element);
    r->route = &r->state->reduce[r->state->leaf + 1].route;
    r->combiner = (struct nc_combiner) {
        .element = r->element,.context = r,.own = own,.take = take,.join = join,.join_packed = join_packed
    };
    return r->plain || !has_result ? MPI_SUCCESS : make_temporary(r, lb, true_extent);
}

void MPIDI_NUMACOLL_expect_operands(const struct nc_reduction *r)
{
    size_t bytes = r->element * (size_t) r->result.count;
    const char *mine = r->mine.buffer, *result = r->result.buffer;

    for (size_t at = 64; at < bytes && at < NC_PREFETCHED; at += 64)
        __builtin_prefetch(mine + at);
    for (size_t at = 64; r->has_result && at < bytes && at < NC_PREFETCHED; at += 64)
        __builtin_prefetch(result + at, 1);
}

void MPIDI_NUMACOLL_reduction_free(struct nc_reduction *r)
{
    MPL_free(r->allocated);
}
