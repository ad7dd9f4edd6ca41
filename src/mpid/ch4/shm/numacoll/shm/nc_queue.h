/* The queues of a set of ranks that share memory: the one protocol all collectives use. See
 * PROTOCOLS.md.
 *
 * Every rank calls nc_queue_end once per operation, in the same order of operations. Before it
 * each is a writer (fills slots of its own send ring or of others' receive rings, tells of them in
 * recv_controls of those who read, or in its own send control slot), a reader (awaits a control
 * slot, reads slots, tells its own children), both, or has nothing to do. */

#ifndef NC_QUEUE_H_INCLUDED
#define NC_QUEUE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/nc_clock.h"
#include "../core/nc_layout.h"
#include "nc_atomic.h"
#include "nc_wait.h"

/* What a writer tells of an operation. Written before `clock` is released, read after it is
 * acquired. */
struct nc_control_header {
    uint64_t total;      /* bytes of the message */
    uint32_t fragment;   /* bytes of a fragment; 0: the message is in `payload` */
    uint32_t first_slot; /* slot of the writer's send ring that has fragment 0; in a receive ring
                            it is always 0 */
};

#define NC_INLINE_BYTES (NC_CONTROL_BYTES - 8 - sizeof(struct nc_control_header)) /* 360 bytes */

/* One operation's control slot. In the ring of receive control slots of a rank: writer: the parent,
 * from the operation's begin until the reader's `ack` passes the operation; reader: the owner. An
 * send control slot: writer: the owner; readers: those it is taken for. The owner now and then also
 * brings the clock of a control slot nobody wrote up to date (refresh_control). The first 40 bytes
 * of payload travel in the line of the clock. */
struct nc_control {
    struct nc_atomic clock; /* (operation, fragments announced) */
    struct nc_control_header header;
    char payload[NC_INLINE_BYTES];
};

_Static_assert(sizeof(struct nc_control) == NC_CONTROL_BYTES,
               "a control slot is three pairs of lines");
_Static_assert(offsetof(struct nc_control, payload) == 24,
               "40 bytes of payload are left in the clock's line");

/* Who reads a slot or a send control slot: up to two lists of ranks, which must stay; the writer
 * may be among them. */
struct nc_readers {
    const int *rank[2];
    int count[2];
};

/* Who makes an operation among themselves, while others do the same: ranks, in the same order on
 * all of them, a list that must stay, and where in it I am. */
struct nc_team {
    const int *rank;
    int size;
    int index;
};

/* The last use of a slot or of a send control slot of mine. */
struct nc_use {
    nc_clock over; /* what `ack` of its readers must reach before I write there again */
    struct nc_readers readers;
};

/* A rank's view of the queues. Private to it. */
struct nc_queue {
    char *const *region; /* [ranks] of each process, in the segment */
    struct nc_geometry geometry;
    struct nc_layout layout;
    int rank;
    uint64_t operation;         /* number of the current or the next operation, from 0 */
    uint64_t head;              /* slots of my send ring taken so far */
    struct nc_use *slot_use;    /* [slots] of my send ring */
    struct nc_use *control_use; /* [NC_SEND_CONTROLS], behind the slots' */
    nc_clock *seen;             /* [ranks] `ack` of each rank when I last looked */
    int *everybody;             /* [ranks] 0, 1, ..: for lists of readers */
    struct nc_waiter *waiter;
};

/* Bytes of private memory nc_queue_init needs, aligned for pointers and for uint64_t. */
size_t nc_queue_private_bytes(const struct nc_geometry *geometry);

/* A view of a segment whose clocks are all zero; region[ranks] must stay. */
void nc_queue_init(struct nc_queue *queue, char *const *region, const struct nc_geometry *geometry,
                   int rank, void *private_memory, struct nc_waiter *waiter);

static inline struct nc_atomic *nc_queue_ack(const struct nc_queue *q, int rank)
{
    return (struct nc_atomic *) (q->region[rank] + q->layout.ack);
}

static inline struct nc_control *nc_queue_recv_control(const struct nc_queue *q, int rank)
{
    return (struct nc_control *) (q->region[rank] + q->layout.recv_controls) +
           q->operation % NC_RECV_CONTROLS;
}

static inline struct nc_control *nc_queue_send_control(const struct nc_queue *q, int rank)
{
    return (struct nc_control *) (q->region[rank] + q->layout.send_controls) +
           q->operation % NC_SEND_CONTROLS;
}

static inline char *nc_queue_slot(const struct nc_queue *q, int rank, uint64_t slot)
{
    return q->region[rank] + q->layout.send + slot % q->geometry.slots * q->layout.slot_stride;
}

/* Where in my send ring the next slot is. */
static inline uint32_t nc_queue_position(const struct nc_queue *q)
{
    return (uint32_t) (q->head % q->geometry.slots);
}

/* The slot of a rank's receive ring that has fragment i of the operation. */
static inline char *nc_queue_recv_slot(const struct nc_queue *q, int rank, uint64_t i)
{
    return q->region[rank] + q->layout.recv + i % q->layout.recv_slots * q->layout.slot_stride;
}

static inline struct nc_team nc_queue_everybody(const struct nc_queue *q)
{
    return (struct nc_team){q->everybody, (int) q->geometry.ranks, q->rank};
}

/* The rank so many places after mine, round. */
static inline int nc_team_after(const struct nc_team *team, int places)
{
    int i = team->index + places;

    return team->rank[i < team->size ? i : i - team->size];
}

/* A team as readers, or one rank. */
static inline struct nc_readers nc_queue_team(const struct nc_team *team)
{
    return (struct nc_readers){.rank = {team->rank, NULL}, .count = {team->size, 0}};
}

static inline struct nc_readers nc_queue_one(const struct nc_queue *q, int rank)
{
    return (struct nc_readers){.rank = {q->everybody + rank, NULL}, .count = {1, 0}};
}

/* The rank after another, round. */
static inline int nc_queue_next(const struct nc_queue *q, int rank)
{
    return rank + 1 < (int) q->geometry.ranks ? rank + 1 : 0;
}

/* Writer: the next slot of my send ring, for the fragment that these readers finish at `used`, once
 * those of what is in it have given it back. 0 and the slot, or the error of the wait. */
int nc_queue_take_slot(struct nc_queue *q, nc_clock used, const struct nc_readers *readers,
                       char **slot);

/* Writer or forwarder: the control slot of `reader` for this operation, once it is free. */
int nc_queue_take_recv_control(struct nc_queue *q, int reader, struct nc_control **control);

/* Writer: my send control slot for this operation, for these readers, once those of its last use
 * are through with it. */
int nc_queue_take_send_control(struct nc_queue *q, const struct nc_readers *readers,
                               struct nc_control **control);

/* Root of a scatter: whether the reader's slot for fragment i, which is not before those already
 * written, may be written; nc_queue_await_recv_slot waits for it. */
bool nc_queue_recv_slot_is_free(struct nc_queue *q, int reader, uint64_t i);
int nc_queue_await_recv_slot(struct nc_queue *q, int reader, uint64_t i);

/* Writer: the lines of a reader's control slot that `payload` bytes will fill start on their way
 * here, while the data is fetched. */
static inline void nc_queue_prefetch_recv_control(const struct nc_queue *q, int reader,
                                                  size_t payload)
{
    const char *control = (const char *) nc_queue_recv_control(q, reader);

    for (size_t at = 0; at < offsetof(struct nc_control, payload) + payload; at += 64)
        __builtin_prefetch(control + at, 1);
}

/* The same of my send control slot: its readers have it. */
static inline void nc_queue_prefetch_send_control(const struct nc_queue *q, size_t payload)
{
    const char *control = (const char *) nc_queue_send_control(q, q->rank);

    for (size_t at = 0; at < offsetof(struct nc_control, payload) + payload; at += 64)
        __builtin_prefetch(control + at, 1);
}

#define NC_PREFETCHED \
    2048 /* bytes; of longer rows the processor sees for itself what comes next \
          */

/* The same of the next slot of my send ring, which `bytes` will fill. */
static inline void nc_queue_prefetch_slot(const struct nc_queue *q, size_t bytes)
{
    const char *slot = nc_queue_slot(q, q->rank, q->head);

    for (size_t at = 0; at < bytes && at < NC_PREFETCHED; at += 64)
        __builtin_prefetch(slot + at, 1);
}

/* Writer or forwarder: announces n fragments (n >= 1; the first with header and payload in place),
 * in the reader's control slot or in my send control slot. */
static inline void nc_queue_announce(struct nc_queue *q, struct nc_control *control, uint64_t n)
{
    /* release R1: licenses the reader to read header, payload and slots; partner: nc_queue_await */
    nc_atomic_release(&control->clock, nc_clock_at(q->operation, n));
}

/* Reader: waits until n fragments of this operation are announced in my control slot, or in the
 * writer's send control slot (acquire of R1). */
static inline int nc_queue_await(struct nc_queue *q, const struct nc_control *control, uint64_t n)
{
    return nc_wait_clock(&control->clock, nc_clock_at(q->operation, n), q->waiter);
}

/* Reader: I have finished n fragments of this operation. */
static inline void nc_queue_acknowledge(struct nc_queue *q, uint64_t n)
{
    /* release R2: my reads of the slots are over, they may be overwritten; partners: renew_use,
     * nc_queue_recv_slot_is_free, nc_queue_await_recv_slot */
    nc_atomic_release(nc_queue_ack(q, q->rank), nc_clock_at(q->operation, n));
}

/* Everybody: this operation is over for me, and the next one begins. */
void nc_queue_end(struct nc_queue *q);

#endif
