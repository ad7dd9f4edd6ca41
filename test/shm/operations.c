/* The operations of test_node.c that move data: broadcast, scatter, gather, allgather, exchange,
 * barrier; and the table from which `operate` draws. See operations.h. */

#include "operations.h"

#include "shm/nc_joint.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/nc_exchange.h"
#include "shm/nc_gather.h"
#include "shm/nc_scatter.h"

/* ---- streams over user buffers ---- */

/* The mover of a buffer with gaps (nc_mover in shm/nc_copy.h), in both directions. */
static int move_typed(struct typed *t, size_t offset, unsigned char *packed, size_t max,
                      size_t *moved, int out)
{
    size_t n = 0;

    while (offset + n < t->length) {
        size_t at = offset + n, e = t->length - at < ELEMENT ? t->length - at : ELEMENT;
        unsigned char *user = t->memory + at / ELEMENT * (ELEMENT + GAP);
        if (n + e > max)
            break;
        memcpy(out ? user : packed + n, out ? packed + n : user, e);
        n += e;
    }
    *moved = n;
    return 0;
}

static int pack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) how;
    return move_typed(user, offset, packed, max, moved, 0);
}

static int unpack(void *user, size_t offset, void *packed, size_t max, int how, size_t *moved)
{
    (void) how;
    return move_typed(user, offset, packed, max, moved, 1);
}

static struct nc_stream stream_of(bool gaps, struct typed *t)
{
    struct nc_stream s = {.bytes = gaps ? NULL : (char *) t->memory, .length = t->length};

    s.pack = pack;
    s.unpack = unpack;
    s.user = t;
    return s;
}

void delay(const struct run *run, uint64_t *state)
{
    if (run->delays && random_next(state) % (unsigned) run->delays == 0) {
        if (random_next(state) % 2)
            usleep((useconds_t) (random_next(state) % 300));
        else
            sched_yield();
    }
}

/* A random length: often short, so that the message is inline. */
static size_t length_of(const struct run *run, uint64_t *dice)
{
    switch (random_next(dice) % 4) {
        case 0:
            return random_next(dice) % 41;
        case 1:
            return random_next(dice) % 400;
        default:
            return random_next(dice) % (run->largest + 1);
    }
}

static void set_up_stream(struct rank *r, int at, size_t length, bool gaps)
{
    r->typed[at] = (struct typed){.memory = r->memory + (size_t) at * r->user_bytes,
                                  .length = length};
    r->stream[at] = stream_of(gaps, &r->typed[at]);
}

/* Fills stream `at` with the bytes of a message. */
static void fill(struct rank *r, int at, int message, bool gaps)
{
    for (size_t i = 0; i < r->typed[at].length; i++)
        *user_byte(gaps, r->typed[at].memory, i) = byte_at(r->operation, message, i);
}

/* Makes stream `at` an empty buffer of so many bytes. */
static void make_room(struct rank *r, int at, size_t bytes)
{
    set_up_stream(r, at, bytes, r->run->typed);
    for (size_t i = 0; i < bytes; i++)
        *user_byte(r->run->typed, r->typed[at].memory, i) = 0xee;
}

void to_send(struct rank *r, int at, int message)
{
    bool gaps = r->run->typed && !r->run->direct;

    set_up_stream(r, at, r->length[message], gaps);
    fill(r, at, message, gaps);
}

void to_receive(struct rank *r, int at, int message)
{
    make_room(r, at, r->other[message]);
}

/* ---- the operations ---- */

/* The errors in stream `at`, into which a message of `length` bytes was received: wrong bytes,
 * bytes written behind its end, a wrong length in `sent`. */
static int wrong_bytes(const struct rank *r, int at, int message, size_t length, size_t sent)
{
    size_t room = r->typed[at].length, arrived = length < room ? length : room;
    int wrong = sent != length;

    /* a message that ends inside an element leaves that element as it was */
    if (r->run->typed && arrived < room)
        arrived -= arrived % ELEMENT;
    for (size_t i = 0; i < room; i++)
        wrong += *user_byte(r->run->typed, r->typed[at].memory, i) !=
                 (i < arrived ? byte_at(r->operation, message, i) : 0xee);
    return wrong;
}

static int wrong_in(const struct rank *r, int at, int message, size_t sent)
{
    return wrong_bytes(r, at, message, r->length[message], sent);
}

static int broadcast(struct rank *r, uint64_t *dice)
{
    bool sends = r->queue->rank == r->root;
    size_t sent = 0;

    (void) dice;
    if (sends)
        to_send(r, 0, 0);
    else
        to_receive(r, 0, 0);
    if (nc_bcast_node(r->transfer, &r->route, r->root, &r->stream[0], &sent) ||
        sent != r->length[0])
        return 1;
    return sends ? 0 : wrong_in(r, 0, 0, sent);
}

/* With `late`: the rank after the root waits until all others but the root have ended the
 * operation, for which they must not need it. Returns 1 if they have not in ten seconds; then it
 * comes, and is not late any more, so that the test fails and does not hang. */
static int come_late(struct rank *r)
{
    struct nc_queue *q = r->queue;
    time_t latest = time(NULL) + 10;

    if (!r->run->late || r->was_needed || q->rank != nc_queue_next(q, r->root))
        return 0;
    for (int i = nc_queue_next(q, q->rank); i != r->root; i = nc_queue_next(q, i)) {
        while (!nc_clock_reached(nc_atomic_acquire(nc_queue_ack(q, i)),
                                 nc_clock_at(q->operation + 1, 0))) {
            if (time(NULL) > latest) {
                printf("operation %lu, root %d: rank %d needs rank %d\n",
                       (unsigned long) q->operation, r->root, i, q->rank);
                r->was_needed = true;
                return 1;
            }
            usleep(100);
        }
    }
    return 0;
}

static int scatter(struct rank *r, uint64_t *dice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;
    size_t sent = 0;
    int wrong = come_late(r);
    bool own;

    (void) dice;
    for (int i = 0; i < ranks && me == r->root; i++)
        to_send(r, i, i);
    to_receive(r, ranks, me);
    own = me != r->root || nc_joint_takes_own(r->transfer, &r->stream[me], &r->stream[ranks]);
    if (nc_scatter_node(r->transfer, r->root, r->stream, own ? &r->stream[ranks] : NULL, &sent))
        return 1;
    return own ? wrong + wrong_in(r, ranks, me, me == r->root ? r->length[me] : sent) : wrong;
}

/* Whether nc_allgather_node does not bring this message here, but leaves it to its caller: it is
 * not inline, and its sender is on another NUMA node. */
static bool stays_away(const struct rank *r, int message)
{
    const int *group = r->route.groups->of[0];

    return nc_allgather_stays(r->length[message]) && group[message] != group[r->queue->rank];
}

/* Whether this rank is alone in its NUMA node, and its own message is not inline: it is
 * left to its caller, too. */
static bool is_left_alone(const struct rank *r)
{
    const int *group = r->route.groups->of[0];
    int me = r->queue->rank, mates = 0;

    for (int i = 0; i < (int) r->run->geometry.ranks; i++)
        mates += group[i] == group[me];
    return mates == 1 && nc_allgather_stays(r->length[me]);
}

/* The bytes of stream `at` that were written though nothing should be. */
static int untouched(const struct rank *r, int at, int message, size_t sent)
{
    int wrong = sent != r->length[message];

    for (size_t i = 0; i < r->other[message]; i++)
        wrong += *user_byte(r->run->typed, r->typed[at].memory, i) != 0xee;
    return wrong;
}

/* A gather to rank `to`; -1: an allgather. */
static int gather_to(struct rank *r, int to)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    bool receives = to < 0 || to == me, own;

    to_send(r, ranks, me);
    for (int i = 0; i < ranks && receives; i++)
        to_receive(r, i, i);
    own = to != me || nc_joint_takes_own(r->transfer, &r->stream[ranks], &r->stream[me]);
    if (to < 0
            ? nc_allgather_node(r->transfer, r->route.groups, &r->stream[ranks], r->stream, r->sent)
            : nc_gather_node(r->transfer, to, own ? &r->stream[ranks] : NULL, r->stream, r->sent))
        return 1;
    r->sent[me] = r->length[me];
    for (int i = 0; i < ranks && receives; i++) {
        if (i == me && !own)
            continue;
        wrong += to < 0 && (i == me ? is_left_alone(r) : stays_away(r, i))
                     ? untouched(r, i, i, r->sent[i])
                     : wrong_in(r, i, i, r->sent[i]);
    }
    return wrong;
}

static int gather(struct rank *r, uint64_t *dice)
{
    int wrong = come_late(r);

    (void) dice;
    return wrong + gather_to(r, r->root);
}

/* An allgather by teams; the streams of other teams must stay as they were. */
static int gather_in_teams(struct rank *r, int teams)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    struct nc_team team = team_of(r, teams);

    to_send(r, ranks, me);
    for (int i = 0; i < ranks; i++)
        to_receive(r, i, i);
    if (nc_allgather_team(r->transfer, &team, &r->stream[ranks], r->stream, r->sent))
        return 1;
    for (int i = 0; i < ranks; i++)
        wrong += is_mate(r, teams, i) ? wrong_in(r, i, i, r->sent[i])
                                      : untouched(r, i, i, r->length[i]);
    return wrong;
}

static int allgather(struct rank *r, uint64_t *dice)
{
    if (random_next(dice) % 2)
        return gather_to(r, -1);
    return gather_in_teams(r, 1 + (int) (random_next(dice) % r->run->geometry.ranks));
}

/* The pair of a sender and a receiver: the number of its message, and an index into r->length and
 * r->other, which for `alike` is the same in both directions. */
static int pair_of(const struct rank *r, int sender, int receiver)
{
    return sender * (int) r->run->geometry.ranks + receiver;
}

static int length_index(const struct rank *r, int sender, int receiver, bool alike)
{
    return (sender + (alike ? 1 : 2) * receiver) % (int) r->run->geometry.ranks;
}

/* Streams 0 to ranks - 1 are what the others send to this rank, the streams behind them what it
 * sends to them: in place the same buffers, and other streams. */
static void to_exchange(struct rank *r, bool in_place, bool alike)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;

    for (int i = 0; i < ranks; i++) {
        size_t bytes = r->length[length_index(r, me, i, alike)];
        make_room(r, i, i == me ? 100 : r->other[length_index(r, i, me, alike)]);
        set_up_stream(r, ranks + i, bytes, r->run->typed);
        if (in_place && i != me) {
            r->typed[ranks + i].memory = r->typed[i].memory;
            r->stream[ranks + i] = r->stream[i];
            r->stream[ranks + i].user = &r->typed[ranks + i];
        }
        fill(r, ranks + i, pair_of(r, me, i), r->run->typed);
    }
}

static void sent_in_exchange(void *context, int rank, struct nc_stream *stream)
{
    const struct rank *r = context;

    *stream = r->stream[(int) r->run->geometry.ranks + rank];
}

static void received_in_exchange(void *context, int rank, struct nc_stream *stream)
{
    const struct rank *r = context;

    *stream = r->stream[rank];
}

static int exchange(struct rank *r, uint64_t *dice)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank, wrong = 0;
    bool alike = random_next(dice) % 2, in_place = alike && !r->run->mismatch, fit = true;
    uint64_t own_dice = (uint64_t) r->operation * 64 + (uint64_t) me;
    struct nc_exchange_blocks blocks = {sent_in_exchange, received_in_exchange, r};
    int teams = 1 + (int) (random_next(dice) % (unsigned) ranks);
    struct nc_team team;
    struct nc_exchange x;

    teams = ranks % teams ? 1 : teams; /* which have the same size */
    team = team_of(r, teams);
    to_exchange(r, in_place, alike);
    nc_exchange_begin(&x, r->transfer, &team, &blocks);
    delay(r->run, &own_dice);
    if (nc_exchange_end(&x))
        return 1;
    for (int i = 0; i < ranks; i++) {
        bool is_partner = i != me && is_mate(r, teams, i);
        size_t sent = is_partner ? r->length[length_index(r, i, me, alike)] : 0;
        if (!is_partner && in_place && i != me)
            continue; /* there is what this rank would have sent */
        wrong += wrong_bytes(r, i, pair_of(r, i, me), sent, sent);
        fit = fit && sent <= r->typed[i].length;
    }
    return wrong + ((x.too_long > x.room) != !fit);
}

static int barrier(struct rank *r, uint64_t *dice)
{
    int error = (random_next(dice) % 2 ? nc_barrier_central : nc_barrier_dissemination)(
        r->barrier, r->queue->operation + 1);

    nc_queue_end(r->queue);
    return error;
}

/* A gather, and a barrier behind it. Nobody announces anything to a sender that has left the
 * gather: its receive control slot may be in use for another operation by then. */
static int gather_left(struct rank *r, uint64_t *dice)
{
    const struct nc_control *control = nc_queue_recv_control(r->queue, r->queue->rank);
    int wrong = gather(r, dice);
    nc_clock left = nc_atomic_acquire(&control->clock);

    wrong += barrier(r, dice);
    return wrong + (nc_atomic_acquire(&control->clock) != left);
}

/* Chooses the size of an element, and rounds the lengths to whole elements. All ranks get the same
 * length; with run->mismatch some of them sometimes another. */
static void to_reduce(struct rank *r, uint64_t *dice)
{
    const size_t element[] = {1, 3, 8, 48, r->run->geometry.slot_bytes};
    bool alike = !r->run->mismatch || random_next(dice) % 2;

    r->element = element[random_next(dice) % (sizeof element / sizeof *element)];
    for (uint32_t i = 0; i < r->run->geometry.ranks; i++) {
        if (i > 0 && (alike || random_next(dice) % 4))
            r->length[i] = r->length[0];
        r->length[i] -= r->length[i] % r->element;
    }
}

static int reduce(struct rank *r, uint64_t *dice)
{
    to_reduce(r, dice);
    return reduce_up(r, random_next(dice));
}

static int reduce_ordered(struct rank *r, uint64_t *dice)
{
    to_reduce(r, dice);
    int to = random_next(dice) % 2 ? -1 : r->root;
    return reduce_in_order(r, to, random_next(dice));
}

static int reduce_scatter(struct rank *r, uint64_t *dice)
{
    to_reduce(r, dice);
    return reduce_to_parts(r, random_next(dice));
}

/* Where nothing is read directly, nobody looks for shared buffers. */
static int out_of_shared_buffers(struct rank *r, int to, uint64_t *dice)
{
    to_reduce(r, dice);
    return r->run->direct == BY_QUEUE ? reduce_up(r, random_next(dice))
                                      : reduce_shared(r, to, random_next(dice));
}

static int allreduce_shared(struct rank *r, uint64_t *dice)
{
    return out_of_shared_buffers(r, -1, dice);
}

static int root_reduces_shared(struct rank *r, uint64_t *dice)
{
    return out_of_shared_buffers(r, r->root, dice);
}

static int scan_by_step(struct rank *r, uint64_t *dice)
{
    to_reduce(r, dice);
    return scan_step(r, random_next(dice));
}

/* Only long messages of equal lengths, without gaps, go along the chain. */
static int scan_along_chain(struct rank *r, uint64_t *dice)
{
    bool fits = !r->run->typed;

    to_reduce(r, dice);
    for (uint32_t i = 0; i < r->run->geometry.ranks; i++)
        fits = fits && r->length[i] > NC_INLINE_BYTES;
    return (fits ? scan_chain : scan_step)(r, random_next(dice));
}

/* One row for each operation. A run of kinds "all" draws from all rows. */
static const struct {
    const char *name;
    int (*run)(struct rank *r, uint64_t *dice); /* returns the errors found on this rank */
} operations[] = {
    {"bcast", broadcast},
    {"scatter", scatter},
    {"gather", gather},
    {"gather_left", gather_left},
    {"allgather", allgather},
    {"exchange", exchange},
    {"barrier", barrier},
    {"reduce", reduce},
    {"reduce_ordered", reduce_ordered},
    {"allreduce_shared", allreduce_shared},
    {"reduce_shared", root_reduces_shared},
    {"reduce_scatter", reduce_scatter},
    {"scan_step", scan_by_step},
    {"scan_chain", scan_along_chain},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* The bit of the operation whose name is the first n characters of `name`. */
static unsigned bit_of(const char *name, size_t n)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (strlen(operations[i].name) == n && !strncmp(operations[i].name, name, n))
            return 1u << i;
    }
    fprintf(stderr, "%.*s: no such operation\n", (int) n, name);
    abort();
}

unsigned operations_named(const char *kinds)
{
    unsigned found = 0;

    if (!kinds)
        kinds = "bcast";
    if (!strcmp(kinds, "all"))
        return (1u << OPERATIONS) - 1;
    for (; *kinds; kinds += strspn(kinds, " ")) {
        size_t n = strcspn(kinds, " ");
        found |= bit_of(kinds, n);
        kinds += n;
    }
    return found;
}

int operate(struct rank *r, uint64_t *dice)
{
    const struct run *run = r->run;
    int ranks = (int) run->geometry.ranks;
    bool alike = random_next(dice) % 2;
    uint64_t kind;

    do
        kind = random_next(dice) % OPERATIONS;
    while (!(r->kinds >> kind & 1));
    r->root = run->fixed_root ? 0 : (int) (random_next(dice) % run->geometry.ranks);
    for (int i = 0; i < ranks; i++) {
        r->length[i] = alike && i > 0 ? r->length[0] : length_of(run, dice);
        r->other[i] = run->mismatch ? length_of(run, dice) : r->length[i];
    }
    return operations[kind].run(r, dice);
}
