/* The states that this process keeps. See kept.h. */

#include "kept.h"

#include <limits.h>
#include <pthread.h>

#include "answers.h"
#include "choose.h"
#include "compat.h"
#include "nonblocking_segment.h"
#include "report.h"
#include "settings.h"
#include "state_free.h"
#include "../core/nc_kept.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct nc_kept_set set;
static bool was_full; /* one was freed to make room for another, kept or new */

/* This part of the node's budget a process keeps at most, as a divisor: what wide segments may take
 * together (nc_geometry_share). */
enum { NC_KEPT_SHARE = 4 };

/* ---- what a state can be used for ---- */

/* The key: the process of each rank, the settings, then these. */
enum { ENTRIES, INNER, ONE_NODE, NONBLOCKING, KIND_INTS };

static int key_ints(int ranks)
{
    return ranks + NC_SETTING_COUNT + KIND_INTS;
}

/* The last part of the key. */
static int *kind_of(const struct MPIDI_NUMACOLL_comm *state)
{
    return state->key + state->size + NC_SETTING_COUNT;
}

/* Whether a state depends on a setting beyond its choices, which are made anew: not on those that
 * may differ from call to call, but for the one that limits the slots. A tool may change the
 * others, too, from one communicator to the next. */
static bool shapes(int setting)
{
    return MPIDI_NUMACOLL_variables[setting].scope != NC_PER_CALL ||
           setting == NC_VAR_FRAGMENT_SIZE;
}

void MPIDI_NUMACOLL_kept_set_key(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent)
{
    int *key = MPL_malloc((size_t) key_ints(state->size) * sizeof *key, MPL_MEM_COLL), *kind;

    MPL_free(state->key);
    state->key = key;
    if (!key)
        return;
    for (int i = 0; i < state->size; i++)
        NC_GET_PROCESS(parent->node_comm, i, key[i]);
    for (int i = 0; i < NC_SETTING_COUNT; i++)
        key[state->size + i] = shapes(i) ? MPIDI_NUMACOLL_setting(parent, -1, i) : 0;
    kind = kind_of(state);
    kind[ENTRIES] = state->entries;
    kind[INNER] = state->inner;
    kind[ONE_NODE] = NC_NODES(parent) == 1;
    kind[NONBLOCKING] = MPIDI_NUMACOLL_nonblocking_is_wanted(state, parent);
}

void MPIDI_NUMACOLL_kept_operations(const struct MPIDI_NUMACOLL_comm *state, int operations[2])
{
    uint64_t nonblocking = state->nonblocking ? state->nonblocking->operations.begun : 0;

    operations[0] = (int) (state->queue.operation & INT_MAX);
    operations[1] = (int) (nonblocking & INT_MAX);
}

/* ---- what is kept ---- */

static size_t bytes_of(const struct MPIDI_NUMACOLL_comm *state)
{
    return state->segment.bytes + (state->nonblocking ? state->nonblocking->segment.bytes : 0);
}

/* Whether another rank has left the segment, so that nobody can go on with it. */
static bool is_useless(const void *thing)
{
    const struct MPIDI_NUMACOLL_comm *state = thing;

    return !MPIDI_NUMACOLL_segment_is_whole(&state->segment) ||
           (state->nonblocking && !MPIDI_NUMACOLL_segment_is_whole(&state->nonblocking->segment));
}

/* Whether one could go on with the state: it has its segments, and no call on it has failed. No
 * nonblocking one is open, as it would hold the communicator. */
static bool is_good(const struct MPIDI_NUMACOLL_comm *state)
{
    if (state->phase != NC_PHASE_READY || !state->segment.base || !state->key || state->failed)
        return false;
    if (!state->nonblocking && kind_of(state)[NONBLOCKING])
        return false; /* refused: the next communicator is to ask again */
    return !is_useless(state);
}

/* Takes the oldest one for which `is` is true, any if NULL. */
static struct MPIDI_NUMACOLL_comm *take_first(bool (*is)(const void *thing))
{
    struct MPIDI_NUMACOLL_comm *state;

    pthread_mutex_lock(&lock);
    state = nc_kept_take_first(&set, is);
    MPIDI_NUMACOLL_stats_keep(set.bytes);
    pthread_mutex_unlock(&lock);
    return state;
}

struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_kept_take_any(void)
{
    return take_first(NULL);
}

/* Frees what nobody can go on with, so that its bytes are not missing elsewhere. */
static void drop_useless(void)
{
    for (struct MPIDI_NUMACOLL_comm *state; (state = take_first(is_useless));)
        MPIDI_NUMACOLL_state_free(state);
}

struct MPIDI_NUMACOLL_comm *MPIDI_NUMACOLL_kept_take(const struct MPIDI_NUMACOLL_comm *like)
{
    struct MPIDI_NUMACOLL_comm *state;

    drop_useless();
    if (!like->key)
        return NULL;
    pthread_mutex_lock(&lock);
    state = nc_kept_take(&set, like->key, key_ints(like->size), like->context);
    MPIDI_NUMACOLL_stats_keep(set.bytes);
    pthread_mutex_unlock(&lock);
    return state;
}

/* Adds one if there is room. */
static bool add(const struct nc_kept *kept, int most, size_t most_bytes)
{
    bool fits;

    pthread_mutex_lock(&lock);
    fits = nc_kept_has_room(&set, kept->bytes, most, most_bytes);
    if (fits)
        nc_kept_add(&set, kept);
    MPIDI_NUMACOLL_stats_keep(set.bytes);
    pthread_mutex_unlock(&lock);
    return fits;
}

/* Frees one that somebody could go on with. */
static void make_room(struct MPIDI_NUMACOLL_comm *state)
{
    pthread_mutex_lock(&lock);
    was_full = true;
    pthread_mutex_unlock(&lock);
    MPIDI_NUMACOLL_state_free(state);
}

bool MPIDI_NUMACOLL_kept_put(struct MPIDI_NUMACOLL_comm *state)
{
    int most = MPIDI_NUMACOLL_variable(NC_VAR_KEEP_SEGMENTS);
    size_t most_bytes = (size_t) (MPIDI_NUMACOLL_segment_budget() / NC_KEPT_SHARE);
    struct nc_kept kept = {.key = state->key,
                           .ints = key_ints(state->size),
                           .context = state->context,
                           .number = state->segment.number,
                           .bytes = bytes_of(state),
                           .thing = state};

    drop_useless();
    if (most == 0 || kept.bytes > most_bytes || !is_good(state))
        return false;
    while (!add(&kept, most, most_bytes)) {
        struct MPIDI_NUMACOLL_comm *oldest = take_first(NULL);
        if (oldest)
            make_room(oldest);
    }
    return true;
}

bool MPIDI_NUMACOLL_kept_was_full(void)
{
    bool full;

    pthread_mutex_lock(&lock);
    full = was_full;
    pthread_mutex_unlock(&lock);
    return full;
}

void MPIDI_NUMACOLL_kept_put_back(struct MPIDI_NUMACOLL_comm *state, bool good)
{
    if (state && !(good && MPIDI_NUMACOLL_kept_put(state)))
        MPIDI_NUMACOLL_state_free(state);
}

static bool is_empty(void)
{
    bool empty;

    pthread_mutex_lock(&lock);
    empty = set.count == 0;
    pthread_mutex_unlock(&lock);
    return empty;
}

static void drop(void)
{
    for (struct MPIDI_NUMACOLL_comm *state; (state = take_first(NULL));)
        make_room(state);
}

const struct nc_spare MPIDI_NUMACOLL_kept_spare = {.is_empty = is_empty, .drop = drop};

/* ---- going on ---- */

/* Sets all to 0 that a state has counted for its communicator. */
static void forget_counts(struct MPIDI_NUMACOLL_comm *state)
{
    struct nc_waiter *w = &state->waiter;

    memset(&state->stats.counts, 0, sizeof state->stats.counts);
    memset(&state->traffic, 0, sizeof state->traffic); /* a segment grows for this communicator's */
    memset(&state->watch, 0, sizeof state->watch);
    w->ended_spinning = w->ended_in_progress = w->ended_yielding = w->ended_asleep = 0;
    w->asleep_ns = w->missed = 0;
    state->parking.rings = 0;
    state->announced = 0;
}

void MPIDI_NUMACOLL_kept_go_on(struct MPIDI_NUMACOLL_comm *kept, struct MPIDI_NUMACOLL_comm *state,
                               MPIR_Comm *parent)
{
    forget_counts(kept);
    if (kept->answers) /* they were about a communicator that may have had other nodes */
        memset(kept->answers, 0, sizeof *kept->answers);
    kept->calls = state->calls;
    kept->node_calls = state->node_calls;
    kept->context = state->context;
    kept->refused = state->refused; /* when to ask again: alike on all nodes */
    kept->inner = state->inner;
    kept->stats.counts.segments_reused = 1;
    kept->stats.comm = parent;
    /* may change the lists of readers that the queue keeps: all ranks have met (PROTOCOLS.md,
     * section 4) */
    MPIDI_NUMACOLL_choose(kept, parent);
    kept->smallest_slot = kept->choice[0].transfer.largest_fragment;
    kept->reason = NC_REASON_NONE; /* not that of the other nodes of the freed communicator */
    kept->agreed = kept->asked = NC_NODES(parent) == 1;
    MPIDI_POSIX_COMM(parent, numacoll) = kept;
    MPIDI_NUMACOLL_stats_add(&kept->stats);
    MPIDI_NUMACOLL_stats_remove(&state->stats);
    MPIDI_NUMACOLL_state_free(state);
    if (kept->agreed)
        MPIDI_NUMACOLL_report_setup(kept, parent);
}
