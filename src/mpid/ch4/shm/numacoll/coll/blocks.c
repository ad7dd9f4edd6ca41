#include "blocks.h"

struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *b, int rank)
{
    MPI_Aint extent;

    MPIR_Datatype_get_extent_macro(b->datatype, extent);
    if (b->counts)
        return (struct nc_typed) {(char *) b->buffer + b->displs[rank] * extent, b->counts[rank], b->datatype};
    return (struct nc_typed) {(char *) b->buffer + rank * b->count * extent, b->count, b->datatype};
}

struct nc_stream *MPIDI_NUMACOLL_block_streams(struct MPIDI_NUMACOLL_comm *state, const struct nc_blocks *b)
{
    for (int i = 0; i < state->size; i++) {
        if (i == state->rank)
            continue;
        state->typed[i] = MPIDI_NUMACOLL_block(b, i);
        MPIDI_NUMACOLL_stream_init(&state->stream[i], &state->typed[i]);
    }
    return state->stream;
}

int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected)
{
    int mpi_errno = MPI_SUCCESS;

    if (sent > expected)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_TRUNCATE, "**truncate", "**truncate %d %d", (int) sent, (int) expected);
    MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch", "**collective_size_mismatch %d %d", (int) sent,
                         (int) expected);

  fn_fail:
    return mpi_errno;
}

int MPIDI_NUMACOLL_internal_error(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_INTERN, "**fail");

  fn_fail:
    return mpi_errno;
}
