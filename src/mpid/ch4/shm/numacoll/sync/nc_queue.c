#include "nc_queue.h"

#include <string.h>

size_t nc_queue_private_bytes(const struct nc_geometry *g)
{
    return sizeof(nc_clock) * ((size_t) g->slots + g->ranks) + sizeof(struct nc_readers) * g->slots;
}

void nc_queue_init(struct nc_queue *q, char *const *region, const struct nc_geometry *geometry, int rank,
                   void *private_memory, struct nc_waiter *waiter)
{
    memset(private_memory, 0, nc_queue_private_bytes(geometry));
    q->region = region;
    q->geometry = *geometry;
    q->layout = nc_layout_make(geometry);
    q->rank = rank;
    q->operation = 0;
    q->head = 0;
    q->slot_used = private_memory;
    q->seen = q->slot_used + geometry->slots;
    q->slot_readers = (struct nc_readers *) (q->seen + geometry->ranks);
    q->waiter = waiter;
}

/* Until `rank` has reached `wanted`. What was seen is kept, so that its line is read once per ring and not once per
 * fragment. Acquire of R2 and R3. */
static int await_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    int error;

    if (nc_clock_reached(q->seen[rank], wanted))
        return 0;
    error = nc_wait_clock(nc_queue_done(q, rank), wanted, q->waiter);
    /* acquire of R2, R3 again: it may have gone further than what was waited for */
    q->seen[rank] = nc_atomic_acquire(nc_queue_done(q, rank));
    return error;
}

int nc_queue_take_slot(struct nc_queue *q, nc_clock used, const struct nc_readers *readers, char **slot)
{
    nc_clock *last = &q->slot_used[q->head % q->geometry.slots];
    struct nc_readers *last_readers = &q->slot_readers[q->head % q->geometry.slots];
    int error = 0;

    for (int list = 0; list < 2; list++) {
        for (int i = 0; i < last_readers->count[list] && !error; i++) {
            if (last_readers->rank[list][i] != q->rank)
                error = await_done(q, last_readers->rank[list][i], *last);
        }
    }
    *slot = nc_queue_slot(q, q->rank, q->head);
    *last = used;
    *last_readers = *readers;
    q->head++;
    return error;
}

int nc_queue_take_post(struct nc_queue *q, int reader, struct nc_post **post)
{
    *post = nc_queue_post(q, reader);
    return await_done(q, reader, nc_clock_at(q->operation + 1 - NC_POSTS, 0));
}

/* Clocks are right within 2^23 operations, so nothing that is compared may grow older than that. Every REFRESH
 * operations what was last seen or used longer ago is brought near: seen[] by looking again; a slot that has rested as
 * long by asking for more than its last readers (they can always get there: it is over for me). */
#define REFRESH 65536

static void refresh(struct nc_queue *q)
{
    nc_clock recent = nc_clock_at(q->operation - REFRESH, 0);

    for (int r = 0; r < (int) q->geometry.ranks; r++)
        q->seen[r] = nc_atomic_acquire(nc_queue_done(q, r));
    for (unsigned i = 0; i < q->geometry.slots; i++) {
        if (!nc_clock_reached(q->slot_used[i], recent))
            q->slot_used[i] = recent;
    }
}

/* A rank that is root for ever is never written a post: the old ones would one day pass for new. In this operation
 * nobody else writes mine any more (as a reader I have awaited its last announcement, as a root I get none), and the
 * writer of its next use waits for R3, which follows: this store needs no partner of its own. */
static void refresh_post(struct nc_queue *q)
{
    struct nc_post *post = nc_queue_post(q, q->rank);
    nc_clock now = nc_clock_at(q->operation, 0);

    if (!nc_clock_reached(nc_atomic_acquire(&post->clock), now))
        nc_atomic_release(&post->clock, now);
}

void nc_queue_end(struct nc_queue *q)
{
    if (q->operation % REFRESH >= REFRESH - NC_POSTS)
        refresh_post(q);
    q->operation++;
    /* release R3: nothing of the operation is touched by me any more; its slots and my post may be used again;
     * partners: nc_queue_take_slot, nc_queue_take_post */
    nc_atomic_release(nc_queue_done(q, q->rank), nc_clock_at(q->operation, 0));
    if (q->operation % REFRESH == 0)
        refresh(q);
}
