/* Messages between nodes: the only functions of the component that begin them, wait for them and
 * count them in a call. They are nonblocking point-to-point messages of MPICH on the communicator.
 *
 * above.c (fixed schedules), packed.c (blocks whose lengths the receiver learns), alltoall.c (a
 * block for each pair of ranks) and barrier.c say which messages a call makes. Who uses the
 * buffers of the communicator says struct nc_net_buffers in mpich/hierarchy.h. */

#ifndef NUMACOLL_NET_H_INCLUDED
#define NUMACOLL_NET_H_INCLUDED

#include "../mpich/call.h"

/* The messages of one rank in one call. After an error the rank goes on, because other ranks wait
 * for its messages; the first error is kept. */
struct nc_net {
    const struct nc_call *call;
    int mpi_errno; /* the first error */
};

static inline void MPIDI_NUMACOLL_net_keep(struct nc_net *net, int mpi_errno)
{
    nc_keep_first(&net->mpi_errno, mpi_errno);
}

/* Begins to send a buffer of any datatype, of `bytes` bytes, to a rank of the communicator, and
 * counts the message in the statistics. The buffer must not change until the request has been
 * awaited. */
void MPIDI_NUMACOLL_net_send_typed(struct nc_net *net, const struct nc_typed *from, size_t bytes,
                                   int to, int tag, MPIR_Request **request);

/* The same with bytes that lie side by side. */
void MPIDI_NUMACOLL_net_send(struct nc_net *net, const void *from, size_t bytes, int to, int tag,
                             MPIR_Request **request);

/* Begins to receive at most what fits a buffer of any datatype, from a rank of the communicator. */
void MPIDI_NUMACOLL_net_expect_typed(struct nc_net *net, const struct nc_typed *to, int from,
                                     int tag, MPIR_Request **request);

/* The same for at most `most` bytes. */
void MPIDI_NUMACOLL_net_expect(struct nc_net *net, void *to, size_t most, int from, int tag,
                               MPIR_Request **request);

/* Waits for a request, and sets it to NULL. Returns the bytes received (for a send the value has no
 * meaning); -1 after an error, or if the request was NULL. */
MPI_Aint MPIDI_NUMACOLL_net_await(struct nc_net *net, MPIR_Request **request);

#endif
