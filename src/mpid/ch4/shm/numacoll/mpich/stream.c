/* A user buffer of any datatype as a row of bytes. */

#include "numacoll.h"

#include <limits.h>

static int pack(void *user, size_t offset, void *packed, size_t max, size_t *moved)
{
    struct nc_typed *t = user;
    MPI_Aint actual = 0;
    int mpi_errno = NC_TYPEREP_PACK(t->buffer, t->count, t->datatype, (MPI_Aint) offset, packed,
                                    (MPI_Aint) max, &actual);

    *moved = (size_t) actual;
    return mpi_errno;
}

static int unpack(void *user, size_t offset, void *packed, size_t max, size_t *moved)
{
    struct nc_typed *t = user;
    MPI_Aint actual = 0;
    int mpi_errno = NC_TYPEREP_UNPACK(packed, (MPI_Aint) max, t->buffer, t->count, t->datatype,
                                      (MPI_Aint) offset, &actual);

    *moved = (size_t) actual;
    return mpi_errno;
}

/* Of a type that is not builtin, see MPIDI_NUMACOLL_stream_init. How the bytes are reached is this
 * process's own affair: it changes no decision of the protocol. */
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

    MPIR_Datatype_get_size_macro(typed->datatype, size);
    stream->length = (size_t) (size * typed->count);
    stream->at = 0;
    if (plain_bytes(typed->datatype, &true_lb)) {
        stream->bytes = stream->length ? MPIR_get_contig_ptr(typed->buffer, true_lb)
                                       : (char *) stream;
    } else {
        stream->bytes = NULL;
        stream->pack = pack;
        stream->unpack = unpack;
        stream->user = typed;
        stream->moved = 0;
        stream->held_bytes = 0;
    }
}

/* As MPICH's messages print it. */
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

static size_t bytes_of(const struct nc_typed *t)
{
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(t->datatype, size);
    return (size_t) (size * t->count);
}

int MPIDI_NUMACOLL_copy_own(const struct nc_typed *from, const struct nc_typed *to)
{
    size_t sent = bytes_of(from), expected = bytes_of(to);
    int mpi_errno = MPIR_Localcopy(from->buffer, from->count, from->datatype, to->buffer, to->count,
                                   to->datatype);

    return mpi_errno == MPI_SUCCESS && sent != expected ? MPIDI_NUMACOLL_unequal(sent, expected)
                                                        : mpi_errno;
}
