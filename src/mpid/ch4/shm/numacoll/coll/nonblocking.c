/* Nonblocking Barrier, Bcast and Allreduce of short messages on one node. MPICH makes the request,
 * and calls what is to be done for it: this file gives it a schedule (MPIR_TSP) of two vertices.
 * The first one is a step of nc_nonblocking at a time: MPICH calls `start` when the call is
 * started, then `go_on` from its progress engine, until one of them says that it is done. The
 * second one returns the error of the call to MPICH.
 *
 * No rank needs another one's progress engine for what that rank has posted: the root's message, or
 * the messages of all, are all that a rank needs, and each rank reduces for itself.
 *
 * All ranks decide alike which calls are served: by the communicator, the length and, of
 * Iallreduce, the operation and the datatype. A call that is not served is MPICH's. So is a
 * persistent one: here calls are matched by the order in which they are started, and each rank may
 * start its persistent calls in an order of its own (MPI 4.0, section 6.13). */

#include "reduction.h"
#include "../mpich/bells.h"
#include "../mpich/nonblocking_segment.h"

#include "tsp_impl.h"

/* A call, from its schedule to its end. */
struct nonblocking_call {
    MPIR_Comm *comm;
    enum nc_nonblocking_coll coll;
    int root;                /* -1: none */
    struct nc_typed message; /* that this rank posts, and of Ibcast the one it gets */
    void *result;            /* of Iallreduce */
    nc_combine *combine;     /* of Iallreduce: what reduces */
    struct nc_open open;
    bool unposted; /* it is counted in MPIDI_NUMACOLL_unposted */
    int mpi_errno;
};

static struct MPIDI_NUMACOLL_comm *state_of(const struct nonblocking_call *c)
{
    return MPIDI_POSIX_COMM(c->comm, numacoll);
}

/* ---- a step ---- */

static void keep(struct nonblocking_call *c, int mpi_errno)
{
    nc_keep_first(&c->mpi_errno, mpi_errno);
    if (mpi_errno)
        state_of(c)->failed = true;
}

/* N2. Whether the message is posted. */
static bool post(struct nonblocking_call *c, struct nc_nonblocking *n)
{
    struct nc_stream stream;
    bool posted;
    int copied;

    MPIDI_NUMACOLL_stream_init(&stream, &c->message);
    posted = nc_nonblocking_post(n, &c->open, &stream, &copied);
    keep(c, MPIDI_NUMACOLL_error(copied));
    if (posted == c->unposted) {
        MPL_atomic_fetch_add_int(&MPIDI_NUMACOLL_unposted, posted ? -1 : 1);
        c->unposted = !posted;
    }
    return posted;
}

/* The message of a rank; NULL, and an error: it is of another call, or of another length. A program
 * in which that happens is wrong. */
static const char *part_of(struct nonblocking_call *c, struct nc_nonblocking *n, int rank)
{
    const struct nc_control *part = nc_nonblocking_part(n, &c->open, rank);
    struct nc_stream mine;

    MPIDI_NUMACOLL_stream_init(&mine, &c->message);
    if (part->header.call == c->open.call && part->header.total == mine.length)
        return nc_nonblocking_bytes(part);
    /* MPICH's schedule keeps only that there was an error: MPI_ERR_OTHER */
    keep(c, MPIDI_NUMACOLL_unequal_error(true));
    return NULL;
}

static void take_broadcast(struct nonblocking_call *c, struct nc_nonblocking *n)
{
    const char *bytes = part_of(c, n, c->root);
    struct nc_stream stream;

    MPIDI_NUMACOLL_stream_init(&stream, &c->message);
    if (bytes)
        keep(c, MPIDI_NUMACOLL_error(nc_copy_out(&stream, bytes, stream.length, 0, NULL)));
}

/* Combines the messages of all ranks in the order that REDUCE_ORDER=ranks promises of Allreduce,
 * a0 op (a1 op (a2 ..)), so that all ranks get the same bits; of a barrier only looks at them. */
static void take_all(struct nonblocking_call *c, struct nc_nonblocking *n)
{
    const char *behind = part_of(c, n, state_of(c)->size - 1);

    for (int r = state_of(c)->size - 2; r >= 0 && behind; r--) {
        const char *bytes = part_of(c, n, r);
        if (bytes && c->combine) {
            c->combine(c->result, bytes, behind, (size_t) c->message.count);
            behind = c->result;
        }
    }
}

/* N2 to N4: what can be done without waiting. Whether the call is over. */
static bool step(struct nonblocking_call *c, struct nc_nonblocking *n)
{
    if (!c->open.posted && !post(c, n))
        return false;
    if (!nc_nonblocking_is_met(n, &c->open))
        return false;
    if (c->root < 0)
        take_all(c, n);
    else if (c->root != c->comm->rank)
        take_broadcast(c, n);
    nc_nonblocking_end(n, &c->open);
    return true;
}

/* ---- what MPICH calls ---- */

static uint16_t call_number(const struct nonblocking_call *c)
{
    return (uint16_t) (1 + (int) c->coll + (c->root + 1) * NC_NONBLOCKING_COUNT);
}

static int go_on(void *data, int *done)
{
    struct nonblocking_call *c = data;
    struct MPIDI_NUMACOLL_nonblocking *n = state_of(c)->nonblocking;

    pthread_mutex_lock(&n->lock);
    *done = step(c, &n->operations);
    pthread_mutex_unlock(&n->lock);
    return MPI_SUCCESS;
}

static int start(void *data, int *done)
{
    struct nonblocking_call *c = data;
    struct MPIDI_NUMACOLL_comm *state = state_of(c);

    c->mpi_errno = MPI_SUCCESS;
    state->stats.counts.started[c->coll]++;
    pthread_mutex_lock(&state->nonblocking->lock);
    nc_nonblocking_begin(&state->nonblocking->operations, &c->open, call_number(c), c->root);
    pthread_mutex_unlock(&state->nonblocking->lock);
    return go_on(data, done);
}

static int finish(MPIR_Comm *comm, int tag, void *data)
{
    (void) comm;
    (void) tag;
    return ((struct nonblocking_call *) data)->mpi_errno;
}

static int forget(void *data)
{
    struct nonblocking_call *c = data;
    MPIR_Comm *comm = c->comm;

    MPIR_Datatype_release_if_not_builtin(c->message.datatype);
    MPL_free(c);
    return MPIR_Comm_release(comm);
}

/* ---- schedules ---- */

/* An empty schedule: of a call that is over at once. */
static void schedule_nothing(void **sched, enum MPIR_sched_type *sched_type)
{
    *sched_type = MPIR_SCHED_GENTRAN;
    MPIR_TSP_sched_create(sched, false); /* asserts that there is memory */
}

/* Makes the schedule of a call. The call has a reference to its communicator and its datatype: the
 * program may free both before it is over. */
static int schedule(const struct nonblocking_call *call, void **sched,
                    enum MPIR_sched_type *sched_type)
{
    int mpi_errno = MPI_SUCCESS, vertex;
    struct nonblocking_call *c = MPL_malloc(sizeof *c, MPL_MEM_COLL);

    MPIR_ERR_CHKANDJUMP(!c, mpi_errno, MPI_ERR_OTHER, "**nomem");
    *c = *call;
    MPIR_Comm_add_ref(c->comm);
    MPIR_Datatype_add_ref_if_not_builtin(c->message.datatype);
    schedule_nothing(sched, sched_type);
    mpi_errno = MPIR_TSP_sched_generic(MPIR_TSP_sched_new_type(*sched, start, go_on, forget), c,
                                       *sched, 0, NULL, &vertex);
    if (mpi_errno) /* no vertex of the schedule will */
        forget(c);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = NC_SCHEDULE_CALL(finish, c, *sched, vertex);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Serves a call, if its communicator has what it needs, and `fits` says that the call is of a kind
 * that is served, in so far as that does not follow from its length. */
static int serve(const struct nonblocking_call *call, bool fits, bool is_persistent, void **sched,
                 enum MPIR_sched_type *sched_type, bool *served)
{
    struct MPIDI_NUMACOLL_comm *state = state_of(call);
    MPI_Aint size;

    *served = false;
    if (!state || !MPIDI_NUMACOLL_nonblocking_selected(call->coll))
        return MPI_SUCCESS;
    MPIR_Datatype_get_size_macro(call->message.datatype, size);
    *served = state->nonblocking && fits && !is_persistent && call->message.count >= 0 &&
              (size == 0 || call->message.count <= (MPI_Aint) NC_INLINE_BYTES / size);
    if (*served && size == 0 && call->coll == NC_COLL_IBCAST && NC_EMPTY_BCAST_RETURNS) {
        /* as where MPICH returns on a rank with count 0: that takes no number */
        schedule_nothing(sched, sched_type);
        return MPI_SUCCESS;
    }
    if (*served)
        return schedule(call, sched, sched_type);
    state->stats.counts.elsewhere[call->coll]++;
    return MPI_SUCCESS;
}

/* What MPICH calls before it makes a schedule of its own, as maint/graft edits it. */

int MPIR_Ibarrier_numacoll(MPIR_Comm *comm, bool is_persistent, void **sched,
                           enum MPIR_sched_type *sched_type, bool *served)
{
    const struct nonblocking_call call = {
        .comm = comm, .coll = NC_COLL_IBARRIER, .root = -1, .message = {.datatype = NC_TYPE_BYTE}};

    return serve(&call, true, is_persistent, sched, sched_type, served);
}

int MPIR_Ibcast_numacoll(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                         MPIR_Comm *comm, bool is_persistent, void **sched,
                         enum MPIR_sched_type *sched_type, bool *served)
{
    const struct nonblocking_call call = {
        .comm = comm, .coll = NC_COLL_IBCAST, .root = root, .message = {buffer, count, datatype}};

    return serve(&call, true, is_persistent, sched, sched_type, served);
}

int MPIR_Iallreduce_numacoll(const void *sendbuf, void *recvbuf, MPI_Aint count,
                             MPI_Datatype datatype, MPI_Op op, MPIR_Comm *comm, bool is_persistent,
                             void **sched, enum MPIR_sched_type *sched_type, bool *served)
{
    void *mine = (void *) (sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    const struct nonblocking_call call = {
        .comm = comm,
        .coll = NC_COLL_IALLREDUCE,
        .root = -1,
        .message = {mine, count, datatype},
        .result = recvbuf,
        .combine = MPIDI_NUMACOLL_is_builtin(datatype)
                       ? MPIDI_NUMACOLL_find_numbers(op, datatype, NC_COMBINE_WIDE)
                       : NULL};

    return serve(&call, call.combine, is_persistent, sched, sched_type, served);
}
