/* Messages between nodes, by MPIC_Isend and MPIC_Irecv of bytes; errors are kept in struct nc_net.
 * See net.h. */

#include "net.h"

void MPIDI_NUMACOLL_net_send_typed(struct nc_net *net, const struct nc_typed *from, size_t bytes,
                                   int to, int tag, MPIR_Request **request)
{
    struct nc_stats *counts = &net->call->state->stats.counts;

    counts->messages++;
    counts->message_bytes += bytes;
    *request = NULL;
    MPIDI_NUMACOLL_net_keep(net, MPIC_Isend(from->buffer, from->count, from->datatype, to, tag,
                                            net->call->comm, request, net->call->errflag));
}

void MPIDI_NUMACOLL_net_send(struct nc_net *net, const void *from, size_t bytes, int to, int tag,
                             MPIR_Request **request)
{
    const struct nc_typed typed = {(void *) from, (MPI_Aint) bytes, NC_TYPE_BYTE};

    MPIDI_NUMACOLL_net_send_typed(net, &typed, bytes, to, tag, request);
}

void MPIDI_NUMACOLL_net_expect_typed(struct nc_net *net, const struct nc_typed *to, int from,
                                     int tag, MPIR_Request **request)
{
    *request = NULL;
    MPIDI_NUMACOLL_net_keep(
        net, MPIC_Irecv(to->buffer, to->count, to->datatype, from, tag, net->call->comm, request));
}

void MPIDI_NUMACOLL_net_expect(struct nc_net *net, void *to, size_t most, int from, int tag,
                               MPIR_Request **request)
{
    const struct nc_typed typed = {to, (MPI_Aint) most, NC_TYPE_BYTE};

    MPIDI_NUMACOLL_net_expect_typed(net, &typed, from, tag, request);
}

MPI_Aint MPIDI_NUMACOLL_net_await(struct nc_net *net, MPIR_Request **request)
{
    MPI_Status status;
    MPIR_Request *awaited = *request;
    int mpi_errno;

    *request = NULL;
    if (!awaited)
        return -1;
    mpi_errno = NC_WAITALL(1, &awaited, &status, net->call->errflag);
    if (mpi_errno == MPI_ERR_IN_STATUS)
        mpi_errno = status.MPI_ERROR;
    MPIDI_NUMACOLL_net_keep(net, mpi_errno);
    return mpi_errno == MPI_SUCCESS ? MPIR_STATUS_GET_COUNT(status) : -1;
}
