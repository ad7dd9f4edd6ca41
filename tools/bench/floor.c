/* Copies that are measured in the place of an algorithm. floor_copy is one core's copy of a
 * message, for --memcpy and --streamed. The others are the copies that a collective inside a node
 * cannot avoid where messages go through shared memory: what each rank has to move between its own
 * buffers and a queue, as if nobody had to wait. Other ranks' data is not there, so results are not
 * right. --floor measures them as an algorithm beside the others. */

#include "bench.h"

#include <string.h>

#include "core/nc_combine.h"
#include "shm/nc_copy.h"

enum {
    PIECE = 32768,   /* bytes: a fragment */
    RING = 8 * PIECE /* bytes: in a processor's cache, as the ring of a queue */
};

static _Alignas(4096) unsigned char ring[RING];

/* Copies n bytes into the ring, piece by piece. */
static void in(const unsigned char *from, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE)
        memcpy(ring + at % RING, from + at, n - at < PIECE ? n - at : PIECE);
}

static void out(unsigned char *to, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE)
        memcpy(to + at, ring + at % RING, n - at < PIECE ? n - at : PIECE);
}

/* Adds n bytes of numbers in the ring to those at `from`, as numacoll does. */
static void combine(unsigned char *to, const unsigned char *from, size_t n)
{
    nc_combine *add = nc_combine_find(NC_SUM, NC_DOUBLE, NC_COMBINE_WIDE);

    for (size_t at = 0; at < n; at += PIECE)
        add(to + at, ring + at % RING, from + at,
            (n - at < PIECE ? n - at : PIECE) / sizeof(double));
}

/* The same in the ring. */
static void relay(const unsigned char *from, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE)
        combine(ring, from + at, n - at < PIECE ? n - at : PIECE);
}

static void bcast(const struct call *c)
{
    if (c->rank == c->root)
        in(c->in, c->m);
    else
        out(c->in, c->m);
}

static void scatter(const struct call *c)
{
    if (c->rank != c->root) {
        out(c->out, c->m);
        return;
    }
    for (int i = 0; i < c->ranks; i++) {
        if (i != c->rank)
            in(c->in + (size_t) i * c->m, c->m);
    }
    memcpy(c->out, c->in + (size_t) c->rank * c->m, c->m);
}

/* Into out: the blocks of all ranks. */
static void collect(const struct call *c)
{
    memcpy(c->out + (size_t) c->rank * c->m, c->in, c->m);
    for (int i = 0; i < c->ranks; i++) {
        if (i != c->rank)
            out(c->out + (size_t) i * c->m, c->m);
    }
}

static void gather(const struct call *c)
{
    if (c->rank == c->root)
        collect(c);
    else
        in(c->in, c->m);
}

static void allgather(const struct call *c)
{
    in(c->in, c->m);
    collect(c);
}

/* Each block but the own one goes in and comes out once. */
static void alltoall(const struct call *c)
{
    for (int i = 0; i < c->ranks; i++) {
        if (i != c->rank)
            in(c->in + (size_t) i * c->m, c->m);
    }
    for (int i = 0; i < c->ranks; i++) {
        if (i != c->rank)
            out(c->out + (size_t) i * c->m, c->m);
    }
    memcpy(c->out + (size_t) c->rank * c->m, c->in + (size_t) c->rank * c->m, c->m);
}

/* A chain: each rank combines what one other rank has with its own, the last one only sends. */
static void reduce(const struct call *c)
{
    if (c->rank == c->root)
        combine(c->out, c->in, c->m);
    else if (c->ranks > 2 && c->rank != (c->root + c->ranks - 1) % c->ranks)
        relay(c->in, c->m);
    else
        in(c->in, c->m);
}

/* By slices: each rank gives away all but its own slice, combines that of all ranks, gives it away,
 * and takes the other slices. */
static void allreduce(const struct call *c)
{
    size_t slice = c->m / (size_t) c->ranks / sizeof(double) * sizeof(double), rest = c->m - slice;

    in(c->in + slice, rest);
    for (int i = 1; i < c->ranks; i++)
        combine(c->out, i == 1 ? c->in : c->out, slice);
    in(c->out, slice);
    out(c->out + slice, rest);
}

/* Each rank gives away all blocks but its own, and combines that of all ranks. */
static void reduce_scatter(const struct call *c)
{
    const unsigned char *own = c->in + (size_t) c->rank * c->m;

    for (int i = 0; i < c->ranks; i++) {
        if (i != c->rank)
            in(c->in + (size_t) i * c->m, c->m);
    }
    for (int i = 1; i < c->ranks; i++)
        combine(c->out, i == 1 ? own : c->out, c->m);
}

/* A chain: each rank combines what one other rank has with its own, for the rank after it, and
 * keeps that, or, in an exclusive scan, what the other has. */
static void prefix(const struct call *c, bool exclusive)
{
    bool hands_on = c->rank + 1 < c->ranks;

    if (c->rank == 0)
        in(c->in, c->m);
    else if (hands_on)
        relay(c->in, c->m);
    if (exclusive ? c->rank > 0 : hands_on)
        out(c->out, c->m);
    else if (!exclusive)
        combine(c->out, c->in, c->m);
}

static void scan(const struct call *c)
{
    prefix(c, false);
}

static void exscan(const struct call *c)
{
    prefix(c, true);
}

void floor_copy(const struct collective *of, const struct call *c)
{
    const unsigned char *result;
    size_t n = collective_result(of, c, &result);

    if (c->rank == c->root)
        nc_copy_bytes(c->copy, result, n, c->kind == KIND_STREAMED ? NC_COPY_STREAMING : 0);
}

static const struct {
    const char *collective;
    floor_copies *copies;
} table[] = {
    {"bcast", bcast},
    {"scatter", scatter},
    {"scatterv", scatter},
    {"gather", gather},
    {"gatherv", gather},
    {"allgather", allgather},
    {"allgatherv", allgather},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"alltoall", alltoall},
    {"alltoallv", alltoall},
    {"alltoallw", alltoall},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter},
    {"scan", scan},
    {"exscan", exscan},
};

floor_copies *floor_of(const char *collective)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!strcmp(table[i].collective, collective))
            return table[i].copies;
    }
    return NULL;
}
