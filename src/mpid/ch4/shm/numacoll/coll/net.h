/* Messages between nodes: the one way to begin them, to wait for them and to count them.
 *
 * Two clients say which messages a call makes: fixed schedules of the levels above the node
 * (above.h), and blocks whose lengths are learnt on the way (packed.h). They use the buffers of the
 * communicator (struct nc_net_buffers in mpich/hierarchy.h), one client at a time. */

#ifndef NUMACOLL_NET_H_INCLUDED
#define NUMACOLL_NET_H_INCLUDED

#include "../mpich/call.h"

/* The messages of one rank in one call. After an error it goes on, for other ranks wait. */
struct nc_net {
    const struct nc_call *call;
    int mpi_errno; /* the first error */
};

static inline void MPIDI_NUMACOLL_net_keep(struct nc_net *net, int mpi_errno)
{
    MPIDI_NUMACOLL_keep_first(&net->mpi_errno, mpi_errno);
}

/* Begins to send `bytes` to a rank on another node, and counts the message. `from` must stay until
 * the request has been awaited. */
void MPIDI_NUMACOLL_net_send(struct nc_net *net, const void *from, size_t bytes, int to, int tag,
                             MPIR_Request **request);

/* Begins to receive at most `most` bytes. */
void MPIDI_NUMACOLL_net_expect(struct nc_net *net, void *to, size_t most, int from, int tag,
                               MPIR_Request **request);

/* Waits for a request, which becomes NULL. The bytes that have come (of a send: no meaning); -1
 * after an error, or if there was none to wait for. */
MPI_Aint MPIDI_NUMACOLL_net_await(struct nc_net *net, MPIR_Request **request);

#endif
