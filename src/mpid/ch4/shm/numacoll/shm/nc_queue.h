/* The queues of the ranks of one node: the one protocol in shared memory that all collectives use.
 * The callers are nc_transfer and the parts of the collectives in this folder; mpich/ makes the
 * queue. PROTOCOLS.md has the protocol; R1, R2 and R3 are its releases.
 *
 * All ranks make the same operations in the same order. Every rank ends each of them by one call of
 * nc_queue_end, even if it has nothing else to do in it. Before that call a rank is, in any
 * combination,
 *
 *   a writer   fills slots of its own send ring, or of receive rings of other ranks, and announces
 *              them in receive control slots of the readers, or in its own send control slot
 *   a reader   awaits a control slot, reads slots, and acknowledges them; in a broadcast it also
 *              announces the message to its children */

#ifndef NC_QUEUE_H_INCLUDED
#define NC_QUEUE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/nc_clock.h"
#include "../core/nc_layout.h"
#include "nc_atomic.h"
#include "nc_wait.h"

/* The description of a message. The writer of a control slot writes it before it releases `clock`
 * for the first time in the operation; a reader reads it after it has acquired that clock. */
struct nc_control_header {
    uint64_t total;    /* bytes of the message */
    uint32_t fragment; /* bytes of a fragment; 0: the message is in `payload` */
    /* index of the slot that has fragment 0, in the writer's send ring; or the place of fragment 0
     * in the reader's receive ring (nc_scatter.c) */
    uint32_t first_slot : 14;
    uint32_t direct : 1;     /* `payload` says where the message is: struct nc_origin; or where it
                                is to go: struct nc_offer; or, in a reduction out of shared
                                buffers, its struct posted */
    uint32_t incomplete : 1; /* up a tree: some rank below is left out */
    uint32_t call : 16;      /* nc_queue.call of the writer */
};

#define NC_FIRST_SLOT_MASK 0x3fff /* a ring has fewer slots; of places so many have a number */

/* Where the payload of a control slot begins, bytes. A multiple of 32: elements of a reduction need
 * 16 (__float128, and types of users' operations), as memory of malloc has; and the vectors by
 * which payloads are copied, counted from the beginning, do not lie across two cache lines. */
#define NC_PAYLOAD_AT   32
#define NC_INLINE_BYTES (NC_CONTROL_BYTES - NC_PAYLOAD_AT)

/* A control slot: it announces the message of one operation.
 *
 *   receive control slot   writer: the parent of its owner in that operation, once the `ack` of
 *                          the owner has passed the operation that used the slot before;
 *                          reader: its owner. In a gather the root is the parent, and announces
 *                          not a message but how many of the owner's fragments it has read, or
 *                          what it does with a direct message (nc_gather.c)
 *   send control slot      writer: its owner; readers: the ranks it is taken for
 *
 * In an offer (nc_joint.h) both write one word of the payload, by adding to it.
 *
 * The writer writes header and payload, then releases `clock` (R1); a reader acquires `clock`, then
 * reads header and payload. A clock that nobody has written for very long is renewed by the owner
 * (refresh_control in nc_queue.c). The first 32 bytes of the payload share a cache line with the
 * clock. */
struct nc_control {
    struct nc_atomic clock; /* (operation, fragments announced) */
    struct nc_control_header header;
    char unused[NC_PAYLOAD_AT - 8 - sizeof(struct nc_control_header)];
    char payload[NC_INLINE_BYTES];
};

_Static_assert(sizeof(struct nc_control) == NC_CONTROL_BYTES,
               "a control slot is three pairs of lines");
_Static_assert(NC_PAYLOAD_AT % 32 == 0 && offsetof(struct nc_control, payload) == NC_PAYLOAD_AT,
               "elements of the payload are aligned");
_Static_assert(NC_INLINE_BYTES == 352, "the documents say so");

/* The ranks that read a slot or a send control slot: up to two lists (in a broadcast the ranks this
 * rank leads, and its children in another group). The writer may be in a list. The queue keeps the
 * pointers until it takes the slot again, and the lists must stay in place until then. */
struct nc_readers {
    const int *rank[2];
    int count[2];
};

/* Ranks that make one operation among themselves, while the other ranks of the node do so in teams
 * of their own. `rank` is in the same order on all ranks of the team, and must stay in place as
 * long as lists of readers; rank[index] is this rank. */
struct nc_team {
    const int *rank;
    int size;
    int index;
};

/* The last use of a slot of my send ring, or of a send control slot of mine. */
struct nc_use {
    nc_clock over; /* what `ack` of each reader must have reached before I write there again */
    struct nc_readers readers;
};

/* A rank whose message belongs to another call than this rank's. */
struct nc_stranger {
    int rank;
    uint16_t call; /* 0: there is none */
};

/* One rank's view of the queues of a communicator. Private memory. */
struct nc_queue {
    char *const *region; /* [ranks] where the region of each rank is mapped */
    struct nc_geometry geometry;
    struct nc_layout layout;
    int rank;
    /* number of the current operation, from 0; nc_exchange sends for later operations, too */
    uint64_t operation;
    uint64_t head;     /* slots of my send ring taken so far */
    uint32_t position; /* head modulo the number of slots: the slot that is taken next */
    /* slots of a receive ring that this rank has filled so far, as the root of scatters */
    uint64_t scattered;
    struct nc_use *slot_use;    /* [slots] of my send ring */
    struct nc_use *control_use; /* [send_controls], behind slot_use in one array */
    nc_clock *seen;             /* [ranks] `ack` of each rank when I last loaded it */
    int *everybody;             /* [ranks] 0, 1, ..: lists of readers point into it */
    struct nc_waiter *waiter;
    /* what the current operation belongs to, for instance the number of a collective; chosen by who
     * makes the operation, alike on all ranks */
    uint16_t call;
    struct nc_stranger stranger; /* the first one met; who takes it sets it to 0 again */
};

/* Bytes of private memory that nc_queue_init needs; the caller aligns it for pointers and for
 * uint64_t. */
size_t nc_queue_private_bytes(const struct nc_geometry *geometry);

/* Makes a rank's view of a segment whose clocks are all zero. region[ranks], the private memory and
 * the waiter must outlive the queue. */
void nc_queue_init(struct nc_queue *queue, char *const *region, const struct nc_geometry *geometry,
                   int rank, void *private_memory, struct nc_waiter *waiter);

/* The word in which a rank publishes how far it has read: R2, R3. */
static inline struct nc_atomic *nc_queue_ack(const struct nc_queue *q, int rank)
{
    return (struct nc_atomic *) (q->region[rank] + q->layout.ack);
}

/* A rank's receive control slot of the current operation; nc_queue_send_control: its send control
 * slot. */
static inline struct nc_control *nc_queue_recv_control(const struct nc_queue *q, int rank)
{
    return (struct nc_control *) (q->region[rank] + q->layout.recv_controls) +
           (q->operation & (q->geometry.recv_controls - 1));
}

static inline struct nc_control *nc_queue_send_control(const struct nc_queue *q, int rank)
{
    return (struct nc_control *) (q->region[rank] + q->layout.send_controls) +
           (q->operation & (q->geometry.send_controls - 1));
}

/* i modulo n, without a division where i is below n, as in most messages that are short enough to
 * notice one. */
static inline uint64_t nc_queue_modulo(uint64_t i, uint32_t n)
{
    return __builtin_expect(i < n, 1) ? i : i % n;
}

/* Slot number `slot`, modulo the number of slots, of a rank's send ring. */
static inline char *nc_queue_slot(const struct nc_queue *q, int rank, uint64_t slot)
{
    return q->region[rank] + q->layout.send +
           nc_queue_modulo(slot, q->geometry.slots) * q->layout.slot_stride;
}

/* The index, in my send ring, of the slot that nc_queue_take_slot takes next. */
static inline uint32_t nc_queue_position(const struct nc_queue *q)
{
    return q->position;
}

/* Slot number `slot`, modulo the number of slots, of a rank's receive ring. */
static inline char *nc_queue_recv_slot(const struct nc_queue *q, int rank, uint64_t slot)
{
    return q->region[rank] + q->layout.recv +
           nc_queue_modulo(slot, q->layout.recv_slots) * q->layout.slot_stride;
}

/* The team of all ranks of the node, in their order. */
static inline struct nc_team nc_queue_everybody(const struct nc_queue *q)
{
    return (struct nc_team){q->everybody, (int) q->geometry.ranks, q->rank};
}

/* The rank `places` places (0 to team->size) after mine in the team; after the last comes the
 * first. */
static inline int nc_team_after(const struct nc_team *team, int places)
{
    int i = team->index + places;

    return team->rank[i < team->size ? i : i - team->size];
}

/* All ranks of a team as readers; nc_queue_one: one rank as the only reader. */
static inline struct nc_readers nc_queue_team(const struct nc_team *team)
{
    return (struct nc_readers){.rank = {team->rank, NULL}, .count = {team->size, 0}};
}

static inline struct nc_readers nc_queue_one(const struct nc_queue *q, int rank)
{
    return (struct nc_readers){.rank = {q->everybody + rank, NULL}, .count = {1, 0}};
}

/* The rank after `rank`; after the last comes rank 0. */
static inline int nc_queue_next(const struct nc_queue *q, int rank)
{
    return rank + 1 < (int) q->geometry.ranks ? rank + 1 : 0;
}

/* Writer: takes the next slot of my send ring, after waiting until the readers of its last use have
 * acknowledged that use. The new use is by `readers`, and is over when their `ack` has reached
 * `used`. Returns the slot. */
char *nc_queue_take_slot(struct nc_queue *q, nc_clock used, const struct nc_readers *readers);

/* Writer: whether nc_queue_take_slot would return at once. nc_queue_slot_free: if not, what to wait
 * for before asking again. */
bool nc_queue_slot_is_free(struct nc_queue *q);
struct nc_awaited nc_queue_slot_free(const struct nc_queue *q);

/* Sender of a gather: the same as nc_queue_take_slot for a slot that it has taken in this operation
 * already, and of which it knows that its reader has read it. The new use is over when the one
 * before is. */
char *nc_queue_take_slot_again(struct nc_queue *q);

/* Writer, or a reader that announces to a child: takes the receive control slot of `reader` for
 * this operation, after waiting until `reader` has ended the operation that used the control slot
 * before, geometry.recv_controls operations ago. */
struct nc_control *nc_queue_take_recv_control(struct nc_queue *q, int reader);

/* Writer: takes my send control slot for this operation, to be read by `readers`, after waiting
 * until the readers of its last use have ended that operation. */
struct nc_control *nc_queue_take_send_control(struct nc_queue *q, const struct nc_readers *readers);

/* Whether nc_queue_take_send_control would return at once. nc_queue_send_control_free: if not, what
 * to wait for before asking again. */
bool nc_queue_send_control_is_free(struct nc_queue *q);
struct nc_awaited nc_queue_send_control_free(const struct nc_queue *q);

/* Root of a scatter: whether fragment i of this operation may be written into the receive ring of
 * `reader`. Fragments are written in order, so all before i are written. nc_queue_recv_slot_free:
 * what to wait for until it may. */
bool nc_queue_recv_slot_is_free(struct nc_queue *q, int reader, uint64_t i);
struct nc_awaited nc_queue_recv_slot_free(const struct nc_queue *q, int reader, uint64_t i);

/* Writer, or a reader that announces to a child: announces n >= 1 fragments in a control slot that
 * it has taken, the reader's receive control slot or my send control slot. The header, and the
 * payload of an inline message, must be written before the first announcement. */
static inline void nc_queue_announce(struct nc_queue *q, struct nc_control *control, uint64_t n)
{
    /* release R1: the reader may read header, payload and slots; partners: nc_queue_await,
     * nc_queue_is_announced */
    nc_release(&control->clock, nc_clock_at(q->operation, n), q->waiter);
}

/* Reader: what to wait for until n fragments of this operation are announced in my receive control
 * slot, or in the writer's send control slot. */
static inline struct nc_awaited nc_queue_announced(const struct nc_queue *q,
                                                   const struct nc_control *control, uint64_t n)
{
    return (struct nc_awaited){.word = &control->clock, .clock = nc_clock_at(q->operation, n)};
}

/* Reader: whether they are announced (acquire of R1). */
static inline bool nc_queue_is_announced(const struct nc_queue *q, const struct nc_control *control,
                                         uint64_t n)
{
    return nc_clock_reached(nc_atomic_acquire(&control->clock), nc_clock_at(q->operation, n));
}

/* Reader: whether so many are announced there, and no more (acquire of R1). */
static inline bool nc_queue_has_announced(const struct nc_queue *q,
                                          const struct nc_control *control, uint64_t n)
{
    return nc_atomic_acquire(&control->clock) == nc_clock_at(q->operation, n);
}

/* Reader: whether an announced message belongs to the same call as this rank's operation. A program
 * in which ranks call different collectives is wrong; the reader then leaves the message alone, and
 * notes whose it is. */
static inline bool nc_queue_is_of_call(struct nc_queue *q, const struct nc_control *control,
                                       int rank)
{
    if (__builtin_expect(control->header.call == q->call, 1))
        return true;
    if (!q->stranger.call)
        q->stranger = (struct nc_stranger){rank, (uint16_t) control->header.call};
    return false;
}

/* Reader: waits until they are announced (acquire of R1). */
static inline void nc_queue_await(struct nc_queue *q, const struct nc_control *control, uint64_t n)
{
    nc_wait_clock(&control->clock, nc_clock_at(q->operation, n), q->waiter);
}

/* Reader: acknowledges the first n fragments of this operation in every ring that this rank reads:
 * their writers may reuse the slots. */
static inline void nc_queue_acknowledge(struct nc_queue *q, uint64_t n)
{
    /* release R2: my reads of these slots are over, the writer may overwrite them; partners:
     * renew_use, nc_queue_recv_slot_is_free */
    nc_release(nc_queue_ack(q, q->rank), nc_clock_at(q->operation, n), q->waiter);
}

/* Ends the current operation for this rank. Every rank calls it exactly once per operation. */
void nc_queue_end(struct nc_queue *q);

/* Whether a rank has ended the operation that this rank is in (acquire of R3). nc_queue_ending:
 * what to wait for until it has. */
bool nc_queue_has_ended(struct nc_queue *q, int rank);
struct nc_awaited nc_queue_ending(const struct nc_queue *q, int rank);

/* Waits until these ranks have ended the operation that this rank has ended last: they do not read
 * this rank's memory any more (acquire of R3). */
void nc_queue_await_ended(struct nc_queue *q, const struct nc_readers *readers);

#endif
