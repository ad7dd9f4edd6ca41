#include "bcast_node.h"

#include <string.h>

/* The children of this rank in the tree of this call. */
struct children {
    const int *relative;
    int count;
    int root;
};

static struct children children_of(const struct nc_bcast *b, int root)
{
    int me = nc_tree_relative(b->tree, b->queue->rank, root);
    struct children c = {
        .relative = b->tree->child + b->tree->first[me],
        .count = b->tree->first[me + 1] - b->tree->first[me],
        .root = root,
    };
    return c;
}

/* Hands header and, of an inline message, payload to each child, as the announcement of the first fragment. */
static int tell_first(struct nc_bcast *b, struct children c, const struct nc_post_header *header, const char *payload)
{
    struct nc_queue *q = b->queue;

    for (int i = 0; i < c.count; i++) {
        struct nc_post *post;
        int error = nc_queue_take_post(q, nc_tree_absolute(b->tree, c.relative[i], c.root), &post);
        if (error)
            return error;
        post->header = *header;
        if (header->fragment == 0)
            memcpy(post->payload, payload, header->total);
        nc_queue_announce(q, post, 1);
    }
    return 0;
}

static int tell(struct nc_bcast *b, struct children c, uint64_t n)
{
    struct nc_queue *q = b->queue;

    for (int i = 0; i < c.count; i++)
        nc_queue_announce(q, nc_queue_post(q, nc_tree_absolute(b->tree, c.relative[i], c.root)), n);
    return 0;
}

static int tell_fragment(struct nc_bcast *b, struct children c, const struct nc_post_header *header, uint64_t i)
{
    return i == 0 ? tell_first(b, c, header, NULL) : tell(b, c, i + 1);
}

static int write_inline(struct nc_bcast *b, struct children c, struct nc_stream *stream)
{
    struct nc_post_header header = {.total = stream->length,.fragment = 0 };
    char payload[NC_POST_PAYLOAD];
    int copied, told;

    /* both may be far away, and the stores to a post would wait for the load of the data */
    for (int i = 0; i < c.count; i++)
        nc_queue_prefetch_post(b->queue, nc_tree_absolute(b->tree, c.relative[i], c.root), stream->length);
    copied = nc_copy_in(stream, payload, stream->length, b->ledger);
    told = tell_first(b, c, &header, payload);
    return told ? told : copied;
}

static int write_fragments(struct nc_bcast *b, struct children c, struct nc_stream *stream)
{
    struct nc_queue *q = b->queue;
    uint64_t f = nc_frag_choose(stream->length, b->largest_fragment, b->sqrt_rule);
    uint64_t n = nc_frag_count(stream->length, f);
    struct nc_post_header header = {
        .total = stream->length,.fragment = (uint32_t) f,.first_slot = (uint32_t) (q->head % q->geometry.slots)
    };
    int copied = 0;

    for (uint64_t i = 0; i < n; i++) {
        char *slot;
        int error = nc_queue_take_slot(q, nc_clock_at(q->operation, i + 1), &slot);
        if (error)
            return error;
        if (!copied)
            copied = nc_copy_in(stream, slot, nc_frag_bytes(stream->length, f, i), b->ledger);
        error = tell_fragment(b, c, &header, i);
        if (error)
            return error;
    }
    return copied;
}

static int read_fragments(struct nc_bcast *b, struct children c, int root, const struct nc_post *post,
                          struct nc_stream *stream)
{
    struct nc_queue *q = b->queue;
    const struct nc_post_header header = post->header;
    uint64_t n = nc_frag_count(header.total, header.fragment);
    int how = (header.total > b->cache_bytes ? NC_COPY_BESIDE_CACHE : 0) |
        (b->numa[root] != b->numa[q->rank] ? NC_COPY_REMOTE : 0);
    int copied = 0;

    for (uint64_t i = 0; i < n; i++) {
        int error = nc_queue_await(q, post, i + 1);
        if (!error)
            error = tell_fragment(b, c, &header, i);
        if (error)
            return error;
        if (!copied)
            copied = nc_copy_out(stream, nc_queue_slot(q, root, header.first_slot + i),
                                 nc_frag_bytes(header.total, header.fragment, i), how, b->ledger);
        if (nc_frag_ends_set(i + 1, q->geometry.set_slots))
            nc_queue_give_back(q, i + 1);
    }
    return copied;
}

static int read_message(struct nc_bcast *b, struct children c, int root, struct nc_stream *stream, size_t *sent)
{
    const struct nc_post *post = nc_queue_post(b->queue, b->queue->rank);
    int error, copied;

    nc_copy_prefetch_out(stream);
    error = nc_queue_await(b->queue, post, 1);
    if (error)
        return error;
    *sent = post->header.total;
    if (post->header.fragment)
        return read_fragments(b, c, root, post, stream);
    error = tell_first(b, c, &post->header, post->payload);
    copied = nc_copy_out(stream, post->payload, post->header.total, 0, b->ledger);
    return error ? error : copied;
}

int nc_bcast_node(struct nc_bcast *b, int root, struct nc_stream *stream, size_t *sent)
{
    struct children c = children_of(b, root);
    int error;

    *sent = stream->length;
    if (b->queue->rank != root)
        error = read_message(b, c, root, stream, sent);
    else if (stream->length <= NC_POST_PAYLOAD)
        error = write_inline(b, c, stream);
    else
        error = write_fragments(b, c, stream);
    nc_queue_end(b->queue);
    return error;
}
