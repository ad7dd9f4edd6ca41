/* Ranks in different calls, and waits that last long. See watch.h; PROTOCOLS.md, sections 3.7 and
 * 5.4. */

#include "watch.h"

#include <stdio.h>
#include <time.h>

#include "diag.h"

/* 0: a call of none, in which single_copy.c times broadcasts. */
static const char *name_of(unsigned call)
{
    if (call == 0)
        return "set-up";
    return MPIDI_NUMACOLL_coll_name((enum nc_coll)(call % NC_WATCHED_COLLECTIVES - 1));
}

/* ---- messages of another call ---- */

/* In what two calls of one collective differ; "": they are of two. */
static const char *difference(unsigned mine, unsigned theirs)
{
    unsigned most = mine > theirs ? mine : theirs;

    if (mine % NC_WATCHED_COLLECTIVES != theirs % NC_WATCHED_COLLECTIVES)
        return "";
    return most / NC_WATCHED_COLLECTIVES < NC_WATCHED_ROOTS ? " with another root"
                                                            : " with other counts";
}

int MPIDI_NUMACOLL_stranger_error(const struct nc_call *call)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_queue *q = &call->state->queue;
    struct nc_stranger stranger = q->stranger;

    q->stranger.call = 0;
    MPIDI_NUMACOLL_complain(0,
                            "rank %d is in %s, rank %d in %s%s: all ranks of a communicator must "
                            "make the same calls in the same order",
                            call->comm->rank, name_of(q->call),
                            MPIDI_NUMACOLL_members(call)[stranger.rank], name_of(stranger.call),
                            difference(q->call, stranger.call));
    MPIDI_NUMACOLL_pause_before_error(0);
    MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**other");
    return mpi_errno;
}

/* Whether an error of a call on a communicator ends the job. */
static bool ends_job(const MPIR_Comm *comm)
{
    /* those whose handler MPICH asks, one after the other; before 4.2 not that of COMM_SELF */
    const MPIR_Comm *asked[] = {comm, NC_ERRORS_OF_SELF ? MPIR_Process.comm_self : NULL,
                                MPIR_Process.comm_world};
    const MPIR_Errhandler *handler = NULL;

    for (int i = 0; i < 3 && !handler; i++)
        handler = asked[i] ? asked[i]->errhandler : NULL;
    return !handler || handler->handle == MPI_ERRORS_ARE_FATAL ||
           handler->handle == MPI_ERRORS_ABORT;
}

void MPIDI_NUMACOLL_watch_stranger(struct MPIDI_NUMACOLL_comm *state)
{
    MPIR_Comm *comm = state->stats.comm;
    const struct nc_call call = {
        .state = state, .comm = comm, .across = state->agreed && NC_NODES(comm) > 1};

    if (ends_job(comm))
        MPIR_Err_return_comm(comm, __func__, MPIDI_NUMACOLL_stranger_error(&call));
}

/* ---- long waits ---- */

/* What a rank shows the others: (number of the operation + 1, call). */
static uint64_t shown(const struct nc_queue *q)
{
    return (q->operation + 1) << 16 | q->call;
}

static struct nc_atomic *place_of(const struct MPIDI_NUMACOLL_comm *state, int rank)
{
    char *base = (char *) state->segment.base;

    return &((struct nc_place *) (base + NC_HEADER_BYTES + NC_BUCKETS_BYTES))[rank].call;
}

static bool is_watched(const struct MPIDI_NUMACOLL_comm *state)
{
    return state->size > 1 && state->size <= NC_PARKING_RANKS;
}

void MPIDI_NUMACOLL_watch_enter(struct MPIDI_NUMACOLL_comm *state)
{
    if (is_watched(state)) /* orders nothing: it is only shown */
        nc_atomic_release(place_of(state, state->rank), shown(&state->queue));
}

/* Adds the ranks that are not in this call, and where they are, to a line. Returns whether this
 * rank is the first of the others. */
static bool list_absent(const struct MPIDI_NUMACOLL_comm *state, char *line, size_t bytes)
{
    uint64_t mine = shown(&state->queue);
    bool first = true;
    size_t n = 0;

    line[0] = '\0';
    for (int r = 0; r < state->size; r++) {
        uint64_t theirs = nc_atomic_acquire(place_of(state, r));
        if (theirs >> 16 < mine >> 16)
            n += (size_t) snprintf(line + n, bytes - n, " %d", r);
        else if (theirs >> 16 == mine >> 16 && theirs != mine)
            n += (size_t) snprintf(line + n, bytes - n, " %d (in %s)", r, name_of(theirs & 0xffff));
        else if (r < state->rank && theirs == mine)
            first = false;
        if (n >= bytes - 40) {
            snprintf(line + n, bytes - n, " ..");
            break;
        }
    }
    return first;
}

static void report(const struct MPIDI_NUMACOLL_comm *state)
{
    char absent[400];

    if (list_absent(state, absent, sizeof absent))
        MPIDI_NUMACOLL_complain(
            0,
            "rank %d on its node has waited %d s in %s, operation %llu of a communicator with %d "
            "ranks there; not in this call:%s",
            state->rank, MPIR_CVAR_NUMACOLL_REPORT_WAITS, name_of(state->queue.call),
            (unsigned long long) state->queue.operation + 1, state->size,
            absent[0] ? absent : " none");
}

void MPIDI_NUMACOLL_watch_wait(struct MPIDI_NUMACOLL_comm *state)
{
    const struct nc_waiter *w = &state->waiter;
    uint64_t ended = w->ended_spinning + w->ended_in_progress + w->ended_yielding + w->ended_asleep;
    struct timespec now;

    if (!is_watched(state))
        return;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (state->watch.began == 0 || state->watch.ended != ended) {
        state->watch.ended = ended;
        state->watch.began = now.tv_sec;
        state->watch.reported = false;
    } else if (!state->watch.reported &&
               now.tv_sec - state->watch.began >= MPIR_CVAR_NUMACOLL_REPORT_WAITS) {
        state->watch.reported = true;
        report(state);
    }
}
