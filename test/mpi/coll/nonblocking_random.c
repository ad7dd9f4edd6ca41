/* Random nonblocking calls, up to OPEN of them open at a time, among blocking ones, on several
 * communicators, with checked data: Ibarrier, Ibcast and Iallreduce, empty, short and long, some of
 * kinds that numacoll leaves to MPICH. In an Ibcast each rank has a type of its own. All ranks
 * start the same calls in the same order, and test, or wait for, their own open ones when each of
 * them likes. Then persistent calls, and communicators that are freed while calls on them are open.
 * How many numacoll has served must be as expected.
 *
 *   nonblocking_random [CALLS] */

#define _GNU_SOURCE
#include <unistd.h>

#include "nonblocking.h"

enum { CALLS = 3000, OPEN = 40, BYTES = 3000, COMMS = 3, ROUNDS = 60 };

struct call {
    MPI_Request request;
    int kind, number, comm;
    int root, bytes, count, in_place, has_gaps;
    MPI_Datatype type;
    MPI_Op op;
    _Alignas(16) char sent[BYTES], received[BYTES];
};

static MPI_Comm comms[COMMS];
static int sizes[COMMS], ranks[COMMS];
static struct call pending[OPEN];
static int opened;
static MPI_Datatype gaps; /* 2 bytes, then a byte that stays as it is */
static MPI_Datatype row;  /* 8 of them */
static MPI_Datatype nothing;
static unsigned alike = 1, own;

static int draw(unsigned *dice, int n)
{
    *dice = *dice * 1103515245u + 12345u;
    return (int) (*dice >> 16) % n;
}

/* ---- Ibcast ---- */

/* Draws this rank's type of a message. One of no bytes has count 0 on some ranks, and elements
 * without bytes on others. */
static void draw_type(struct call *c)
{
    const MPI_Datatype types[] = {MPI_BYTE, gaps, row};
    const int bytes[] = {1, 2, 16};
    int kind = draw(&own, 3);

    while (c->bytes % bytes[kind])
        kind--;
    c->type = types[kind];
    c->count = c->bytes / bytes[kind];
    c->has_gaps = kind > 0;
    if (c->bytes == 0 && draw(&own, 2)) {
        c->type = nothing;
        c->count = 1 + draw(&own, 3);
    }
}

/* What is in a rank's buffer when it has the message, or, if `sent` is 0, before. */
static void fill(const struct call *c, int sent, char *buffer)
{
    memset(buffer, 0x55, BYTES);
    for (int i = 0; i < c->bytes && sent; i++)
        buffer[c->has_gaps ? i / 2 * 3 + i % 2 : i] = (char) nc_byte((size_t) i, c->number);
}

static void start_bcast(struct call *c)
{
    MPI_Comm comm = comms[c->comm];
    int most = draw(&alike, 4) ? NC_POST_BYTES : BYTES / 3 * 2;

    c->bytes = draw(&alike, 8) ? draw(&alike, most + 1) : 0;
    c->root = draw(&alike, sizes[c->comm]);
    draw_type(c);
    fill(c, ranks[c->comm] == c->root, c->received);
    if (c->bytes > 0 || NC_EMPTY_BCAST_CALLS)
        nc_nonblocking_count(NC_IBCAST, comm, c->bytes <= NC_POST_BYTES);
    MPI_Ibcast(c->received, c->count, c->type, c->root, comm, &c->request);
}

static void check_bcast(const struct call *c)
{
    char wanted[BYTES];

    fill(c, 1, wanted);
    for (int i = 0; i < BYTES; i++) {
        if (c->received[i] != wanted[i])
            nc_fail("Ibcast: call, byte", c->number, i);
    }
}

/* ---- Iallreduce ---- */

/* Element i of a rank. */
static int element(const struct call *c, int rank, int i)
{
    return (c->number + i) % 100 + 3 * rank;
}

static void put(const struct call *c, char *buffer, int i, int value)
{
    if (c->type == MPI_DOUBLE)
        ((double *) buffer)[i] = value;
    else
        ((int *) buffer)[i] = value;
}

static int expected(const struct call *c, int i)
{
    int value = element(c, 0, i);

    for (int r = 1; r < sizes[c->comm]; r++) {
        int next = element(c, r, i);
        value = c->op == MPI_SUM   ? value + next
                : c->op == MPI_MAX ? (value > next ? value : next)
                                   : value && next; /* MPI_LAND */
    }
    return c->op == MPI_LAND && sizes[c->comm] > 1 ? value != 0 : value;
}

static void start_allreduce(struct call *c)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_LAND};
    MPI_Comm comm = comms[c->comm];
    int size, most = draw(&alike, 4) ? NC_POST_BYTES : BYTES;

    c->op = ops[draw(&alike, 3)];
    c->type = c->op == MPI_LAND || draw(&alike, 2) ? MPI_INT : MPI_DOUBLE;
    c->in_place = draw(&alike, 3) == 0;
    MPI_Type_size(c->type, &size);
    c->count = draw(&alike, 8) ? draw(&alike, most / size + 1) : 0;
    memset(c->received, 0, sizeof c->received);
    for (int i = 0; i < c->count; i++)
        put(c, c->in_place ? c->received : c->sent, i, element(c, ranks[c->comm], i));
    nc_nonblocking_count(NC_IALLREDUCE, comm,
                         size * c->count <= NC_POST_BYTES && c->op != MPI_LAND);
    MPI_Iallreduce(c->in_place ? MPI_IN_PLACE : c->sent, c->received, c->count, c->type, c->op,
                   comm, &c->request);
}

static void check_allreduce(const struct call *c)
{
    _Alignas(16) char wanted[16] = {0};
    int size;

    MPI_Type_size(c->type, &size);
    for (int i = 0; i < c->count && (c->op != MPI_LAND || sizes[c->comm] > 1); i++) {
        put(c, wanted, 0, expected(c, i));
        if (memcmp(wanted, c->received + i * size, (size_t) size))
            nc_fail("Iallreduce: call, element", c->number, i);
    }
}

/* ---- open calls ---- */

static void start(int number)
{
    struct call *c = &pending[opened++];

    c->number = number;
    c->comm = draw(&alike, COMMS);
    c->kind = draw(&alike, NC_NONBLOCKING_KINDS);
    if (c->kind == NC_IBARRIER) {
        nc_nonblocking_count(NC_IBARRIER, comms[c->comm], 1);
        MPI_Ibarrier(comms[c->comm], &c->request);
    } else if (c->kind == NC_IBCAST) {
        start_bcast(c);
    } else {
        start_allreduce(c);
    }
}

/* Call `at` is over. The buffers of an open call must stay where they are, so another one that is
 * moved into its place is one that is over, or the list ends. */
static void over(int at)
{
    struct call *c = &pending[at];

    if (c->kind == NC_IBCAST)
        check_bcast(c);
    else if (c->kind == NC_IALLREDUCE)
        check_allreduce(c);
    c->kind = -1;
    while (opened > 0 && pending[opened - 1].kind < 0)
        opened--;
}

static void test(int at)
{
    int flag = 0;

    if (pending[at].kind < 0)
        return;
    MPI_Test(&pending[at].request, &flag, MPI_STATUS_IGNORE);
    if (flag)
        over(at);
}

static void wait_for(int at)
{
    if (pending[at].kind < 0)
        return;
    MPI_Wait(&pending[at].request, MPI_STATUS_IGNORE);
    over(at);
}

static void wait_for_all(void)
{
    MPI_Request requests[OPEN];
    int n = opened;

    for (int i = 0; i < n; i++)
        requests[i] = pending[i].kind < 0 ? MPI_REQUEST_NULL : pending[i].request;
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        if (pending[i].kind >= 0)
            over(i);
    }
}

static void complete_some(void)
{
    switch (draw(&own, 8)) {
        case 0:
            wait_for(draw(&own, opened));
            break;
        case 1:
            wait_for_all();
            break;
        case 2:
            usleep((useconds_t) draw(&own, 300));
            break;
        default:
            test(draw(&own, opened));
    }
}

static void block(int number)
{
    int value = number + nc_rank, comm = draw(&alike, COMMS), wanted = 0;

    switch (draw(&alike, 3)) {
        case 0:
            nc_barrier(comms[comm]);
            break;
        case 1:
            value = ranks[comm] == 0 ? number : 0;
            nc_bcast(&value, 1, MPI_INT, 0, comms[comm]);
            if (value != number)
                nc_fail("Bcast", value, number);
            break;
        case 2:
            value = ranks[comm] + number;
            nc_count(NC_ALLREDUCE, comms[comm]);
            MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comms[comm]);
            for (int r = 0; r < sizes[comm]; r++)
                wanted += r + number;
            if (value != wanted)
                nc_fail("Allreduce", value, wanted);
    }
}

/* ---- persistent calls ---- */

/* MPICH's. Each rank starts them in an order of its own, as MPI allows, and a nonblocking call
 * among them. */
static void persist(MPI_Comm comm)
{
    enum { CALLS_AT_ONCE = 4 };
    int size, rank, value = 0, mine[3], sum[3];
    MPI_Request requests[CALLS_AT_ONCE + 1];

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                           &requests[2 + i]);
    for (int i = 0; i < CALLS_AT_ONCE; i++)
        nc_nonblocking_count(i < 2 ? i : NC_IALLREDUCE, comm, 0);
    for (int round = 0; round < ROUNDS; round++) {
        value = rank == 0 ? round : -1;
        for (int i = 0; i < 3; i++)
            mine[i] = 1000 * i + round + rank;
        for (int i = 0; i < CALLS_AT_ONCE; i++) {
            if (i == rank % CALLS_AT_ONCE) {
                nc_nonblocking_count(NC_IALLREDUCE, comm, 1);
                MPI_Iallreduce(&mine[2], &sum[2], 1, MPI_INT, MPI_SUM, comm,
                               &requests[CALLS_AT_ONCE]);
            }
            MPI_Start(&requests[(i + rank + round) % CALLS_AT_ONCE]);
        }
        if (draw(&own, 2))
            usleep((useconds_t) draw(&own, 200));
        MPI_Waitall(CALLS_AT_ONCE + 1, requests, MPI_STATUSES_IGNORE);
        if (value != round)
            nc_fail("persistent Bcast", value, round);
        for (int i = 0; i < 3; i++) {
            int wanted = size * (1000 * i + round) + size * (size - 1) / 2;
            if (sum[i] != wanted)
                nc_fail(i < 2 ? "persistent Allreduce" : "Iallreduce", sum[i], wanted);
        }
    }
    for (int i = 0; i < CALLS_AT_ONCE; i++)
        MPI_Request_free(&requests[i]);
}

/* ---- a communicator that is freed ---- */

static void free_early(void)
{
    MPI_Comm comm;
    MPI_Request requests[3];
    int value = nc_rank, sum = 0, sent = nc_rank == 0 ? 7 : 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    nc_barrier(comm);
    for (int i = 0; i < 3; i++)
        nc_nonblocking_count(i, comm, 1);
    if (draw(&own, 2))
        usleep(200);
    MPI_Ibarrier(comm, &requests[0]);
    MPI_Ibcast(&sent, 1, MPI_INT, 0, comm, &requests[1]);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    if (sent != 7 || sum != nc_size * (nc_size - 1) / 2)
        nc_fail("freed communicator", sent, sum);
}

/* Served ones keep REDUCE_ORDER=ranks: a0 + (a1 + (a2 + ..)) is 1 here, ((a0 + a1) + a2) + .. is 0.
 */
static void reduce_in_order(MPI_Comm comm)
{
    double mine = nc_rank == 0 ? 1 : nc_rank == 1 ? 1e16 : nc_rank == 2 ? -1e16 : 0, sum = 0;
    MPI_Request request;

    nc_nonblocking_count(NC_IALLREDUCE, comm, 1);
    MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (nc_nonblocking_serves(comm) && nc_size > 2 && sum != 1)
        nc_fail("order of ranks", (long) sum, 1);
}

int main(int argc, char **argv)
{
    nc_init(&argc, &argv);
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;
    MPI_Datatype pair;
    own = (unsigned) nc_rank * 7919u + 1;
    MPI_Type_contiguous(2, MPI_BYTE, &pair);
    MPI_Type_create_resized(pair, 0, 3, &gaps);
    MPI_Type_free(&pair);
    MPI_Type_commit(&gaps);
    MPI_Type_contiguous(8, gaps, &row);
    MPI_Type_commit(&row);
    MPI_Type_contiguous(0, MPI_BYTE, &nothing);
    MPI_Type_commit(&nothing);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, nc_rank % 2, -nc_rank, &comms[2]);
    nc_nonblocking_open();
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_size(comms[i], &sizes[i]);
        MPI_Comm_rank(comms[i], &ranks[i]);
        nc_barrier(comms[i]);
    }
    for (int number = 0; number < calls; number++) {
        while (opened == OPEN)
            complete_some();
        if (draw(&alike, 3))
            start(number);
        else
            block(number);
        if (opened > 0 && draw(&own, 2))
            complete_some();
    }
    if (opened > 0)
        wait_for_all();
    persist(comms[1]);
    reduce_in_order(comms[1]);
    for (int i = 0; i < 20; i++)
        free_early();
    nc_nonblocking_check();
    MPI_Type_free(&gaps);
    MPI_Type_free(&row);
    MPI_Type_free(&nothing);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return nc_finish();
}
