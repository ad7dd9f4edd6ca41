/* The measurement of a collective, as measure.c makes it with the buffers of buffers.c. */

#ifndef MEASURE_H_INCLUDED
#define MEASURE_H_INCLUDED

#include "bench.h"

struct pool {
    unsigned char *bytes;
    void *memory; /* as it was allocated */
    size_t size;
    uint64_t state; /* of the random generator that picks buffers; equal on all ranks */
};

struct bench {
    const struct options *options;
    const struct collective *collective;
    MPI_Comm comm;
    MPI_Comm comms[MAX_ALGORITHMS]; /* of each algorithm: comm, or one of its own */
    int rank, ranks;
    struct pool pool;
    int next_root[MAX_ALGORITHMS]; /* with --rotate-root, of the next timed call */
    unsigned seed;                 /* of the last verified call; equal on all ranks */
    uint64_t call;                 /* number of the next call; equal on all ranks */
    uint64_t read; /* sum of what --use has read: a compiler must not leave that out */
};

/* Allocates the buffers. more: bytes that this rank will allocate besides. False, after a message:
 * there is no memory, or not on this node for all its ranks. */
bool buffers_make(struct bench *bench, size_t more);
void buffers_free(struct bench *bench);

/* Chooses the buffers of the next call. */
void buffers_place(struct bench *bench, struct call *call);

/* Writes the input of a call again, if this rank has one. */
void buffers_touch(const struct bench *bench, const struct call *call);

/* Bytes of the largest size; 0 for a collective without a size. */
size_t largest_size(const struct bench *bench);

/* ---- geometry.c: whether a variant has the queue and the levels that its name says ---- */

/* What is wrong with the queue of algorithm a, which may still grow, or NULL. */
const char *geometry_check_queue(const struct bench *bench, int a);

/* What is wrong with the communicator of algorithm a, once it is warm, or NULL. shortened_before:
 * segments that were shortened before it had one. */
const char *geometry_check(const struct bench *bench, int a, unsigned long long shortened_before);

#endif
