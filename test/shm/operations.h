/* The operations that the ranks of test_node.c make, and the parameters of a run. test_node.c makes
 * the ranks and calls `operate`; operations.c has the operations that move data, reductions.c those
 * that reduce. The bytes of a message follow from its number, so every rank can check all it
 * receives. */

#ifndef OPERATIONS_H_INCLUDED
#define OPERATIONS_H_INCLUDED

#include "shm/nc_bcast.h"
#include "shm/nc_barrier.h"

/* The parameters of a run, alike on all ranks. */
/* How ranks wait: all yield and nobody looks for sleepers; all sleep at once; each rank as it likes
 * at the moment. */
enum waits { YIELDING, SLEEPING, EITHER };

/* By the queue, or straight out of the buffers of other ranks: by a function that copies, as the
 * kernel does; in memory that all share; of even ranks one way, of odd ones the other. */
enum direct { BY_QUEUE, FETCHED, SHARED, SHARED_OR_FETCHED };

struct run {
    struct nc_geometry geometry;
    const char *kinds;      /* names of operations, a random one each time; "all"; NULL: "bcast" */
    enum nc_tree_kind tree; /* notification tree of groups in which data moves flat, with .. */
    int k;                  /* .. this degree */
    enum nc_frag_rule rule;
    /* user buffers with gaps (ELEMENT); lengths of a message that may differ at writer and reader;
     * root 0 instead of a random one */
    bool typed, mismatch, fixed_root;
    bool breaks; /* now and then the op kernel of one rank fails */
    /* how long messages are read; if not by the queue, buffers have no gaps where ranks send */
    enum direct direct;
    bool windows;      /* what is in memory that all share is in windows (test_node.c) */
    bool paced;        /* each rank writes long messages into its own ring */
    bool late;         /* the rank after the root comes when all but the root have gone */
    int nodes;         /* NUMA nodes: rank r is on number r % nodes; 0: one */
    int packages;      /* NUMA node n is in package n % packages; 0: one */
    int caches;        /* l3 caches of a NUMA node; 0: unknown */
    const char *group; /* how data moves on each level, as in BCAST_GROUP; NULL: flat */
    bool remade;       /* now and then the trees change, in the memory of the last ones */
    int operations;
    size_t largest; /* bytes of a message */
    int delays;     /* one in so many steps is delayed; 0: none */
    bool lags;      /* rank 0 waits for a moment, wherever it waits, that rank 1 gets ahead */
    enum waits waits;
    char *segment;          /* header page, parking, regions */
    char **region;          /* [ranks] in the segment */
    struct nc_bell *bell;   /* [ranks] */
    char **shared;          /* [ranks] their buffers, if they are shared */
    size_t *shared_bytes;   /* [ranks] */
    struct nc_atomic *live; /* [ranks] the operation that each rank is in; 0: none */
};

/* Bytes of a user buffer. */
static inline size_t user_bytes_of(const struct run *run)
{
    return (2 * run->largest + 1000) / NC_LINE * NC_LINE;
}

/* The streams of a rank. */
static inline size_t streams_of(const struct run *run)
{
    return run->geometry.ranks > 1 ? 2 * run->geometry.ranks : 2;
}

/* A random number. Ranks with equal states draw equal numbers, without shared memory. */
static inline uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Byte i of a message; number: which message of the operation it is. */
static inline unsigned char byte_at(int operation, int number, size_t i)
{
    return (unsigned char) (i * 31 + (i >> 8) + (unsigned) operation * 7 + (unsigned) number * 101);
}

/* With run->typed a user buffer has elements of ELEMENT bytes, with GAP bytes between them; its
 * mover stops only between elements. */
enum { ELEMENT = 12, GAP = 5 };

struct typed {
    unsigned char *memory;
    size_t length;
};

/* Where byte i of a packed message is in a user buffer that begins at `memory`. */
static inline unsigned char *user_byte(bool gaps, unsigned char *memory, size_t i)
{
    return memory + (gaps ? i / ELEMENT * (ELEMENT + GAP) + i % ELEMENT : i);
}

/* Where all ranks are on the machine, and the route of each. */
struct place {
    int *unit;
    void *topo_memory, *group_memory;
    struct nc_topo topo;
    struct nc_groups groups;
    char *route_memory;
    struct nc_route *route; /* [ranks] */
};

/* The state of a rank, and the operation that it is making. Message r of an operation is the one
 * for rank r in a scatter, and the one from rank r otherwise; a broadcast has message 0 only.
 * Private to the rank. */
struct rank {
    const struct run *run;
    unsigned kinds; /* bits of run->kinds, see operations_named */
    struct nc_queue *queue;
    struct nc_route route; /* of broadcasts and of reduces up trees */
    struct nc_transfer *transfer;
    struct nc_barrier *barrier;
    const struct place *place;
    unsigned char *memory; /* [streams][user_bytes] user buffers of the streams */
    size_t user_bytes;
    struct typed *typed; /* [streams] what a stream with gaps walks */
    /* [streams] one per message; the one behind them for a rank's own message, or in an exchange
     * one per message that it sends */
    struct nc_stream *stream;
    /* [ranks] bytes of each message: at its writer, at its reader, as the operation reports them */
    size_t *length, *other, *sent;
    size_t element;      /* bytes of an element that is reduced */
    int *mate;           /* [ranks + 1][ranks] row t: the ranks of this rank's team of t teams */
    int operation, root; /* number of the operation; its root */
    bool was_needed;     /* it came late, and others had waited for it: `late` in struct run */
};

/* This rank's team, if rank r is in team r % teams. */
static inline struct nc_team team_of(const struct rank *r, int teams)
{
    int ranks = (int) r->run->geometry.ranks, me = r->queue->rank;
    int size = (ranks - 1 - me % teams) / teams + 1;

    return (struct nc_team){r->mate + teams * ranks, size, me / teams};
}

/* Whether a rank is in this rank's team. */
static inline bool is_mate(const struct rank *r, int teams, int rank)
{
    return rank % teams == r->queue->rank % teams;
}

/* Sleeps up to 0.3 ms, or yields, in one of run->delays calls. */
void delay(const struct run *run, uint64_t *state);

/* Prepare stream `at`: to_send fills its buffer with the bytes of a message, to_receive makes an
 * empty buffer for it. */
void to_send(struct rank *r, int at, int message);
void to_receive(struct rank *r, int at, int message);

/* One reduce up the trees to r->root, or in the order of ranks to rank `to`, or (to: -1) to all
 * ranks of each of some teams. `choice` is a random number, alike on all ranks, that varies the
 * operation. They return the number of errors found on this rank. With run->breaks one rank's
 * kernel may fail: then that rank must report it, and all the others go on. */
int reduce_up(struct rank *r, uint64_t choice);
int reduce_in_order(struct rank *r, int to, uint64_t choice);
/* Each rank of a team gets a part of its own, at the beginning of its result buffer. */
int reduce_to_parts(struct rank *r, uint64_t choice);
/* A reduce to rank `to`, -1: an allreduce, out of shared buffers. */
int reduce_shared(struct rank *r, int to, uint64_t choice);

/* One step of a scan, with a window of ranks before each rank, or round it; and a scan along the
 * chain of all ranks. */
int scan_step(struct rank *r, uint64_t choice);
int scan_chain(struct rank *r, uint64_t choice);

/* Whether a kernel has written a result past the caches since the last call; the first call begins
 * to count. */
bool has_streamed_results(void);

/* The bits of the operations that have these names, separated by blanks; for struct rank. */
unsigned operations_named(const char *kinds);

/* Makes one random operation; `dice` must have the same state on all ranks. Returns the number of
 * errors found on this rank. */
int operate(struct rank *r, uint64_t *dice);

#endif
