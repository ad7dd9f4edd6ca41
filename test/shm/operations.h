/* What a rank of test_node does: operations on messages whose bytes it can check, and what they
 * need to know of the run. */

#ifndef OPERATIONS_H_INCLUDED
#define OPERATIONS_H_INCLUDED

#include "shm/nc_bcast.h"
#include "shm/nc_barrier.h"

struct run {
    struct nc_geometry geometry;
    const char *kinds; /* names of operations, a random one each time; "all"; NULL: "bcast" */
    enum nc_tree_kind tree;
    int k;
    bool sqrt_rule, typed, mismatch, fixed_root;
    bool breaks;       /* the kernel of a rank, now and then */
    int nodes;         /* NUMA nodes, dealt out in turn; 0: one */
    int packages;      /* these are dealt out to in turn; 0: one */
    int caches;        /* of each NUMA node, dealt out likewise; 0: none are known */
    const char *group; /* as BCAST_GROUP, `tree` tells where it is flat; NULL: everywhere */
    bool remade;       /* now and then there are other trees, where the last ones were */
    int operations;
    size_t largest; /* bytes */
    int delays;     /* one in so many steps is delayed; 0: none */
    char **region;
};

/* The same random numbers on every rank, without sharing anything. */
static inline uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* What a message of an operation consists of; `number`: which of its messages. */
static inline unsigned char byte_at(int operation, int number, size_t i)
{
    return (unsigned char) (i * 31 + (i >> 8) + (unsigned) operation * 7 + (unsigned) number * 101);
}

/* A user type whose elements are `ELEMENT` bytes, with gaps: the mover stops between elements. */
enum { ELEMENT = 12, GAP = 5 };

struct typed {
    unsigned char *memory;
    size_t length;
};

static inline unsigned char *user_byte(const struct run *run, unsigned char *memory, size_t i)
{
    return memory + (run->typed ? i / ELEMENT * (ELEMENT + GAP) + i % ELEMENT : i);
}

/* Where all ranks are, and each one's way. */
struct place {
    int *unit;
    void *topo_memory, *group_memory;
    struct nc_topo topo;
    struct nc_groups groups;
    char *route_memory;
    struct nc_route *route; /* [ranks] */
};

/* What a rank works with, and one operation: who is its root, and the lengths as writer and reader
 * of message r see them. Message r is for rank r of a scatter, of rank r otherwise; a broadcast has
 * message 0 only. */
struct rank {
    const struct run *run;
    unsigned kinds; /* run->kinds, see operations_named */
    struct nc_queue *queue;
    struct nc_bcast *bcast;
    struct nc_transfer *transfer;
    struct nc_barrier *barrier;
    const struct place *place;
    unsigned char *memory; /* of the streams of all messages, user_bytes of each, and of my own */
    size_t user_bytes;
    struct typed *typed; /* [ranks + 1], the last for what I send alone */
    struct nc_stream *stream;
    size_t *length, *other, *sent;
    size_t element; /* bytes of what is reduced */
    int *mate;      /* [ranks + 1][ranks] my team's, of each number of teams */
    int operation, root;
};

/* Of so many teams, dealt out in turn, mine. */
static inline struct nc_team team_of(const struct rank *r, int teams)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;
    int size = (ranks - 1 - me % teams) / teams + 1;

    return (struct nc_team){r->mate + teams * ranks, size, me / teams};
}

static inline bool is_mate(const struct rank *r, int teams, int rank)
{
    return rank % teams == r->queue->rank % teams;
}

/* One in run->delays times it takes a while. */
void delay(const struct run *run, uint64_t *state);

/* Stream `at`, which is to be sent as a message, or to receive one. */
void to_send(struct rank *r, int at, int message);
void to_receive(struct rank *r, int at, int message);

/* Reduce up the trees, and in the order of ranks: to the root, or to all of a team: rank -1. The
 * results are right where they have to be, also if one rank's kernel breaks. */
int reduce_up(struct rank *r, uint64_t choice);
int reduce_in_order(struct rank *r, int to, uint64_t choice);

/* The operations that have these names, for struct rank. */
unsigned operations_named(const char *kinds);

/* One operation; the number of bytes that are wrong on this rank. */
int operate(struct rank *r, uint64_t *dice);

#endif
