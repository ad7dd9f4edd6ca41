#include "blocks.h"

struct nc_typed MPIDI_NUMACOLL_block(const struct nc_blocks *b, int rank)
{
    MPI_Aint extent;

    MPIR_Datatype_get_extent_macro(b->datatype, extent);
    if (b->counts)
        return (struct nc_typed){(char *) b->buffer + b->displs[rank] * extent, b->counts[rank],
                                 b->datatype};
    return (struct nc_typed){(char *) b->buffer + rank * b->count * extent, b->count, b->datatype};
}

const int *MPIDI_NUMACOLL_members(const struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *comm)
{
    const struct nc_hierarchy *h = &state->all;

    return MPIDI_NUMACOLL_is_across(comm) ? h->member + h->first[h->node] : state->queue.everybody;
}

struct nc_stream *MPIDI_NUMACOLL_block_streams(struct MPIDI_NUMACOLL_comm *state,
                                               const struct nc_blocks *b, const int *member)
{
    for (int i = 0; i < state->size; i++) {
        if (i == state->rank)
            continue;
        state->typed[i] = MPIDI_NUMACOLL_block(b, member[i]);
        MPIDI_NUMACOLL_stream_init(&state->stream[i], &state->typed[i]);
    }
    return state->stream;
}

/* ---- rows ---- */

/* The block being walked, or the next that is not empty. */
static struct nc_stream *block_at(struct nc_row *row)
{
    while (nc_stream_rest(&row->stream) == 0 && row->begun < row->ranks) {
        row->typed = MPIDI_NUMACOLL_block(row->blocks, row->rank[row->begun++]);
        MPIDI_NUMACOLL_stream_init(&row->stream, &row->typed);
    }
    return &row->stream;
}

static int walk(struct nc_row *row, char *packed, size_t max, size_t *moved,
                int (*copy)(struct nc_stream *stream, char *packed, size_t n))
{
    int error = 0;

    for (*moved = 0; *moved < max && !error;) {
        struct nc_stream *stream = block_at(row);
        size_t n = nc_stream_rest(stream) < max - *moved ? nc_stream_rest(stream) : max - *moved;
        if (n == 0)
            break;
        error = copy(stream, packed + *moved, n);
        *moved += n;
    }
    return error;
}

/* Between the user and packed bytes, which are shared memory only one level up: counted there. */
static int in(struct nc_stream *stream, char *packed, size_t n)
{
    struct nc_ledger elsewhere;

    return nc_copy_in(stream, packed, n, 0, &elsewhere);
}

static int out(struct nc_stream *stream, char *packed, size_t n)
{
    struct nc_ledger elsewhere;

    return nc_copy_out(stream, packed, n, 0, &elsewhere);
}

/* As movers of a stream. Each block minds its own elements: always all of max. */
static int pack_row(void *user, size_t offset, void *packed, size_t max, size_t *moved)
{
    return walk(user, packed, max, moved, in);
}

static int unpack_row(void *user, size_t offset, void *packed, size_t max, size_t *moved)
{
    return walk(user, packed, max, moved, out);
}

void MPIDI_NUMACOLL_row_init(struct nc_stream *stream, struct nc_row *row,
                             const struct nc_blocks *b, const int *rank, int ranks)
{
    MPI_Aint size, elements = 0;

    MPIR_Datatype_get_size_macro(b->datatype, size);
    for (int i = 0; i < ranks; i++)
        elements += b->counts ? b->counts[rank[i]] : b->count;
    *row = (struct nc_row){.blocks = b, .rank = rank, .ranks = ranks};
    *stream = (struct nc_stream){
        .pack = pack_row, .unpack = unpack_row, .user = row, .length = (size_t) (size * elements)};
}

int MPIDI_NUMACOLL_internal_error(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_INTERN, "**fail");

fn_fail:
    return mpi_errno;
}
