/* Copies between user buffers and shared memory, and counts the bytes. nc_transfer and nc_reduce
 * call these functions. User buffers are accessed in a few other places only: nc_transfer_put
 * copies what nc_copy_find has found, nc_transfer_fetch copies out of the buffer of another rank,
 * nc_joint.c also into it, nc_reduce.c reduces numbers in place, and nc_reduce_shared.c combines
 * what is in shared buffers. All count here.
 *
 * A stream is a user buffer of any datatype seen as a row of bytes, its packed form. Writer and
 * reader each go through their own stream from the beginning to the end, each with its own
 * datatype, so a fragment may end anywhere, also inside a basic element. mpich/buffer makes
 * streams. */

#ifndef NC_COPY_H_INCLUDED
#define NC_COPY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nc_atomic.h"

/* bytes; no basic element is larger. Part of one may be left over at the end of a fragment. */
#define NC_ELEMENT 64

/* Packs or unpacks at most `max` bytes, between `packed` and the user's buffer, from byte `offset`
 * of the packed form on. Moves whole basic elements only; *moved: bytes moved. how: bits of
 * nc_copy_how, which only movers of streams that can_stream obey. 0 or an error. */
typedef int (*nc_mover)(void *user, size_t offset, void *packed, size_t max, int how,
                        size_t *moved);

struct nc_stream {
    char *bytes; /* the buffer if it is contiguous; else NULL, and these reach it: */
    nc_mover pack, unpack;
    bool can_stream; /* they copy contiguous bytes, by the stores they are told to */
    void *user;      /* their first argument */
    size_t length;   /* bytes of the packed form */
    size_t at;       /* bytes that have gone in or out of shared memory so far */
    /* bytes that the mover has moved so far. Packing, it may be ahead of `at`, unpacking behind
     * `at`, by the held_bytes bytes in `held`. */
    size_t moved;
    char held[2 * NC_ELEMENT]; /* bytes of elements that the end of a fragment has split */
    size_t held_bytes;
};

/* Keeps the first of several errors: *first becomes `error` if it is still 0, which is MPI_SUCCESS.
 * After an error a call still does all its parts, because other ranks wait for them. */
static inline void nc_keep_first(int *first, int error)
{
    if (*first == 0)
        *first = error;
}

/* Bytes that are left of the stream: the length of a message that sends the rest of it. */
static inline size_t nc_stream_rest(const struct nc_stream *stream)
{
    return stream->length - stream->at;
}

/* Bytes that a process has copied between user buffers and shared memory: `local` where the shared
 * memory is on the NUMA node of the process, `remote` elsewhere. Straight out of another process's
 * user buffer, or into it: `shared` out of shared buffers, `fetched` by other means. Private
 * memory. */
struct nc_traffic {
    uint64_t local, remote, shared, fetched;
    uint64_t demoted; /* of what it has written into shared memory */
};

/* Bytes of a buffer that are prefetched; in a longer access the hardware prefetcher has recognized
 * the pattern by then. */
#define NC_PREFETCHED 2048

/* Prefetch the first cache lines of n bytes that this rank is about to read, or to write: until it
 * does, about as much time has to pass as a cache miss takes. gcc 12 takes a function that only
 * prefetches for one without effect, and leaves it out; hence nc_opaque. */
static inline void nc_copy_expect_read(const void *bytes, size_t n)
{
    for (size_t at = 0; at < n && at < NC_PREFETCHED; at += 64)
        __builtin_prefetch((const char *) bytes + at);
    (void) nc_opaque(0);
}

static inline void nc_copy_expect_written(void *bytes, size_t n)
{
    for (size_t at = 0; at < n && at < NC_PREFETCHED; at += 64)
        __builtin_prefetch((char *) bytes + at, 1);
    (void) nc_opaque(0);
}

/* Prefetches the first cache line of a contiguous user buffer for writing: the caller is about to
 * wait for an announcement. */
static inline void nc_copy_prefetch_out(const struct nc_stream *stream)
{
    nc_copy_expect_written(stream->bytes, 1);
}

/* Whether this processor says that it knows CLDEMOTE. */
bool nc_copy_can_demote(void);

/* Demotes the cache lines of n bytes that the caller has written and announced (nc_atomic.h), and
 * counts the bytes. bytes: at the beginning of a line. */
static inline void nc_copy_demote(const char *bytes, size_t n, struct nc_traffic *traffic)
{
    for (size_t at = 0; at < n; at += 64)
        nc_atomic_demote(bytes + at);
    traffic->demoted += n;
}

/* Bits that say how to copy and how to count. */
enum nc_copy_how {
    NC_COPY_STREAMING = 1, /* by streaming stores, past the caches, where no types are packed */
    NC_COPY_REMOTE = 2,    /* count as remote: the shared memory is on another NUMA node */
};

/* Adds n bytes to the traffic, which is not NULL. how: bits of nc_copy_how. */
static inline void nc_copy_count(struct nc_traffic *traffic, size_t n, int how)
{
    *(how & NC_COPY_REMOTE ? &traffic->remote : &traffic->local) += n;
}

/* A hook for test/sim/machine.cpp, as those of nc_atomic.h. Whether the copy is not to be made. */
#ifdef NC_ATOMIC_OBSERVED
bool nc_observe_copy(void *to, const void *from, size_t n);
#else
static inline bool nc_observe_copy(void *to, const void *from, size_t n)
{
    (void) to;
    (void) from;
    (void) n;
    return false;
}
#endif

/* Copies n bytes from anywhere to anywhere, without counting them. how: bits of nc_copy_how. */
void nc_copy_bytes(void *to, const void *from, size_t n, int how);

/* Whether this processor has streaming stores, and a clock by which they can be compared with
 * ordinary ones: what it says, in a unit that stays the same. */
#ifdef __SSE2__
#define NC_COPY_STREAMS true
static inline uint64_t nc_copy_clock(void)
{
    return __builtin_ia32_rdtsc();
}

/* The same, when all instructions before it are through. */
static inline uint64_t nc_copy_clock_after(void)
{
    unsigned processor;

    return __builtin_ia32_rdtscp(&processor);
}
#else
#define NC_COPY_STREAMS false
static inline uint64_t nc_copy_clock(void)
{
    return 0;
}

static inline uint64_t nc_copy_clock_after(void)
{
    return 0;
}
#endif

/* Copies the next n bytes of the stream into shared memory; n is at most nc_stream_rest. how: bits
 * of nc_copy_how. traffic: NULL to count nothing. 0 or the mover's error. */
int nc_copy_in(struct nc_stream *stream, void *shared, size_t n, int how,
               struct nc_traffic *traffic);

/* Finds the next n bytes of the stream for a caller that copies them itself: *bytes is in the
 * user's buffer if it is contiguous, else it is `room`, of n bytes, into which they are packed. The
 * stream advances and the traffic, not NULL, is counted as by nc_copy_in. 0 or the mover's error.
 */
static inline int nc_copy_find(struct nc_stream *stream, size_t n, int how,
                               struct nc_traffic *traffic, char *room, const char **bytes)
{
    *bytes = room;
    if (!stream->bytes)
        return nc_copy_in(stream, room, n, how, traffic);
    *bytes = stream->bytes + stream->at;
    stream->at += n;
    nc_copy_count(traffic, n, how);
    return 0;
}

/* Copies n bytes of shared memory into the stream; bytes beyond the length of the stream are
 * dropped. how: bits of nc_copy_how. traffic: NULL to count nothing. 0 or the mover's error. */
int nc_copy_out(struct nc_stream *stream, const void *shared, size_t n, int how,
                struct nc_traffic *traffic);

#endif
