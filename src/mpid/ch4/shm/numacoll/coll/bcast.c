/* MPI_Bcast: inside a node through the root's own queue; across nodes by windows, down the levels
 * above the node and then on each node from its speaker. */

#include "hier.h"

static int node_part(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root)
{
    int mpi_errno;
    struct nc_stream stream;
    size_t sent;

    if (state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, typed);
    mpi_errno = MPIDI_NUMACOLL_error(
        nc_bcast_node(&state->bcast[state->leaf + 1].bcast, root, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

/* ---- across nodes ---- */

/* What the root says of the message, ahead of its first bytes: only it knows how many there are,
 * and all that depends on it, windows and trees, is for the others to be learnt. */
struct head {
    uint64_t total; /* bytes */
};

/* A speaker's part in a call. */
struct relay {
    struct nc_hier hier;
    bool is_root;
    struct nc_stream *user;
    struct nc_ways ways;
    size_t total, done; /* bytes of the message, and those that are through */
};

static char *place_of(const struct relay *r, uint64_t w)
{
    return r->hier.state->all.window[w % NC_PLACES];
}

static size_t window_of(const struct relay *r)
{
    return r->total - r->done < r->ways.window ? r->total - r->done : r->ways.window;
}

static bool scatters(const struct nc_hierarchy *h, const struct nc_ways *ways)
{
    bool found = false;

    for (int l = h->above; l < h->groups.levels; l++)
        found = found || ways->way[l].algorithm == NC_SAG;
    return found;
}

/* From the speaker to the rest of the node. */
static void share(struct relay *r, char *bytes, size_t n)
{
    struct MPIDI_NUMACOLL_comm *state = r->hier.state;
    struct nc_stream stream = {.bytes = bytes, .length = n};
    size_t sent;

    if (state->size > 1)
        MPIDI_NUMACOLL_keep_first(&r->hier.mpi_errno, MPIDI_NUMACOLL_error(nc_bcast_node(
                                                          &state->bcast[state->leaf + 1].bcast,
                                                          state->rank, &stream, &sent)));
}

/* What is in a window to the node and to my user; the root's has it. */
static void deliver(struct relay *r, char *place, size_t n)
{
    struct nc_ledger elsewhere;

    r->done += n;
    share(r, place, n);
    if (!r->is_root)
        MPIDI_NUMACOLL_keep_first(&r->hier.mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(
                                                          r->user, place, n, 0, &elsewhere)));
}

static void fill(struct relay *r, char *place, size_t n)
{
    struct nc_ledger elsewhere;

    if (r->is_root)
        MPIDI_NUMACOLL_keep_first(
            &r->hier.mpi_errno, MPIDI_NUMACOLL_error(nc_copy_in(r->user, place, n, 0, &elsewhere)));
}

/* The head goes by trees that do not depend on it, and the first bytes with it: unless they are to
 * be scattered, for which all must know how many they are. */
static void first_window(struct relay *r)
{
    const struct nc_hierarchy *h = &r->hier.state->all;
    char *place = place_of(r, 0);
    struct head head = {.total = nc_stream_rest(r->user)};
    struct nc_ways ways;
    size_t n = 0;

    MPIDI_NUMACOLL_ways(r->hier.state, NC_BCAST, 0, 1, &ways);
    for (int l = h->above; l < h->groups.levels; l++) {
        if (ways.way[l].algorithm == NC_SAG)
            ways.way[l] = (struct nc_way){NC_KNOMIAL, 2};
    }
    if (r->is_root) {
        r->total = head.total;
        MPIDI_NUMACOLL_ways(r->hier.state, NC_BCAST, r->total, 1, &r->ways);
        n = scatters(h, &r->ways) ? 0 : window_of(r);
        *(struct head *) place = head;
        fill(r, place + sizeof head, n);
    }
    MPIDI_NUMACOLL_hier_down(&r->hier, &ways, 0);
    n = MPIDI_NUMACOLL_hier_run(&r->hier, &r->hier.down, 0, place,
                                sizeof head + (r->is_root ? n : NC_WINDOW), !r->is_root);
    /* after an error it may be shorter */
    head = n < sizeof head ? (struct head){.total = 0} : *(const struct head *) place;
    r->total = head.total;
    MPIDI_NUMACOLL_ways(r->hier.state, NC_BCAST, r->total, 1, &r->ways);
    MPIDI_NUMACOLL_hier_down(&r->hier, &r->ways, 0);
    share(r, (char *) &head, sizeof head);
    if (n > sizeof head)
        deliver(r, place + sizeof head, n - sizeof head);
}

static int relay(struct relay *r)
{
    struct nc_hier *x = &r->hier;

    first_window(r);
    for (uint64_t w = 1; r->done < r->total; w++) {
        size_t n = window_of(r), after = r->total - r->done - n;
        MPIDI_NUMACOLL_hier_settle(x, &x->down, w);
        fill(r, place_of(r, w), n);
        MPIDI_NUMACOLL_hier_run(x, &x->down, w, place_of(r, w), n, false);
        if (after > 0)
            MPIDI_NUMACOLL_hier_expect(x, &x->down, w + 1, place_of(r, w + 1),
                                       after < n ? after : n);
        deliver(r, place_of(r, w), n);
    }
    return MPIDI_NUMACOLL_hier_close(x);
}

/* Everybody else's. */
static int hear(struct MPIDI_NUMACOLL_comm *state, int speaker, struct nc_stream *user,
                size_t *total)
{
    struct nc_bcast *bcast = &state->bcast[state->leaf + 1].bcast;
    struct head head = {.total = 0};
    struct nc_stream stream = {.bytes = (char *) &head, .length = sizeof head};
    size_t sent = 0;
    int mpi_errno = MPIDI_NUMACOLL_error(nc_bcast_node(bcast, speaker, &stream, &sent));

    for (*total = 0; *total < head.total && sent > 0; *total += sent)
        MPIDI_NUMACOLL_keep_first(&mpi_errno,
                                  MPIDI_NUMACOLL_error(nc_bcast_node(bcast, speaker, user, &sent)));
    return mpi_errno;
}

static int across_nodes(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root,
                        MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct nc_stream user;
    struct relay r = {.is_root = comm->rank == root, .user = &user};
    int mpi_errno, speaker = MPIDI_NUMACOLL_local_speaker(state, comm, root);

    MPIDI_NUMACOLL_stream_init(&user, typed);
    if (state->rank == speaker) {
        MPIDI_NUMACOLL_hier_open(&r.hier, state, root, comm, errflag);
        mpi_errno = relay(&r);
    } else {
        mpi_errno = hear(state, speaker, &user, &r.total);
    }
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(r.total, &user));
    return mpi_errno;
}

/* ---- the call ---- */

int MPIDI_NUMACOLL_bcast_typed(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root,
                               MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    if (!MPIDI_NUMACOLL_is_across(comm))
        /* all ranks are on this node, in the order of their local ranks */
        return node_part(state, typed, root);
    return across_nodes(state, typed, root, comm, errflag);
}

int MPIDI_NUMACOLL_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                         MPIR_Comm *comm, NC_ERRFLAG_T errflag)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    struct nc_typed typed = {.buffer = buffer, .count = count, .datatype = datatype};
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    MPIDI_NUMACOLL_count(state, NC_COLL_BCAST, (int) state->bcast[state->leaf + 1].kind,
                         (size_t) (size * count));
    return MPIDI_NUMACOLL_bcast_typed(state, &typed, root, comm, errflag);
}
