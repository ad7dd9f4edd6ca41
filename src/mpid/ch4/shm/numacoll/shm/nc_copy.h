/* The only copies between user buffers and shared memory, but for numbers that are reduced
 * (shm/nc_reduce.c), and the count of what they move.
 *
 * A stream is a user buffer seen as a row of bytes. Both ends of a transfer walk theirs in order,
 * each by its own datatype, so fragments may end anywhere. */

#ifndef NC_COPY_H_INCLUDED
#define NC_COPY_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* no basic element is larger, bytes; bytes of one may be left over at a fragment's end */
#define NC_ELEMENT 64

/* Moves up to max bytes between `packed` and the user's buffer, from byte `offset` of its packed
 * form. Stops only between basic elements; *moved says where. 0 or an error. */
typedef int (*nc_mover)(void *user, size_t offset, void *packed, size_t max, size_t *moved);

struct nc_stream {
    char *bytes;           /* a contiguous buffer, or NULL: */
    nc_mover pack, unpack; /* ... how to reach one that is not */
    void *user;
    size_t length; /* bytes of the packed form */
    size_t at;     /* bytes walked so far */
    /* what the mover has moved; `at` may be ahead (in `held`: unpacking) or behind (packing) by
     * part of an element */
    size_t moved;
    char held[2 * NC_ELEMENT];
    size_t held_bytes;
};

/* What is left of it: bytes of the next message that sends it. */
static inline size_t nc_stream_rest(const struct nc_stream *stream)
{
    return stream->length - stream->at;
}

/* Bytes a process has copied between user buffers and shared memory, by whether the shared memory
 * is on the process's own NUMA node. One writer; read by it alone. */
struct nc_traffic {
    uint64_t local, remote;
};

/* Asks for the first line of the user's buffer ahead of its use, while other lines are on their
 * way. */
static inline void nc_copy_prefetch_out(const struct nc_stream *stream)
{
    __builtin_prefetch(stream->bytes, 1);
}

/* What there is to know of a copy. */
enum nc_copy_how {
    NC_COPY_BESIDE_CACHE =
        1, /* out of shared memory: store past the cache, the message is larger than it */
    NC_COPY_REMOTE = 2, /* for the traffic: the shared memory is on another NUMA node */
};

/* Counts n bytes. how: bits of nc_copy_how. The traffic is not NULL. */
static inline void nc_copy_count(struct nc_traffic *traffic, size_t n, int how)
{
    *(how & NC_COPY_REMOTE ? &traffic->remote : &traffic->local) += n;
}

/* Copies the next n bytes of the stream into shared memory; n <= length - at. how: bits of
 * nc_copy_how. traffic NULL: nobody counts. 0 or the mover's error. */
int nc_copy_in(struct nc_stream *stream, void *shared, size_t n, int how,
               struct nc_traffic *traffic);

/* As nc_copy_in, with traffic, but the caller copies: *bytes is where the user has the next n
 * bytes, or `room`, of n bytes, where they have been packed. */
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

/* Copies n bytes of shared memory into the stream, as far as it goes: what exceeds its length is
 * dropped. how: bits of nc_copy_how. traffic NULL: nobody counts. 0 or the mover's error. */
int nc_copy_out(struct nc_stream *stream, const void *shared, size_t n, int how,
                struct nc_traffic *traffic);

#endif
