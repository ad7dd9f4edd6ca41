/* The blocks of a buffer, one for each rank, as gather, scatter, allgather and their v forms give them. */

#ifndef NUMACOLL_BLOCKS_H_INCLUDED
#define NUMACOLL_BLOCKS_H_INCLUDED

#include "../glue/numacoll.h"

struct nc_blocks {
    void *buffer;
    MPI_Aint count;             /* elements of each; or, of a v form: */
    const MPI_Aint *counts, *displs;    /* [ranks] elements, and extents from the buffer's start */
    MPI_Datatype datatype;
};

/* The block of one rank. */
struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *blocks, int rank);

/* Streams of all blocks but this rank's, in the state's memory. */
struct nc_stream *MPIDI_NUMACOLL_block_streams(struct MPIDI_NUMACOLL_comm *state, const struct nc_blocks *blocks);

/* The error of lengths that differ: MPI_ERR_TRUNCATE, **collective_size_mismatch. */
int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected);

/* MPI_SUCCESS if as many bytes were sent as the stream expects. */
static inline int MPIDI_NUMACOLL_compare_lengths(size_t sent, const struct nc_stream *stream)
{
    return sent == stream->length ? MPI_SUCCESS : MPIDI_NUMACOLL_unequal(sent, stream->length);
}

/* The error of a pure part as MPICH's: it is one of MPICH's, or negative. */
int MPIDI_NUMACOLL_internal_error(void);

static inline int MPIDI_NUMACOLL_error(int error)
{
    return error >= 0 ? error : MPIDI_NUMACOLL_internal_error();
}

/* Of several errors the first is returned, but all parts are done: other ranks count on them. */
static inline void MPIDI_NUMACOLL_keep_first(int *mpi_errno, int next)
{
    if (*mpi_errno == MPI_SUCCESS)
        *mpi_errno = next;
}

#endif
