/* Buffers of the user as streams: how the bytes of a datatype, or of several blocks, are reached.
 * See buffer.h. shm/nc_copy.c calls the movers here (pack, unpack) for datatypes that are not
 * contiguous. */

#include "buffer.h"

#include <limits.h>

/* The two movers of a stream of one datatype, by MPICH's engine. user: a struct nc_typed. */
static int pack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    struct nc_typed *t = user;
    MPI_Aint actual = 0;
    int mpi_errno = NC_TYPEREP_PACK(t->buffer, t->count, t->datatype, (MPI_Aint) offset, packed,
                                    (MPI_Aint) max, &actual);

    (void) how;
    *moved = (size_t) actual;
    return mpi_errno;
}

static int unpack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    struct nc_typed *t = user;
    MPI_Aint actual = 0;
    int mpi_errno = NC_TYPEREP_UNPACK(packed, (MPI_Aint) max, t->buffer, t->count, t->datatype,
                                      (MPI_Aint) offset, &actual);

    (void) how;
    *moved = (size_t) actual;
    return mpi_errno;
}

/* Whether the elements of a type that is not builtin lie side by side, and where the first begins.
 * Ranks may answer differently: the answer changes how this process reaches the bytes, and nothing
 * that other ranks see. */
static bool plain_bytes(MPI_Datatype datatype, MPI_Aint *true_lb)
{
#ifdef MPL_HAVE_GPU
    *true_lb = 0;
    return false;
#else
    MPIR_Datatype *type;

    MPIR_Datatype_get_ptr(datatype, type);
    *true_lb = type->true_lb;
    return type->is_contig;
#endif
}

void MPIDI_NUMACOLL_stream_init_typed(struct nc_stream *stream, struct nc_typed *typed)
{
    MPI_Aint size, true_lb;

    stream->at = 0;
    if (typed->count == 0) { /* MPICH does not check the type then: it may be MPI_DATATYPE_NULL */
        stream->length = 0;
        stream->bytes = (char *) stream;
        return;
    }
    MPIR_Datatype_get_size_macro(typed->datatype, size);
    stream->length = (size_t) (size * typed->count);
    if (plain_bytes(typed->datatype, &true_lb)) {
        stream->bytes = stream->length ? MPIR_get_contig_ptr(typed->buffer, true_lb)
                                       : (char *) stream;
    } else {
        stream->bytes = NULL;
        stream->pack = pack;
        stream->unpack = unpack;
        stream->can_stream = false;
        stream->user = typed;
        stream->moved = 0;
        stream->held_bytes = 0;
    }
}

bool MPIDI_NUMACOLL_is_in_order(MPI_Datatype datatype, MPI_Aint size)
{
    enum { AT_ONCE = 64 };
    struct iovec piece[AT_ONCE];
    MPI_Aint at = 0, n, bytes;

    /* by bytes: MPICH's function that begins at a piece skips wrongly in types of types */
    do {
        if (MPIR_Typerep_to_iov(NULL, 1, datatype, at, piece, AT_ONCE, size - at, &n, &bytes))
            return false; /* with these arguments there is no error */
        for (MPI_Aint i = 0; i < n; i++) {
            if ((MPI_Aint) (intptr_t) piece[i].iov_base != at)
                return false;
            at += (MPI_Aint) piece[i].iov_len;
        }
    } while (n > 0 && at < size);
    return at == size;
}

/* As an int, because MPICH's error messages print lengths with %d. */
static int printable(size_t bytes)
{
    return bytes < INT_MAX ? (int) bytes : INT_MAX;
}

int MPIDI_NUMACOLL_unequal(size_t sent, size_t expected)
{
    int mpi_errno = MPI_SUCCESS;

    if (sent > expected)
        MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_TRUNCATE, "**truncate", "**truncate %d %d",
                             printable(sent), printable(expected));
    MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                         "**collective_size_mismatch %d %d", printable(sent), printable(expected));

fn_fail:
    return mpi_errno;
}

int MPIDI_NUMACOLL_copy_own(const struct nc_typed *from, const struct nc_typed *to, int how)
{
    struct nc_typed typed[2] = {*from, *to};
    struct nc_stream sent, room;
    int mpi_errno = MPI_SUCCESS;

    MPIDI_NUMACOLL_stream_init(&sent, &typed[0]);
    MPIDI_NUMACOLL_stream_init(&room, &typed[1]);
    /* without MPICH's engine, which takes longer to begin than to copy a few bytes */
    if (sent.bytes && room.bytes)
        nc_copy_bytes(room.bytes, sent.bytes, sent.length < room.length ? sent.length : room.length,
                      how);
    else
        mpi_errno = MPIR_Localcopy(from->buffer, from->count, from->datatype, to->buffer, to->count,
                                   to->datatype);
    /* MPIR_Localcopy finds nothing wrong where there is no room at all */
    return mpi_errno == MPI_SUCCESS ? MPIDI_NUMACOLL_check_room(sent.length, &room) : mpi_errno;
}

/* ---- rows ---- */

/* The block that the stream is in, or if it is at its end the next block that is not empty. */
static struct nc_stream *block_at(struct nc_row *row)
{
    while (nc_stream_rest(&row->stream) == 0 && row->begun < row->whose.ranks) {
        row->typed = MPIDI_NUMACOLL_block(row->blocks, nc_round_rank(&row->whose, row->begun++));
        MPIDI_NUMACOLL_stream_init(&row->stream, &row->typed);
    }
    return &row->stream;
}

/* Moves up to max bytes between `packed` and the blocks of a row, by `copy`, block after block. */
static int walk(struct nc_row *row, char *packed, size_t max, int how, size_t *moved,
                int (*copy)(struct nc_stream *stream, char *packed, size_t n, int how))
{
    int error = 0;

    for (*moved = 0; *moved < max && !error;) {
        struct nc_stream *stream = block_at(row);
        size_t n = nc_stream_rest(stream) < max - *moved ? nc_stream_rest(stream) : max - *moved;
        if (n == 0)
            break;
        error = copy(stream, packed + *moved, n, how);
        *moved += n;
    }
    return error;
}

/* One block's part of a move. Not counted as traffic: the caller counts the bytes when they go to
 * or from shared memory. */
static int in(struct nc_stream *stream, char *packed, size_t n, int how)
{
    return nc_copy_in(stream, packed, n, how, NULL);
}

static int out(struct nc_stream *stream, char *packed, size_t n, int how)
{
    return nc_copy_out(stream, packed, n, how, NULL);
}

/* The two movers of a row, see nc_mover. The stream of each block holds back parts of its elements
 * itself, so these movers always move `max` bytes. */
static int pack_row(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) offset;
    return walk(user, packed, max, how, moved, in);
}

static int unpack_row(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) offset;
    return walk(user, packed, max, how, moved, out);
}

void MPIDI_NUMACOLL_row_init(struct nc_stream *stream, struct nc_row *row,
                             const struct nc_blocks *b, struct nc_round whose)
{
    MPI_Aint size, elements = 0, true_lb;

    MPIR_Datatype_get_size_macro(b->datatype, size);
    for (int i = 0; i < whose.ranks; i++)
        elements += b->counts ? b->counts[nc_round_rank(&whose, i)] : b->count;
    *row = (struct nc_row){.blocks = b, .whose = whose};
    *stream = (struct nc_stream){.pack = pack_row,
                                 .unpack = unpack_row,
                                 .can_stream = elements > 0 &&
                                               (MPIDI_NUMACOLL_is_builtin(b->datatype) ||
                                                plain_bytes(b->datatype, &true_lb)),
                                 .user = row,
                                 .length = (size_t) (size * elements)};
}
