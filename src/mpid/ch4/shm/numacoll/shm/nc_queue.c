/* The queues: the waits before a slot or a control slot is used again, and the end of an operation.
 * nc_transfer and the collectives of this folder call these functions through nc_queue.h. What is
 * in a message, and when it is announced, is theirs; the loop of a wait is nc_wait.c's. */

#include "nc_queue.h"

#include <string.h>

#include "../core/nc_arena.h"

/* Takes the arrays out of the private memory. The uses of slots and the uses of send control slots
 * are one array: `refresh` goes over both. */
static void take_arrays(struct nc_queue *q, const struct nc_geometry *g, struct nc_arena *arena)
{
    q->slot_use = NC_ARENA_TAKE(arena, (size_t) g->slots + g->send_controls, struct nc_use);
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
    q->position = 0;
    q->scattered = 0;
    q->waiter = waiter;
    q->call = 0;
    q->stranger = (struct nc_stranger){0, 0};
}

/* Whether `ack` of `rank` has reached `wanted`. The value is kept in seen[], so that the cache line
 * of `ack` is loaded once per turn of the ring and not once per fragment. Acquire of R2 and R3. */
static bool is_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    if (nc_clock_reached(q->seen[rank], wanted))
        return true;
    q->seen[rank] = nc_atomic_acquire(nc_queue_ack(q, rank));
    return nc_clock_reached(q->seen[rank], wanted);
}

/* Out of line, to keep the common case of await_done (seen[] suffices) small. Acquire of R2 and
 * R3. */
__attribute__((noinline)) static void look_until_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    nc_wait_clock(nc_queue_ack(q, rank), wanted, q->waiter);
    /* acquire of R2, R3: `ack` may have gone further than `wanted`, which spares later waits */
    q->seen[rank] = nc_atomic_acquire(nc_queue_ack(q, rank));
}

/* Waits until `ack` of `rank` has reached `wanted`. */
static inline void await_done(struct nc_queue *q, int rank, nc_clock wanted)
{
    if (!nc_clock_reached(q->seen[rank], wanted))
        look_until_done(q, rank, wanted);
}

/* Waits for the ranks of one list of readers; a rank does not wait for itself. */
static void await_readers(struct nc_queue *q, const int *rank, int n, nc_clock over)
{
    for (int i = 0; i < n; i++) {
        if (rank[i] != q->rank)
            await_done(q, rank[i], over);
    }
}

/* Waits until the last use of a slot or send control slot is over; then records the new use, by
 * `readers`, which is over when their `ack` has reached `over`. */
static void renew_use(struct nc_queue *q, struct nc_use *use, nc_clock over,
                      const struct nc_readers *readers)
{
    for (int list = 0; list < 2; list++)
        await_readers(q, use->readers.rank[list], use->readers.count[list], use->over);
    use->over = over;
    use->readers = *readers;
}

/* The slot at the position of my send ring, which then moves on. */
static char *next_slot(struct nc_queue *q)
{
    char *slot = nc_queue_slot(q, q->rank, q->position);

    q->head++;
    q->position = q->position + 1 < q->geometry.slots ? q->position + 1 : 0;
    return slot;
}

char *nc_queue_take_slot(struct nc_queue *q, nc_clock used, const struct nc_readers *readers)
{
    struct nc_use *use = &q->slot_use[q->position];
    char *slot = next_slot(q);

    renew_use(q, use, used, readers);
    return slot;
}

/* Whether the last use of a slot or send control slot is over. */
static bool is_over(struct nc_queue *q, const struct nc_use *use)
{
    for (int list = 0; list < 2; list++) {
        for (int i = 0; i < use->readers.count[list]; i++) {
            int rank = use->readers.rank[list][i];
            if (rank != q->rank && !is_done(q, rank, use->over))
                return false;
        }
    }
    return true;
}

/* What to wait for where is_over has just said no: the first reader that is not through. */
static struct nc_awaited over_of(const struct nc_queue *q, const struct nc_use *use)
{
    for (int list = 0; list < 2; list++) {
        for (int i = 0; i < use->readers.count[list]; i++) {
            int rank = use->readers.rank[list][i];
            if (rank != q->rank && !nc_clock_reached(q->seen[rank], use->over))
                return (struct nc_awaited){.word = nc_queue_ack(q, rank), .clock = use->over};
        }
    }
    /* every reader is through: a word that is there already */
    return (struct nc_awaited){.word = nc_queue_ack(q, q->rank), .clock = q->seen[q->rank]};
}

bool nc_queue_slot_is_free(struct nc_queue *q)
{
    return is_over(q, &q->slot_use[q->position]);
}

struct nc_awaited nc_queue_slot_free(const struct nc_queue *q)
{
    return over_of(q, &q->slot_use[q->position]);
}

char *nc_queue_take_slot_again(struct nc_queue *q)
{
    return next_slot(q);
}

struct nc_control *nc_queue_take_recv_control(struct nc_queue *q, int reader)
{
    await_done(q, reader, nc_clock_at(q->operation + 1 - q->geometry.recv_controls, 0));
    return nc_queue_recv_control(q, reader);
}

/* The use of my send control slot of this operation. */
static struct nc_use *control_use(const struct nc_queue *q)
{
    return &q->control_use[q->operation & (q->geometry.send_controls - 1)];
}

struct nc_control *nc_queue_take_send_control(struct nc_queue *q, const struct nc_readers *readers)
{
    renew_use(q, control_use(q), nc_clock_at(q->operation + 1, 0), readers);
    return nc_queue_send_control(q, q->rank);
}

bool nc_queue_send_control_is_free(struct nc_queue *q)
{
    return is_over(q, control_use(q));
}

struct nc_awaited nc_queue_send_control_free(const struct nc_queue *q)
{
    return over_of(q, control_use(q));
}

/* What `ack` of a reader must reach before fragment i is written into its receive ring. The first
 * fragments, as many as the ring has slots, need that the reader has ended all earlier operations,
 * so that it has also read what other roots wrote there. A later fragment needs that the reader has
 * read the fragment of this operation that was in the slot. */
static nc_clock recv_slot_free_at(const struct nc_queue *q, uint64_t i)
{
    return nc_clock_at(q->operation, i < q->layout.recv_slots ? 0 : i - q->layout.recv_slots + 1);
}

bool nc_queue_recv_slot_is_free(struct nc_queue *q, int reader, uint64_t i)
{
    return is_done(q, reader, recv_slot_free_at(q, i));
}

struct nc_awaited nc_queue_recv_slot_free(const struct nc_queue *q, int reader, uint64_t i)
{
    return (struct nc_awaited){.word = nc_queue_ack(q, reader), .clock = recv_slot_free_at(q, i)};
}

/* Two clocks compare correctly only if they are less than 2^23 operations apart, so a clock that is
 * still compared must not grow older than that. Every REFRESH operations `refresh` renews the
 * clocks in private memory: it loads seen[] again; and where a slot or a send control slot was not
 * used for REFRESH operations, it raises the clock that its readers must reach to the operation
 * REFRESH ago. They reach it in any case: this rank has ended all operations before, so they wait
 * for nothing from it there. */
#define REFRESH 65536

_Static_assert(2 * REFRESH < 1 << (63 - NC_CLOCK_FRAGMENT_BITS), "clocks that meet are near");
/* So many operations before a refresh use every control slot of both rings. */
#define ROUND NC_MOST_SEND_CONTROLS
_Static_assert(NC_RECV_CONTROLS <= ROUND && NC_SEND_CONTROLS <= ROUND, "every control slot");

static void refresh(struct nc_queue *q)
{
    nc_clock recent = nc_clock_at(q->operation - REFRESH, 0);

    for (int r = 0; r < (int) q->geometry.ranks; r++)
        q->seen[r] = nc_atomic_acquire(nc_queue_ack(q, r));
    for (unsigned i = 0; i < q->geometry.slots + q->geometry.send_controls; i++) {
        if (!nc_clock_reached(q->slot_use[i].over, recent))
            q->slot_use[i].over = recent;
    }
}

/* Renews the clock of a control slot of mine that nobody has written for long: nobody announces to
 * a rank that is always the root, nor does a rank that never sends write its send control slots.
 * After 2^23 operations their old clocks would pass for new ones.
 *
 * Receive control slot: nobody else writes it in this operation any more (its owner has awaited the
 * last announcement, a root gets none), and its next writer waits for R3, which follows. So this
 * store needs no partner of its own. Send control slot: a late reader of an older operation finds a
 * clock beyond the one it waits for; all it waits for had been announced before. */
static void refresh_control(struct nc_queue *q, struct nc_control *control)
{
    nc_clock now = nc_clock_at(q->operation, 0);

    if (!nc_clock_reached(nc_atomic_acquire(&control->clock), now))
        nc_atomic_release(&control->clock, now);
}

void nc_queue_end(struct nc_queue *q)
{
    if (q->operation % REFRESH >= REFRESH - ROUND) {
        if (q->geometry.recv_controls) /* that of nonblocking operations has none */
            refresh_control(q, nc_queue_recv_control(q, q->rank));
        refresh_control(q, nc_queue_send_control(q, q->rank));
    }
    q->operation++;
    /* release R3: this rank touches nothing of the operation any more, its slots and control slots
     * may be used again; partners: renew_use, is_over, nc_queue_take_recv_control,
     * nc_queue_recv_slot_is_free, nc_queue_await_ended */
    nc_release(nc_queue_ack(q, q->rank), nc_clock_at(q->operation, 0), q->waiter);
    if (q->operation % REFRESH == 0)
        refresh(q);
}

bool nc_queue_has_ended(struct nc_queue *q, int rank)
{
    return is_done(q, rank, nc_clock_at(q->operation + 1, 0));
}

struct nc_awaited nc_queue_ending(const struct nc_queue *q, int rank)
{
    return (struct nc_awaited){.word = nc_queue_ack(q, rank),
                               .clock = nc_clock_at(q->operation + 1, 0)};
}

void nc_queue_await_ended(struct nc_queue *q, const struct nc_readers *readers)
{
    for (int list = 0; list < 2; list++)
        await_readers(q, readers->rank[list], readers->count[list], nc_clock_at(q->operation, 0));
}
