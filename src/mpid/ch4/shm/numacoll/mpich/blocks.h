/* The blocks of a buffer, one for each rank, as gather, scatter, allgather and their v forms give
 * them. */

#ifndef NUMACOLL_BLOCKS_H_INCLUDED
#define NUMACOLL_BLOCKS_H_INCLUDED

#include "numacoll.h"

struct nc_blocks {
    void *buffer;
    MPI_Aint count;                  /* elements of each; or, of a v form: */
    const MPI_Aint *counts, *displs; /* [ranks] elements, and extents from the buffer's start */
    MPI_Datatype datatype;
};

/* The block of one rank. */
struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *blocks, int rank);

/* The ranks of this node in the communicator, in their order. */
const int *MPIDI_NUMACOLL_members(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm);

/* Whether the communicator has processes on other nodes. */
static inline bool MPIDI_NUMACOLL_is_across(MPIR_Comm *comm)
{
    return !MPIDI_POSIX_COMM(comm, numacoll_home) && comm->node_count > 1;
}

/* Streams of the blocks of this node's ranks but this one's, in the state's memory. */
struct nc_stream *MPIDI_NUMACOLL_block_streams(struct MPIDI_NUMACOLL_comm *state,
                                               const struct nc_blocks *blocks, const int *member);

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

/* Gather and Bcast inside another collective, which is the one that is counted. */
int MPIDI_NUMACOLL_gather_blocks(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *mine,
                                 const struct nc_blocks *blocks, int root, int tag, MPIR_Comm *comm,
                                 NC_ERRFLAG_T errflag);
int MPIDI_NUMACOLL_bcast_typed(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root,
                               MPIR_Comm *comm, NC_ERRFLAG_T errflag);

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
