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
    unsigned seed; /* of the last verified call; equal on all ranks */
    uint64_t call; /* number of the next call; equal on all ranks */
};

/* Allocates the buffers. more: bytes that this rank will allocate besides. False, after a message:
 * there is no memory, or not on this node for all its ranks. */
bool buffers_make(struct bench *bench, size_t more);
void buffers_free(struct bench *bench);

/* Chooses the buffers of the next call. */
void buffers_place(struct bench *bench, struct call *call);

/* Writes the input of a call again, if this rank has one. */
void buffers_touch(const struct bench *bench, const struct call *call);

#endif
