/* Copies between a stream (a user buffer of any datatype) and shared memory. nc_transfer and
 * nc_reduce call nc_copy_in and nc_copy_out. Contiguous buffers are copied here; others through the
 * stream's movers, with the bytes of an element that a fragment splits kept in the stream. */

#include "nc_copy.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

bool nc_copy_can_demote(void)
{
    static _Thread_local int known; /* a virtual machine leaves to its host for the answer */
    unsigned a, b, c, d;

    if (!known)
        known = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 25) ? 1 : -1;
    return known > 0;
}
#else
bool nc_copy_can_demote(void)
{
    return false;
}
#endif

/* ThreadSanitizer does not see streaming stores. */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>

/* Copies with stores that bypass the caches: the destination is not read into the cache before, nor
 * kept there. It pays where the whole message exceeds the cache, and where the lines are in a cache
 * far away (core/nc_pace.h); memcpy would not do it, because it sees one fragment at a time. */
static void copy_streaming(char *to, const char *from, size_t n)
{
    size_t head = -(uintptr_t) to & 63;

    if (n < 256) {
        memcpy(to, from, n);
        return;
    }
    memcpy(to, from, head);
    to += head;
    from += head;
    n -= head;
    for (; n >= 64; n -= 64, to += 64, from += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *) from);
        __m128i b = _mm_loadu_si128((const __m128i *) from + 1);
        __m128i c = _mm_loadu_si128((const __m128i *) from + 2);
        __m128i d = _mm_loadu_si128((const __m128i *) from + 3);
        _mm_stream_si128((__m128i *) to, a);
        _mm_stream_si128((__m128i *) to + 1, b);
        _mm_stream_si128((__m128i *) to + 2, c);
        _mm_stream_si128((__m128i *) to + 3, d);
    }
    memcpy(to, from, n);
    /* A release does not order streaming stores. Without the fence another thread, told that the
     * buffer is complete, could read it before these stores arrive. */
    _mm_sfence();
}
#else
static void copy_streaming(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void nc_copy_bytes(void *to, const void *from, size_t n, int how)
{
    if (nc_observe_copy(to, from, n))
        return;
    if (how & NC_COPY_STREAMING)
        copy_streaming(to, from, n);
    else
        memcpy(to, from, n);
}

/* Packs the next elements, whole ones, into `held`, for a fragment that takes only part of an
 * element. */
static int hold_packed(struct nc_stream *s)
{
    size_t moved = 0;
    int error = s->pack(s->user, s->moved, s->held, sizeof s->held, 0, &moved);

    s->moved += moved;
    s->held_bytes = moved;
    return error ? error : moved == 0 ? -1 : 0;
}

/* Moves at most n of the held bytes to `to`; returns how many. */
static size_t take_held(struct nc_stream *s, char *to, size_t n)
{
    if (n > s->held_bytes)
        n = s->held_bytes;
    memcpy(to, s->held, n);
    s->held_bytes -= n;
    memmove(s->held, s->held + n, s->held_bytes);
    return n;
}

/* Packs the next n bytes: first what is held, then whole elements, then part of an element by way
 * of `held`. */
static int pack(struct nc_stream *s, char *to, size_t n, int how)
{
    size_t done = take_held(s, to, n);

    while (done < n) {
        size_t moved = 0;
        int error = s->pack(s->user, s->moved, to + done, n - done, how, &moved);
        if (error)
            return error;
        s->moved += moved;
        done += moved;
        if (done < n) {
            error = hold_packed(s);
            if (error)
                return error;
            done += take_held(s, to + done, n - done);
        }
    }
    return 0;
}

/* Unpacks the whole elements in `held`; a part of an element stays held. */
static int release_held(struct nc_stream *s)
{
    size_t moved = 0;
    int error = s->unpack(s->user, s->moved, s->held, s->held_bytes, 0, &moved);

    s->moved += moved;
    s->held_bytes -= moved;
    memmove(s->held, s->held + moved, s->held_bytes);
    return error;
}

/* Unpacks n bytes; what they leave of an element stays in `held` until the next fragment. */
static int unpack(struct nc_stream *s, const char *from, size_t n, int how)
{
    while (n > 0) {
        size_t moved = 0;
        int error;

        if (s->held_bytes == 0) {
            error = s->unpack(s->user, s->moved, (void *) from, n, how, &moved);
            if (error)
                return error;
            s->moved += moved;
            from += moved;
            n -= moved;
        }
        if (n > 0) {
            /* `from` begins with part of an element, or the rest of a held one: hold enough bytes
             * to complete the element, unpack it, and go back to the first byte not unpacked */
            size_t part = n < NC_ELEMENT ? n : NC_ELEMENT, before;
            memcpy(s->held + s->held_bytes, from, part);
            s->held_bytes += part;
            from += part;
            n -= part;
            before = s->held_bytes;
            error = release_held(s);
            if (error)
                return error;
            if (s->held_bytes < before) {
                from -= s->held_bytes;
                n += s->held_bytes;
                s->held_bytes = 0;
            }
        }
    }
    return 0;
}

int nc_copy_in(struct nc_stream *s, void *shared, size_t n, int how, struct nc_traffic *traffic)
{
    int error = 0;

    if (s->bytes)
        nc_copy_bytes(shared, s->bytes + s->at, n, how);
    else
        error = pack(s, shared, n, how);
    s->at += n;
    if (traffic)
        nc_copy_count(traffic, n, how);
    return error;
}

int nc_copy_out(struct nc_stream *s, const void *shared, size_t n, int how,
                struct nc_traffic *traffic)
{
    size_t room = s->length - s->at;
    int error = 0;

    /* Most often they are equal. A branch, not a minimum: the processor foresees it, and reads the
     * message while the header, which tells n, is still on its way. */
    if (__builtin_expect(n >= room, 1))
        n = nc_opaque(room); /* else the compiler makes it a minimum again */
    if (n == 0)
        return 0;
    if (s->bytes)
        nc_copy_bytes(s->bytes + s->at, shared, n, how);
    else
        error = unpack(s, shared, n, how);
    s->at += n;
    if (traffic)
        nc_copy_count(traffic, n, how);
    return error;
}
