#include "nc_queue.h"

#include <string.h>

#include "../core/nc_arena.h"

/* Takes the arrays of the private memory: the uses of slots and of send ring recv_controls lie in
 * one. */
static void take_arrays(struct nc_queue *q, const struct nc_geometry *g, struct nc_arena *arena)
{
    q->slot_use = NC_ARENA_TAKE(arena, (size_t) g->slots + NC_SEND_CONTROLS, struct nc_use);
    q->seen = NC_ARENA_TAKE(arena, g->ranks, nc_clock);
    q->everybody = NC_ARENA_TAKE(arena, g->ranks, int);
}

size_t nc_queue_private_bytes(const struct nc_geometry *g)
{
    struct nc_arena measured = {.base = NULL};
    struct nc_queue q;

    take_arrays(&q, g, &measured);
    return measured.bytes;
}

void nc_queue_init(struct nc_queue *q, char *const *region, const struct nc_geometry *geometry,
                   int rank, void *private_memory, struct nc_waiter *waiter)
{
    struct nc_arena arena = {.base = private_memory};

    take_arrays(q, geometry, &arena);
    memset(private_memory, 0, arena.bytes);
    q->control_use = q->slot_use + geometry->slots;
    for (uint32_t r = 0; r < geometry->ranks; r++)
        q->everybody[r] = (int) r;
    q->region = region;
    q->geometry = *geometry;
    q->layout = nc_layout_make(geometry);
    q->rank = rank;
    q->operation = 0;
    q->head = 0;
    q->waiter = waiter;
}

/* Whether `rank` has reached `wanted`. What was seen is kept, so that its line is read once per
 * ring and not once per fragment. Acquire of R2 and R3. */
static bool is_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    if (nc_clock_reached(q->seen[rank], wanted))
        return true;
    q->seen[rank] = nc_atomic_acquire(nc_queue_ack(q, rank));
    return nc_clock_reached(q->seen[rank], wanted);
}

/* Apart, so that who need not look has little to do. Acquire of R2 and R3. */
__attribute__((noinline)) static int look_until_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    int error = nc_wait_clock(nc_queue_ack(q, rank), wanted, q->waiter);

    /* acquire of R2, R3 again: it may have gone further than what was waited for */
    q->seen[rank] = nc_atomic_acquire(nc_queue_ack(q, rank));
    return error;
}

/* Until it has. */
static inline int await_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    return nc_clock_reached(q->seen[rank], wanted) ? 0 : look_until_done(q, rank, wanted);
}

static int await_readers(struct nc_queue *q, const int *rank, int n, nc_clock over)
{
    for (int i = 0; i < n; i++) {
        int error = rank[i] == q->rank ? 0 : await_done(q, rank[i], over);
        if (error)
            return error;
    }
    return 0;
}

/* Until the last use is over, and then it is that of `readers`, until `over`. */
static int renew_use(struct nc_queue *q, struct nc_use *use, nc_clock over,
                     const struct nc_readers *readers)
{
    int error = 0;

    for (int list = 0; list < 2 && !error; list++)
        error = await_readers(q, use->readers.rank[list], use->readers.count[list], use->over);
    use->over = over;
    use->readers = *readers;
    return error;
}

int nc_queue_take_slot(struct nc_queue *q, nc_clock used, const struct nc_readers *readers,
                       char **slot)
{
    struct nc_use *use = &q->slot_use[q->head % q->geometry.slots];

    *slot = nc_queue_slot(q, q->rank, q->head);
    q->head++;
    return renew_use(q, use, used, readers);
}

int nc_queue_take_recv_control(struct nc_queue *q, int reader, struct nc_control **control)
{
    *control = nc_queue_recv_control(q, reader);
    return await_done(q, reader, nc_clock_at(q->operation + 1 - NC_RECV_CONTROLS, 0));
}

int nc_queue_take_send_control(struct nc_queue *q, const struct nc_readers *readers,
                               struct nc_control **control)
{
    *control = nc_queue_send_control(q, q->rank);
    return renew_use(q, &q->control_use[q->operation % NC_SEND_CONTROLS],
                     nc_clock_at(q->operation + 1, 0), readers);
}

/* What `ack` of a reader must reach before fragment i is written into its receive ring: the first
 * ones need only that it is through with all before, and so with what another root wrote there; the
 * others that it is with the fragment before. */
static nc_clock recv_slot_free_at(const struct nc_queue *q, uint64_t i)
{
    return nc_clock_at(q->operation, i < q->layout.recv_slots ? 0 : i - q->layout.recv_slots + 1);
}

bool nc_queue_recv_slot_is_free(struct nc_queue *q, int reader, uint64_t i)
{
    return is_done(q, reader, recv_slot_free_at(q, i));
}

int nc_queue_await_recv_slot(struct nc_queue *q, int reader, uint64_t i)
{
    return await_done(q, reader, recv_slot_free_at(q, i));
}

/* Clocks are right within 2^23 operations, so nothing that is compared may grow older than that.
 * Every REFRESH operations what was last seen or used longer ago is brought near: seen[] by looking
 * again; a slot or a send control slot that has rested as long by asking for more than its last
 * readers (they can always get there: it is over for me). */
#define REFRESH 65536

_Static_assert(2 * REFRESH < 1 << (63 - NC_CLOCK_FRAGMENT_BITS), "clocks that meet are near");
_Static_assert(NC_SEND_CONTROLS <= NC_RECV_CONTROLS,
               "the operations before a refresh use every control slot of both rings");

static void refresh(struct nc_queue *q)
{
    nc_clock recent = nc_clock_at(q->operation - REFRESH, 0);

    for (int r = 0; r < (int) q->geometry.ranks; r++)
        q->seen[r] = nc_atomic_acquire(nc_queue_ack(q, r));
    for (unsigned i = 0; i < q->geometry.slots + NC_SEND_CONTROLS; i++) {
        if (!nc_clock_reached(q->slot_use[i].over, recent))
            q->slot_use[i].over = recent;
    }
}

/* A rank that is root for ever is never written a control slot: the old ones would one day pass for
 * new; and so would its own send ring recv_controls, if it were to send again. In this operation
 * nobody else writes my control slot any more (as a reader I have awaited its last announcement, as
 * a root I get none), and the writer of its next use waits for R3, which follows: this store needs
 * no partner of its own. In a send control slot that is not of this operation, a reader of an
 * older one, who is late, finds more than it waits for: all that was to be announced had been. */
static void refresh_control(struct nc_queue *q, struct nc_control *control)
{
    nc_clock now = nc_clock_at(q->operation, 0);

    if (!nc_clock_reached(nc_atomic_acquire(&control->clock), now))
        nc_atomic_release(&control->clock, now);
}

void nc_queue_end(struct nc_queue *q)
{
    if (q->operation % REFRESH >= REFRESH - NC_RECV_CONTROLS) {
        refresh_control(q, nc_queue_recv_control(q, q->rank));
        refresh_control(q, nc_queue_send_control(q, q->rank));
    }
    q->operation++;
    /* release R3: nothing of the operation is touched by me any more; its slots and recv_controls
     * may be used again; partners: renew_use, nc_queue_take_recv_control,
     * nc_queue_recv_slot_is_free, nc_queue_await_recv_slot
     */
    nc_atomic_release(nc_queue_ack(q, q->rank), nc_clock_at(q->operation, 0));
    if (q->operation % REFRESH == 0)
        refresh(q);
}
