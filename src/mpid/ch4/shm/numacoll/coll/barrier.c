/* MPI_Barrier. entry.c calls the body on every rank; inside the node a barrier of shm/nc_barrier.h
 * does the work, which calls `leaders` on local rank 0 between arrival and release.
 *
 *   1  on each node all ranks arrive
 *   2  the leaders of the nodes (local ranks 0) exchange empty messages by dissemination
 *   3  on each node all ranks are released */

#include "bodies.h"
#include "net.h"

/* 2: nodes under one switch have neighbouring numbers, so most messages of the first rounds stay
 * under one switch. context: the struct nc_call. */
static int leaders(void *context)
{
    struct nc_net net = {.call = context};
    const struct nc_nodes *nodes = &net.call->state->all.nodes;

    for (int distance = 1; distance < nodes->count; distance *= 2) {
        int to = nc_nodes_leader(nodes, (nodes->mine + distance) % nodes->count);
        int from = nc_nodes_leader(nodes, nc_nodes_back(nodes, distance));
        MPIR_Request *in, *out;

        MPIDI_NUMACOLL_net_expect(&net, NULL, 0, from, MPIR_BARRIER_TAG, &in);
        MPIDI_NUMACOLL_net_send(&net, NULL, 0, to, MPIR_BARRIER_TAG, &out);
        MPIDI_NUMACOLL_net_await(&net, &in);
        MPIDI_NUMACOLL_net_await(&net, &out);
    }
    return net.mpi_errno;
}

int MPIDI_NUMACOLL_barrier(const struct nc_call *call)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_NUMACOLL_comm *state = call->state;
    struct nc_barrier *barrier = &call->choice->barrier;
    enum nc_barrier_kind kind = call->choice->barrier_kind;

    MPIDI_NUMACOLL_count(call, 1 + (int) kind, 0);
    barrier->between = call->across ? leaders : NULL;
    barrier->context = (void *) call;
    if (state->size > 1)
        mpi_errno = nc_barrier_algorithms[kind].function(barrier, state->queue.operation + 1);
    else if (call->across)
        mpi_errno = leaders((void *) call);
    if (state->size > 1)
        nc_queue_end(&state->queue);
    return mpi_errno;
}
