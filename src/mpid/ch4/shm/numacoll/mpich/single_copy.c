/* Single copy through the kernel: whether it is possible, and whether it pays. See single_copy.h.
 */

#include "single_copy.h"

#include <errno.h>
#include <time.h>

#include "../shm/nc_bcast.h"
#include "backing.h"
#include "cma.h"
#include "settings.h"
#include "xpmem.h"

struct peers {
    const struct nc_single_copy *way;
    struct nc_peer peer[];
};

size_t MPIDI_NUMACOLL_single_copy_bytes(int size)
{
    return sizeof(struct peers) + (size_t) size * sizeof(struct nc_peer);
}

static int fetch(void *context, void *to, const struct nc_origin *from, size_t n)
{
    struct peers *peers = context;
    int mpi_errno = MPI_SUCCESS;
    int error = peers->way->copy(&peers->peer[from->rank], to, from->bytes, n);

    MPIR_ERR_CHKANDJUMP(error == EFAULT, mpi_errno, MPI_ERR_BUFFER, "**buffer");
    MPIR_ERR_CHKANDJUMP(error, mpi_errno, MPI_ERR_OTHER, "**other");

fn_fail:
    return mpi_errno;
}

/* ---- whether it is possible ---- */

/* Ends the use of the peers that have been reached: all before rank `reached`. */
static void leave(struct peers *peers, int rank, int reached)
{
    const struct nc_single_copy *way = peers->way;

    for (int i = 0; way->leave && i < reached; i++) {
        if (i != rank)
            way->leave(&peers->peer[i]);
    }
}

/* Reaches all peers, and reads the number of each. *reached: all before this one are reached.
 * Returns whether all are, and have their numbers. */
static bool reach_all(struct peers *peers, int rank, int size, int *reached)
{
    for (*reached = 0; *reached < size; ++*reached) {
        struct nc_peer *peer = &peers->peer[*reached];
        uint64_t found = 0;

        if (peer->offered < 0 || (*reached != rank && peers->way->reach(peer)))
            return false;
        if (*reached != rank &&
            (peers->way->copy(peer, (char *) &found, (const char *) peer->at, sizeof found) ||
             found != peer->number)) {
            ++*reached;
            return false;
        }
    }
    return true;
}

/* Tries a way. *allowed, which is false before, alike on all ranks: each has copied a number from
 * each other one. */
static int try_way(const struct nc_single_copy *way, struct peers *peers, MPIR_Comm *node_comm,
                   bool *allowed)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, refused, reached = 0;
    int rank = node_comm->rank, size = node_comm->local_size;
    uint64_t number = MPIDI_NUMACOLL_nonce();
    struct nc_peer mine = {.offered = way->offer(), .at = &number, .number = number};

    peers->way = way;
    mpi_errno = MPIR_Allgather_intra_brucks(&mine, sizeof mine, NC_TYPE_BYTE, peers->peer,
                                            sizeof mine, NC_TYPE_BYTE, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    refused = !reach_all(peers, rank, size, &reached);
    /* `number` is there until all have looked */
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, &refused, 1, NC_TYPE_INT,
                                                        MPI_MAX, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *allowed = !refused;

fn_fail:
    if (!*allowed)
        leave(peers, rank, reached);
    return mpi_errno;
}

int MPIDI_NUMACOLL_single_copy_join(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    /* the faster ones first */
    const struct nc_single_copy *const ways[] = {&MPIDI_NUMACOLL_xpmem, &MPIDI_NUMACOLL_cma};
    const int settings[] = {MPIR_CVAR_NUMACOLL_SINGLE_COPY_xpmem,
                            MPIR_CVAR_NUMACOLL_SINGLE_COPY_cma};
    int setting = MPIDI_NUMACOLL_setting(parent, -1, NC_VAR_SINGLE_COPY);
    int mpi_errno = MPI_SUCCESS;
    bool allowed = false;

    state->single_copy = NULL;
    for (int i = 0; i < 2 && !allowed; i++) {
        if (setting != settings[i] && setting != MPIR_CVAR_NUMACOLL_SINGLE_COPY_auto)
            continue;
        mpi_errno = try_way(ways[i], (struct peers *) state->peers, parent->node_comm, &allowed);
        MPIR_ERR_CHECK(mpi_errno);
        if (allowed) {
            state->single_copy = ways[i];
            state->stats.maps = ways[i] == &MPIDI_NUMACOLL_xpmem;
        }
    }
    state->direct.context = state->peers;
    state->direct.fetch = allowed && setting != MPIR_CVAR_NUMACOLL_SINGLE_COPY_auto ? fetch : NULL;

fn_fail:
    return mpi_errno;
}

const char *MPIDI_NUMACOLL_single_copy_state(const struct MPIDI_NUMACOLL_comm *state, char *text,
                                             size_t n)
{
    bool timed = state->single_copy_timed, used = state->direct.fetch != NULL;

    if (!state->single_copy)
        snprintf(text, n, "single copy refused");
    else
        snprintf(text, n, "single copy by %s%s", state->single_copy->name,
                 used && timed ? ", which is faster than the queue"
                 : used        ? ""
                 : timed       ? " not used: it is slower than the queue"
                               : " to be timed");
    return text;
}

void MPIDI_NUMACOLL_single_copy_leave(struct MPIDI_NUMACOLL_comm *state)
{
    if (state->single_copy)
        leave((struct peers *) state->peers, state->rank, state->size);
    state->single_copy = NULL;
    state->direct.fetch = NULL;
}

/* ---- whether it pays ---- */

enum { UNKNOWN, SLOWER, FASTER };
/* what this process knows of each way: of cma, of xpmem; threads that find it out do so alike */
static struct nc_atomic known[2];
enum { ROUNDS = 3, LENGTHS = 2 };

/* Nanoseconds of two broadcasts of `bytes` bytes, from the first rank and from the last: by
 * state->direct.fetch if there is one. *error: kept as it was, or that of a copy. */
static int64_t two_broadcasts(struct MPIDI_NUMACOLL_comm *state, char *buffer, size_t bytes,
                              int *error)
{
    struct timespec begun, ended;

    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int last = 0; last < 2; last++) {
        struct nc_stream stream = {.bytes = buffer, .length = bytes};
        size_t sent;
        int failed = nc_bcast_node(&state->choice[0].transfer, &state->choice[0].bcast,
                                   last ? state->size - 1 : 0, &stream, &sent);

        nc_keep_first(error, failed);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (int64_t) (ended.tv_sec - begun.tv_sec) * 1000000000 + ended.tv_nsec - begun.tv_nsec;
}

/* The shortest times of both ways, in turn, in microseconds: took[way][length], way 1 the single
 * copy. Returns the error of a copy. */
static int measure(struct MPIDI_NUMACOLL_comm *state, char *buffer, const size_t *bytes,
                   int took[2][LENGTHS])
{
    int error = 0;

    for (int round = 0; round <= ROUNDS; round++) {
        for (int i = 0; i < 2 * LENGTHS; i++) {
            int64_t ns;

            state->direct.fetch = i % 2 ? fetch : NULL;
            ns = two_broadcasts(state, buffer, bytes[i / 2], &error);
            /* the first round only warms up; more than a second is slow enough */
            if (round == 1 || (round > 1 && ns / 1000 < took[i % 2][i / 2]))
                took[i % 2][i / 2] = ns < 1000000000 ? (int) (ns / 1000) : 1000000;
        }
    }
    return error;
}

/* Finds out whether the single copy is faster, by a tenth at least, for both lengths. */
static int find_out(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *node_comm, char *buffer,
                    const size_t *bytes, bool *faster)
{
    NC_ERRFLAG_LOCAL(errflag);
    struct nc_traffic traffic = state->traffic; /* what the program has had moved */
    int most[1 + 2 * LENGTHS], (*took)[LENGTHS] = (int(*)[LENGTHS])(most + 1);
    int mpi_errno;

    state->queue.call = 0; /* of no collective */
    most[0] = measure(state, buffer, bytes, took) != 0;
    state->traffic = traffic;
    state->direct.fetch = NULL;
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, most, 1 + 2 * LENGTHS,
                                                        NC_TYPE_INT, MPI_MAX, node_comm, errflag);
    *faster = !most[0];
    for (int i = 0; i < LENGTHS; i++)
        *faster = *faster && took[1][i] < took[0][i] - took[0][i] / 10;
    return mpi_errno;
}

int MPIDI_NUMACOLL_single_copy_time(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    size_t bytes[LENGTHS] = {state->direct.above + 1, 4 * (state->direct.above + 1)};
    struct nc_atomic *here = &known[state->single_copy == &MPIDI_NUMACOLL_xpmem];
    char *buffer;
    int most[2]; /* no answer is worse than this; no memory */
    bool faster;

    if (!state->single_copy || state->direct.fetch)
        return MPI_SUCCESS;
    buffer = MPL_malloc(bytes[LENGTHS - 1], MPL_MEM_COLL);
    most[0] = -(int) nc_atomic_acquire(here);
    most[1] = !buffer;
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, most, 2, NC_TYPE_INT, MPI_MAX,
                                                        parent->node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    faster = -most[0] == FASTER;
    if (-most[0] == UNKNOWN && !most[1]) {
        mpi_errno = find_out(state, parent->node_comm, buffer, bytes, &faster);
        MPIR_ERR_CHECK(mpi_errno);
        /* partner: the acquire above, in another thread; nothing else goes with the answer */
        nc_atomic_release(here, faster ? FASTER : SLOWER);
    }
    state->direct.fetch = faster ? fetch : NULL;
    state->single_copy_timed = -most[0] != UNKNOWN || !most[1]; /* no memory: not now */

fn_exit:
    MPL_free(buffer);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
