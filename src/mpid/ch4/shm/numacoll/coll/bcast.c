/* MPI_Bcast. entry.c calls the body on every rank. On one node nc_bcast_node (shm/nc_bcast.h) moves
 * the whole message. On several nodes the message goes by chunks: each chunk goes down the levels
 * above the node, from leader to leader (above.h), and on each node the leader broadcasts it to the
 * other ranks, by one nc_bcast_node per chunk. The ranks that are not leaders learn the length of
 * the message from the preamble, which has a nc_bcast_node of its own, or one together with the
 * data if both are an inline message. */

#include "bcast.h"

#include "above.h"
#include "bodies.h"

static int inside_node(const struct nc_call *call, struct nc_typed *typed, int root)
{
    int mpi_errno;
    struct nc_stream stream;
    size_t sent;

    if (call->state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, typed);
    mpi_errno = MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(call, root, &stream, &sent));
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

/* ---- across nodes: the leaders ---- */

/* Precedes the first bytes of the message. Only the root's length counts, and chunks and trees
 * depend on it, so the other ranks learn it here. */
struct preamble {
    uint64_t total; /* bytes */
};

enum { NC_SHORT = NC_INLINE_BYTES - sizeof(struct preamble) }; /* bytes */

_Static_assert(NC_SHORT == 344, "cvars.yaml says so");

/* A message of at most NC_SHORT bytes is one inline message inside the node, with the preamble. */
struct short_message {
    struct preamble preamble;
    char data[NC_SHORT];
};

/* The state of a node leader in one call. */
struct relay {
    struct nc_above above;
    bool is_root;
    struct nc_stream *user;
    struct nc_above_choice choice;
    size_t total, done; /* bytes of the message; bytes delivered on this node so far */
};

static size_t chunk_bytes(const struct relay *r)
{
    return r->total - r->done < r->choice.chunk ? r->total - r->done : r->choice.chunk;
}

static void keep(struct relay *r, int error)
{
    MPIDI_NUMACOLL_net_keep(&r->above.net, MPIDI_NUMACOLL_error(error));
}

/* Whether a level above the node uses scatter and allgather. */
static bool scatters(const struct nc_hierarchy *h, const struct nc_above_choice *choice)
{
    bool found = false;

    for (int l = 0; l < h->nodes.groups.levels; l++)
        found = found || choice->level[l].algorithm == NC_SAG;
    return found;
}

/* Returns the place of chunk c, n bytes: where it is sent from or received. At a root with a
 * contiguous buffer this is in the user's buffer, elsewhere a chunk buffer. Before it returns a
 * chunk buffer, it waits until the earlier chunk there has been sent; a root then packs its data
 * there. */
static char *place_of(struct relay *r, uint64_t c, size_t n)
{
    char *place = r->above.net.call->state->all.buffers.chunk[c % NC_CHUNKS];

    if (r->is_root && r->user->bytes)
        return r->user->bytes + r->done;
    MPIDI_NUMACOLL_above_wait_sends(&r->above, &r->above.down, c);
    if (r->is_root)
        keep(r, nc_copy_in(r->user, place, n, 0, NULL));
    return place;
}

/* Broadcasts n bytes from the leader to the other ranks of its node. */
static void share(struct relay *r, char *bytes, size_t n)
{
    const struct nc_call *call = r->above.net.call;
    struct nc_stream stream = {.bytes = bytes, .length = n};
    size_t sent;

    if (call->state->size > 1)
        keep(r, MPIDI_NUMACOLL_bcast_inside(call, call->state->rank, &stream, &sent));
}

/* Counts a chunk as delivered, and gives it to this rank's user, except at the root. */
static void give_to_user(struct relay *r, const char *place, size_t n)
{
    r->done += n;
    if (!r->is_root)
        keep(r, nc_copy_out(r->user, place, n, 0, NULL));
}

/* Gives a chunk to the other ranks of the node, then to this rank's user. */
static void deliver(struct relay *r, char *place, size_t n)
{
    share(r, place, n);
    give_to_user(r, place, n);
}

/* Fills the pipeline for the first message. */
static void open_first(struct relay *r)
{
    struct nc_above_choice choice;

    MPIDI_NUMACOLL_above_choose_first(r->above.net.call, &choice);
    MPIDI_NUMACOLL_above_down(&r->above, &choice, 0);
}

/* Chooses chunks and trees by the length of the message. A message that ends with the first chunk
 * does without, except for a long one at the root. */
static void choose(struct relay *r)
{
    MPIDI_NUMACOLL_above_choose(r->above.net.call, NC_BCAST, r->total, 1, &r->choice);
}

/* Root: the bytes of the first chunk. A short message is whole. Of another one there is none if a
 * level scatters, because all leaders must know the length before that. */
static size_t first_bytes(struct relay *r)
{
    if (r->total <= NC_SHORT)
        return r->total;
    choose(r);
    return scatters(&r->above.net.call->state->all, &r->choice) ? 0 : chunk_bytes(r);
}

/* Root: writes the preamble and behind it the first chunk; both are one message. Returns the bytes
 * of the chunk. */
static size_t fill_first(struct relay *r, char *place)
{
    struct nc_stream *user = r->user;
    struct nc_stream copied = *user;
    size_t n;

    r->total = nc_stream_rest(user);
    n = first_bytes(r);
    *(struct preamble *) place = (struct preamble){.total = r->total};
    /* The bytes are copied for the other nodes only. A root with a contiguous buffer later serves
     * its own node out of that buffer (deliver), so its stream must not move on here. */
    keep(r, nc_copy_in(user->bytes ? &copied : user, place + sizeof(struct preamble), n, 0, NULL));
    return n;
}

/* Delivers the first message on the node, n bytes at place: preamble and data together if they are
 * an inline message, otherwise the preamble and then the data. */
static void deliver_first(struct relay *r, char *place, size_t n)
{
    char *data = place + sizeof(struct preamble);
    size_t rest = n - sizeof(struct preamble);

    if (n <= NC_INLINE_BYTES) {
        share(r, place, n);
        give_to_user(r, data, rest);
        return;
    }
    share(r, place, sizeof(struct preamble));
    deliver(r, r->is_root && r->user->bytes ? r->user->bytes : data, rest);
}

/* Sends or receives the first message, and delivers it on the node. */
static void first_chunk(struct relay *r)
{
    char *place = r->above.net.call->state->all.buffers.chunk[0];
    struct preamble *preamble = (struct preamble *) place;
    size_t n = sizeof *preamble + (r->is_root ? fill_first(r, place) : NC_CHUNK);

    open_first(r);
    n = MPIDI_NUMACOLL_above_run(&r->above, &r->above.down, 0, place, n, !r->is_root);
    /* after an error the message may be shorter than a preamble, see above.c: receive */
    if (n < sizeof *preamble) {
        preamble->total = 0;
        n = sizeof *preamble;
    }
    r->total = preamble->total;
    deliver_first(r, place, n);
}

/* Chooses for the chunks after the first one, and fills the pipeline for them. */
static void open_rest(struct relay *r)
{
    if (!r->is_root)
        choose(r);
    MPIDI_NUMACOLL_above_down(&r->above, &r->choice, 0);
}

/* Leader: receives each chunk, sends it on, and delivers it on its node. While it delivers, the
 * next chunk may come. */
static int relay(struct relay *r)
{
    struct nc_above *a = &r->above;

    first_chunk(r);
    if (r->done < r->total)
        open_rest(r);
    for (uint64_t c = 1; r->done < r->total; c++) {
        size_t n = chunk_bytes(r), after = r->total - r->done - n;
        char *place = place_of(r, c, n);
        MPIDI_NUMACOLL_above_run(a, &a->down, c, place, n, false);
        if (after > 0 && !r->is_root)
            MPIDI_NUMACOLL_above_expect(a, &a->down, c + 1,
                                        a->net.call->state->all.buffers.chunk[(c + 1) % NC_CHUNKS],
                                        after < n ? after : n);
        deliver(r, place, n);
    }
    return MPIDI_NUMACOLL_above_close(a);
}

/* ---- across nodes: the other ranks ---- */

/* The preamble, perhaps with the data of a short message, then the chunks, as the leader broadcasts
 * them. *total: bytes received. */
static int receive_from_leader(const struct nc_call *call, int leader, struct nc_stream *user,
                               size_t *total)
{
    struct short_message first;
    struct nc_stream stream = {.bytes = (char *) &first, .length = sizeof first};
    size_t sent = 0;
    int mpi_errno;

    first.preamble.total = 0;
    mpi_errno = MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(call, leader, &stream, &sent));
    *total = sent > sizeof first.preamble ? sent - sizeof first.preamble : 0;
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(user, first.data, *total, 0, NULL)));
    for (; *total < first.preamble.total && sent > 0; *total += sent)
        nc_keep_first(&mpi_errno,
                      MPIDI_NUMACOLL_error(MPIDI_NUMACOLL_bcast_inside(call, leader, user, &sent)));
    return mpi_errno;
}

static int across_nodes(const struct nc_call *call, struct nc_typed *typed, int root)
{
    struct nc_stream user;
    struct relay r = {.is_root = call->comm->rank == root, .user = &user};
    int mpi_errno, leader = MPIDI_NUMACOLL_local_leader(call, root);

    MPIDI_NUMACOLL_stream_init(&user, typed);
    if (call->state->rank == leader) {
        MPIDI_NUMACOLL_above_open(&r.above, call, root);
        mpi_errno = relay(&r);
    } else {
        mpi_errno = receive_from_leader(call, leader, &user, &r.total);
    }
    nc_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(r.total, &user));
    return mpi_errno;
}

/* ---- the call ---- */

int MPIDI_NUMACOLL_bcast_typed(const struct nc_call *call, struct nc_typed *typed, int root)
{
    /* on one node ranks and local ranks are the same numbers */
    return call->across ? across_nodes(call, typed, root) : inside_node(call, typed, root);
}

int MPIDI_NUMACOLL_bcast(const struct nc_call *call, void *buffer, MPI_Aint count,
                         MPI_Datatype datatype, int root)
{
    struct nc_typed typed = {.buffer = buffer, .count = count, .datatype = datatype};
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    MPIDI_NUMACOLL_count(call, (int) call->choice->bcast_tree, (size_t) (size * count));
    return MPIDI_NUMACOLL_bcast_typed(call, &typed, root);
}
