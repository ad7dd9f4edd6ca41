/* Nonblocking operations. See nc_nonblocking.h; N1 to N4 are the steps of PROTOCOLS.md, section
 * 3.10. */

#include "nc_nonblocking.h"

void nc_nonblocking_init(struct nc_nonblocking *n, char *const *region,
                         const struct nc_geometry *geometry, int rank, void *private_memory,
                         struct nc_waiter *waiter, struct nc_bell **bell)
{
    nc_queue_init(&n->queue, region, geometry, rank, private_memory, waiter);
    n->bell = bell;
    n->begun = n->ended = n->over = 0;
}

void nc_nonblocking_begin(struct nc_nonblocking *n, struct nc_open *open, uint16_t call, int root)
{
    *open = (struct nc_open){.number = n->begun++,
                             .call = call,
                             .root = root,
                             .posted = root >= 0 && root != n->queue.rank};
}

/* Makes an open operation the queue's current one. */
static struct nc_queue *turn_to(struct nc_nonblocking *n, const struct nc_open *open)
{
    n->queue.operation = open->number;
    n->queue.call = open->call;
    return &n->queue;
}

/* Whether the operation is near enough to the first one that this rank has not ended: there are as
 * many send control slots, and bits of `over`. */
static bool is_near(const struct nc_nonblocking *n, const struct nc_open *open)
{
    return open->number - n->ended < n->queue.geometry.send_controls;
}

/* Wakes all other ranks' processes that sleep. */
static void ring_others(const struct nc_nonblocking *n)
{
    for (int i = 0; i < (int) n->queue.geometry.ranks; i++) {
        if (i != n->queue.rank && nc_bell_is_awaited(n->bell[i]))
            nc_bell_ring(n->bell[i]);
    }
}

bool nc_nonblocking_post(struct nc_nonblocking *n, struct nc_open *open, struct nc_stream *stream,
                         int *copied)
{
    struct nc_queue *q = &n->queue;
    struct nc_team all = nc_queue_everybody(q);
    struct nc_readers readers = nc_queue_team(&all);
    struct nc_control *control;
    uint64_t total = nc_stream_rest(stream);

    *copied = 0;
    turn_to(n, open);
    /* The queue asks whether the other ranks have ended the operation that used the slot before
     * (acquire of R3, release: nc_queue_end). This rank itself may still have to read what it
     * posted there. */
    if (!is_near(n, open) || !nc_queue_send_control_is_free(q))
        return false;
    control = nc_queue_take_send_control(q, &readers);
    *copied = nc_copy_in(stream, control->payload, total, 0, NULL);
    /* after an error nothing, which the readers find too short */
    control->header = (struct nc_control_header){.total = *copied ? 0 : total, .call = open->call};
    nc_queue_announce(q, control, 1); /* release R1 */
    open->posted = true;
    if (n->bell) {
        /* Orders the post before the loads of the other posts and of the bells. Partners: this
         * fence on the other ranks, so that of ranks that post at the same time at least one finds
         * all posts; and the fence of nc_bell_listen, so that a rank which listens after these
         * loads finds all posts when it polls before it sleeps. */
        nc_atomic_fence();
        if (nc_nonblocking_is_met(n, open))
            ring_others(n);
    }
    return true;
}

bool nc_nonblocking_is_met(struct nc_nonblocking *n, struct nc_open *open)
{
    struct nc_queue *q = turn_to(n, open);

    if (!is_near(n, open))
        return false;
    /* acquire of R1, release: nc_nonblocking_post */
    if (open->root >= 0)
        return nc_queue_is_announced(q, nc_queue_send_control(q, open->root), 1);
    while (open->met < (int) q->geometry.ranks &&
           nc_queue_is_announced(q, nc_queue_send_control(q, open->met), 1))
        open->met++;
    return open->met == (int) q->geometry.ranks;
}

const struct nc_control *nc_nonblocking_part(struct nc_nonblocking *n, const struct nc_open *open,
                                             int rank)
{
    return nc_queue_send_control(turn_to(n, open), rank);
}

static uint64_t bit_of(const struct nc_nonblocking *n, uint64_t number)
{
    return (uint64_t) 1 << (number & (n->queue.geometry.send_controls - 1));
}

void nc_nonblocking_end(struct nc_nonblocking *n, const struct nc_open *open)
{
    struct nc_queue *q = &n->queue;

    n->over |= bit_of(n, open->number);
    q->operation = n->ended;
    while (n->over & bit_of(n, q->operation)) {
        n->over &= ~bit_of(n, q->operation);
        nc_queue_end(q); /* release R3; it counts operation up */
    }
    n->ended = q->operation;
}
