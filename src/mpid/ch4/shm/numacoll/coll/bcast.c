/* MPI_Bcast: inside a node through the root's own queue; across nodes by windows over the binomial tree of nodes, on the root's
 * node from the root itself, on the others from their leaders. */

#include "across.h"

static int node_part(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root)
{
    int mpi_errno;
    struct nc_stream stream;
    size_t sent;

    if (state->size == 1)
        return MPI_SUCCESS;
    MPIDI_NUMACOLL_stream_init(&stream, typed);
    mpi_errno = MPIDI_NUMACOLL_error(nc_bcast_node(&state->bcast[state->leaf + 1].bcast, root, &stream, &sent));
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(sent, &stream));
    return mpi_errno;
}

/* ---- across nodes ---- */

/* A speaker's part in a call. */
struct relay {
    struct MPIDI_NUMACOLL_comm *state;
    MPIR_Comm *comm;
    NC_ERRFLAG_T errflag;
    struct nc_node_tree tree;
    MPIR_Request *sent[2][32];  /* of each of two windows, to the nodes below */
    int mpi_errno;
};

static void wait_for_sends(struct relay *r, int window)
{
    MPI_Status status;

    for (int i = 0; i < 32; i++) {
        if (r->sent[window][i])
            MPIDI_NUMACOLL_keep_first(&r->mpi_errno, NC_WAITALL(1, &r->sent[window][i], &status, r->errflag));
        r->sent[window][i] = NULL;
    }
}

/* The next window of the message: from the buffer of the root, or from the node above; its bytes. */
static size_t next_window(struct relay *r, struct nc_stream *root_stream, char *window)
{
    size_t bytes = 0;

    if (r->tree.relative == 0) {
        struct nc_ledger elsewhere;
        bytes = nc_stream_rest(root_stream) < NC_WINDOW ? nc_stream_rest(root_stream) : NC_WINDOW;
        MPIDI_NUMACOLL_keep_first(&r->mpi_errno, MPIDI_NUMACOLL_error(nc_copy_in(root_stream, window, bytes, 0, &elsewhere)));
    } else {
        MPI_Status status;
        MPIR_Request *request = NULL;
        int mpi_errno = MPIC_Irecv(window, NC_WINDOW, MPI_BYTE, MPIDI_NUMACOLL_speaker(&r->tree, -r->tree.bit), MPIR_BCAST_TAG, r->comm,
                                   &request);
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = NC_WAITALL(1, &request, &status, r->errflag);
        /* not of an error before: the message goes on to those below */
        if (mpi_errno == MPI_SUCCESS)
            bytes = (size_t) MPIR_STATUS_GET_COUNT(status);
        MPIDI_NUMACOLL_keep_first(&r->mpi_errno, mpi_errno);
    }
    return bytes;
}

/* The largest subtrees first. */
static void send_window(struct relay *r, int i, size_t bytes)
{
    int k = 0;

    for (int bit = 1 << 30; bit > 0; bit /= 2) {
        if (MPIDI_NUMACOLL_has_child(&r->tree, bit))
            MPIDI_NUMACOLL_keep_first(&r->mpi_errno, MPIC_Isend(r->state->all.window[i], (MPI_Aint) bytes, MPI_BYTE,
                                                               MPIDI_NUMACOLL_speaker(&r->tree, bit), MPIR_BCAST_TAG, r->comm,
                                                               &r->sent[i][k++], r->errflag));
    }
}

/* A window to the rest of the node, and to my user; the root's is there already. */
static void share_window(struct relay *r, char *window, size_t bytes, struct nc_stream *user)
{
    struct nc_stream stream = {.bytes = window,.length = bytes };
    struct nc_ledger elsewhere;
    size_t sent;

    if (r->state->size > 1)
        MPIDI_NUMACOLL_keep_first(&r->mpi_errno, MPIDI_NUMACOLL_error(nc_bcast_node(&r->state->bcast[r->state->leaf + 1].bcast,
                                                                                  r->state->rank, &stream, &sent)));
    if (r->tree.relative != 0)
        MPIDI_NUMACOLL_keep_first(&r->mpi_errno, MPIDI_NUMACOLL_error(nc_copy_out(user, window, bytes, 0, &elsewhere)));
}

/* A window that is not full is the last. *total: bytes of the message. */
static int relay(struct relay *r, struct nc_stream *user, size_t *total)
{
    size_t bytes;
    int i = 0;

    do {
        char *window = r->state->all.window[i];
        wait_for_sends(r, i);
        bytes = next_window(r, user, window);
        send_window(r, i, bytes);
        share_window(r, window, bytes, user);
        *total += bytes;
        i = 1 - i;
    } while (bytes == NC_WINDOW);
    wait_for_sends(r, 0);
    wait_for_sends(r, 1);
    return r->mpi_errno;
}

static int hear(struct MPIDI_NUMACOLL_comm *state, int speaker, struct nc_stream *user, size_t *total)
{
    int mpi_errno = MPI_SUCCESS;
    size_t sent;

    do {
        MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_error(nc_bcast_node(&state->bcast[state->leaf + 1].bcast, speaker, user,
                                                                               &sent)));
        *total += sent;
    } while (sent == NC_WINDOW);
    return mpi_errno;
}

static int across_nodes(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root, MPIR_Comm * comm,
                        NC_ERRFLAG_T errflag)
{
    struct relay r = {.state = state,.comm = comm,.errflag = errflag,.tree = MPIDI_NUMACOLL_node_tree(&state->all, root) };
    int mpi_errno, speaker = r.tree.relative == 0 ? MPIR_Get_intranode_rank(comm, root) : 0;
    struct nc_stream user;
    size_t total = 0;

    MPIDI_NUMACOLL_stream_init(&user, typed);
    mpi_errno = state->rank == speaker ? relay(&r, &user, &total) : hear(state, speaker, &user, &total);
    MPIDI_NUMACOLL_keep_first(&mpi_errno, MPIDI_NUMACOLL_compare_lengths(total, &user));
    return mpi_errno;
}

/* ---- the call ---- */

int MPIDI_NUMACOLL_bcast_typed(struct MPIDI_NUMACOLL_comm *state, struct nc_typed *typed, int root, MPIR_Comm * comm,
                               NC_ERRFLAG_T errflag)
{
    if (!MPIDI_NUMACOLL_is_across(comm))
        /* all ranks are on this node, in the order of their local ranks */
        return node_part(state, typed, root);
    return across_nodes(state, typed, root, comm, errflag);
}

int MPIDI_NUMACOLL_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm * comm,
                         NC_ERRFLAG_T errflag)
{
    struct MPIDI_NUMACOLL_comm *state = MPIDI_NUMACOLL_home_state(comm);
    struct nc_typed typed = {.buffer = buffer,.count = count,.datatype = datatype };
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    MPIDI_NUMACOLL_count(state, NC_COLL_BCAST, (int) state->bcast[state->leaf + 1].kind, (size_t) (size * count));
    return MPIDI_NUMACOLL_bcast_typed(state, &typed, root, comm, errflag);
}
