/* Buffers of the user as streams: of any datatype; the blocks of gather, scatter, allgather and
 * their v forms; several blocks one behind the other. The bodies in coll/ make the streams,
 * shm/nc_copy.c walks them. */

#ifndef NUMACOLL_BUFFER_H_INCLUDED
#define NUMACOLL_BUFFER_H_INCLUDED

#include "mpidimpl.h"
#include "compat.h"
#include "../shm/nc_copy.h"

/* A buffer of the user. */
struct nc_typed {
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
};

/* Whether this is one of MPI's own types, which have no gaps, in memory that the processor can
 * reach. */
static inline bool MPIDI_NUMACOLL_is_builtin(MPI_Datatype datatype)
{
#ifdef MPL_HAVE_GPU
    return false;
#else
    return HANDLE_IS_BUILTIN(datatype);
#endif
}

/* Whether elements of this type have no bytes: none of MPI's own types. */
static inline bool MPIDI_NUMACOLL_has_no_bytes(MPI_Datatype datatype)
{
    MPI_Aint size;

    if (HANDLE_IS_BUILTIN(datatype))
        return false;
    MPIR_Datatype_get_size_macro(datatype, size);
    return size == 0;
}

/* Whether an element of a type of `size` bytes without gaps has its bytes in memory in the order in
 * which they are packed: whether each of its pieces begins where the one before it ends. Takes time
 * for each piece. */
bool MPIDI_NUMACOLL_is_in_order(MPI_Datatype datatype, MPI_Aint size);

/* The part of MPIDI_NUMACOLL_stream_init for types that are not builtin. */
void MPIDI_NUMACOLL_stream_init_typed(struct nc_stream *stream, struct nc_typed *typed);

/* A user buffer as a stream. `typed` must live as long as the stream. */
static inline void MPIDI_NUMACOLL_stream_init(struct nc_stream *stream, struct nc_typed *typed)
{
    if (!MPIDI_NUMACOLL_is_builtin(typed->datatype)) {
        MPIDI_NUMACOLL_stream_init_typed(stream, typed);
    } else {
        stream->length = (size_t) MPIR_Datatype_get_basic_size(typed->datatype) *
                         (size_t) typed->count;
        stream->at = 0;
        stream->bytes = stream->length ? typed->buffer : (char *) stream;
    }
}

/* The error of lengths that differ, in bytes: MPI_ERR_TRUNCATE if more was sent than expected,
 * **collective_size_mismatch if less. */
int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected);

/* MPI_SUCCESS if `sent`, in bytes, is the length of the stream. */
static inline int MPIDI_NUMACOLL_compare_lengths(size_t sent, const struct nc_stream *stream)
{
    return sent == stream->length ? MPI_SUCCESS : MPIDI_NUMACOLL_unequal(sent, stream->length);
}

/* MPI_SUCCESS if `sent` bytes fit the stream. Less is no error in gather, scatter, allgather and
 * their v forms, as the messages that MPICH makes of them may be shorter than the receive buffer.
 */
static inline int MPIDI_NUMACOLL_check_room(size_t sent, const struct nc_stream *stream)
{
    return sent <= stream->length ? MPI_SUCCESS : MPIDI_NUMACOLL_unequal(sent, stream->length);
}

/* Copies the block that a rank sends to itself. how: bits of nc_copy_how, for elements without
 * gaps. MPI_ERR_TRUNCATE if it does not fit. */
int MPIDI_NUMACOLL_copy_own(const struct nc_typed *from, const struct nc_typed *to, int how);

/* ---- blocks ---- */

/* One block for each rank, in one buffer. */
struct nc_blocks {
    void *buffer;
    MPI_Aint count; /* elements of each block, where `counts` is NULL */
    /* of a v form: [ranks] elements, and [ranks] extents of the datatype from the buffer's start */
    const MPI_Aint *counts, *displs;
    MPI_Datatype datatype;
    /* of alltoallw: [ranks] used instead of `datatype`, and `displs` are bytes; else NULL */
    const MPI_Datatype *datatypes;
};

/* The bytes of the block of one rank. */
static inline size_t MPIDI_NUMACOLL_block_bytes(const struct nc_blocks *blocks, int rank)
{
    MPI_Aint count = blocks->counts ? blocks->counts[rank] : blocks->count, size;

    if (count == 0) /* MPICH does not check the type then */
        return 0;
    MPIR_Datatype_get_size_macro(blocks->datatypes ? blocks->datatypes[rank] : blocks->datatype,
                                 size);
    return (size_t) (size * count);
}

/* The block of one rank. Inline, because the root of a gather or scatter asks for the blocks of all
 * ranks before it serves the first. */
static inline struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *b, int rank)
{
    /* unsigned, which may overflow: a block without bytes may be anywhere */
    uintptr_t at = b->counts ? (uintptr_t) b->displs[rank]
                             : (uintptr_t) rank * (uintptr_t) b->count;
    MPI_Aint extent = 1;

    if (!b->datatypes)
        MPIR_Datatype_get_extent_macro(b->datatype, extent);
    return (struct nc_typed){(void *) ((uintptr_t) b->buffer + at * (uintptr_t) extent),
                             b->counts ? b->counts[rank] : b->count,
                             b->datatypes ? b->datatypes[rank] : b->datatype};
}

/* `ranks` of the ranks in rank[size], from rank[first] on, round; first <= size. */
struct nc_round {
    const int *rank;
    int size, first, ranks;
};

static inline int nc_round_rank(const struct nc_round *r, int i)
{
    i += r->first;
    return r->rank[i < r->size ? i : i - r->size];
}

/* The blocks of several ranks, one behind the other, as one stream: the state of that stream. */
struct nc_row {
    const struct nc_blocks *blocks;
    struct nc_round whose; /* in the order of the stream */
    int begun;             /* blocks begun so far; the stream is in the last of them */
    struct nc_typed typed;
    struct nc_stream stream; /* of that block */
};

/* Makes a stream of the blocks of some ranks. row, blocks and whose.rank must live as long as the
 * stream. */
void MPIDI_NUMACOLL_row_init(struct nc_stream *stream, struct nc_row *row,
                             const struct nc_blocks *blocks, struct nc_round whose);

#endif
