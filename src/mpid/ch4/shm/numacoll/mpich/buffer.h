/* Buffers of the user as rows of bytes: of any datatype; the blocks of gather, scatter, allgather
 * and their v forms, one for each rank; several of these one behind the other. */

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

/* One of MPI's types, without gaps, where the processor reaches it. */
static inline bool MPIDI_NUMACOLL_is_builtin(MPI_Datatype datatype)
{
#ifdef MPL_HAVE_GPU
    return false;
#else
    return HANDLE_IS_BUILTIN(datatype);
#endif
}

/* A stream of any type; for stream_init. */
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

/* The error of lengths that differ, bytes: MPI_ERR_TRUNCATE, **collective_size_mismatch. */
int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected);

/* MPI_SUCCESS if as many bytes were sent as the stream expects. */
static inline int MPIDI_NUMACOLL_compare_lengths(size_t sent, const struct nc_stream *stream)
{
    return sent == stream->length ? MPI_SUCCESS : MPIDI_NUMACOLL_unequal(sent, stream->length);
}

/* What a rank keeps for itself. Errors: lengths that differ. */
int MPIDI_NUMACOLL_copy_own(const struct nc_typed *from, const struct nc_typed *to);

/* ---- blocks ---- */

struct nc_blocks {
    void *buffer;
    MPI_Aint count;                  /* elements of each; or, of a v form: */
    const MPI_Aint *counts, *displs; /* [ranks] elements, and extents from the buffer's start */
    MPI_Datatype datatype;
};

/* The block of one rank. */
struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *blocks, int rank);

/* Blocks of several ranks, one behind the other, as one stream. */
struct nc_row {
    const struct nc_blocks *blocks;
    const int *rank; /* [ranks] */
    int ranks;
    int begun; /* the block of rank[begun - 1] is being walked */
    struct nc_typed typed;
    struct nc_stream stream; /* of it */
};

/* row, blocks and rank must live as long as the stream. */
void MPIDI_NUMACOLL_row_init(struct nc_stream *stream, struct nc_row *row,
                             const struct nc_blocks *blocks, const int *rank, int ranks);

#endif
