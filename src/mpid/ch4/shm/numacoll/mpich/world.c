/* Start and end of numacoll in the process, at MPI_Init and MPI_Finalize: checks the variables,
 * meets the other processes of the node, finds out whether ranks outnumber processors, and then
 * makes MPICH's own waits yield. */

#define _GNU_SOURCE
#include "mpidimpl.h"
#include "world.h"

#include <sched.h>
#include <unistd.h>

#include "bells.h"
#include "crowding.h"
#include "collectives.h"
#include "diag.h"
#include "location.h"
#include "meeting.h"
#include "numacoll_hooks.h"
#include "numacoll_waits.h"
#include "pvars.h"
#include "report.h"
#include "rest.h"
#include "selection_file.h"
#include "settings.h"
#include "shared_buffers.h"
#include "shared_malloc.h"
#include "stats.h"
#include "tuned.h"
#include "vars.h"
#include "windows.h"

struct nc_world MPIDI_NUMACOLL_world;

static int hook_id; /* of the hook `relieve`, registered if waits yield */

enum { FIRST_WORDS = 3, WORDS = NC_MEETING_BYTES / 8 };

/* What each process of a node tells the others at MPI_Init. It has room for the mask's processors 0
 * to 191; complete_masks exchanges the rest where there is more. */
struct hello {
    unsigned files[NC_SELECTION_FILES]; /* checksums of the selection files */
    int create_after;                   /* value of CREATE_AFTER */
    unsigned selected;                  /* by variables, see make_selected */
    uint8_t yield : 4;                  /* value of YIELD */
    uint8_t reduce_order : 4;           /* value of REDUCE_ORDER */
    bool refused;                       /* what this process has is wrong, and a line says so */
    uint16_t words;                     /* words of the mask, up to the last that is not 0 */
    struct nc_quota quota;
    uint64_t word[FIRST_WORDS];
};

_Static_assert(sizeof(struct hello) <= NC_MEETING_BYTES,
               "one exchange: ranks that outnumber processors wait long for each");

/* The parts of hello.selected, each from this bit on: a bit for each collective, then for each that
 * is nonblocking; a bit for each collective at the posix level; DEVICE_COLLECTIVES, two bits; and
 * whether COLLECTIVES wants tuned files. */
enum { BY_POSIX = 20, BY_DEVICE = 28, TUNED = 30 };
enum {
#define NC_NUMBER(name, Name, NAME, ...) POSIX_##NAME,
    NC_POSIX_COLLECTIVES(NC_NUMBER)
#undef NC_NUMBER
        POSIX_COUNT
};

_Static_assert((int) NC_COLL_COUNT + (int) NC_NONBLOCKING_COUNT <= (int) BY_POSIX &&
                   (int) POSIX_COUNT <= (int) BY_DEVICE - (int) BY_POSIX,
               "bits are enough");

/* What variables select. DEVICE_COLLECTIVES, which decides between selection files, counts only
 * where something is selected: processes without numacoll may differ as they like. */
static unsigned make_selected(void)
{
    unsigned selected = 0;

    for (int c = 0; c < NC_COLL_COUNT; c++)
        selected |= MPIDI_NUMACOLL_selected(c) ? 1u << c : 0;
    for (int c = 0; c < NC_NONBLOCKING_COUNT; c++)
        selected |= MPIDI_NUMACOLL_nonblocking_selected(c) ? 1u << (NC_COLL_COUNT + c) : 0;
#define NC_ROW(name, Name, NAME, ...) \
    if (MPIR_CVAR_##NAME##_POSIX_INTRA_ALGORITHM == \
        MPIR_CVAR_##NAME##_POSIX_INTRA_ALGORITHM_numacoll) \
        selected |= 1u << (BY_POSIX + POSIX_##NAME);
    NC_POSIX_COLLECTIVES(NC_ROW)
#undef NC_ROW
    if (selected || MPIDI_NUMACOLL_files_are_given())
        selected |= (unsigned) MPIR_CVAR_DEVICE_COLLECTIVES << BY_DEVICE;
    return selected | (MPIDI_NUMACOLL_tuned ? 1u << TUNED : 0);
}

/* The variables by which two processes select different things. */
static const char *different_selection(unsigned a, unsigned b)
{
    unsigned bits = a ^ b;

    if (bits & (((1u << BY_POSIX) - 1) | 1u << TUNED))
        return "MPIR_CVAR_NUMACOLL_COLLECTIVES and MPIR_CVAR_<COLL>_INTRA_ALGORITHM";
    return bits & ((1u << BY_DEVICE) - 1) ? "MPIR_CVAR_<COLL>_POSIX_INTRA_ALGORITHM"
                                          : "MPIR_CVAR_DEVICE_COLLECTIVES";
}

/* What the variables of this process choose. */
static void take_choices(struct hello *hello)
{
    for (int i = 0; i < NC_SELECTION_FILES; i++)
        hello->files[i] = MPIDI_NUMACOLL_file_checksum(i);
    hello->create_after = MPIDI_NUMACOLL_variable(NC_VAR_CREATE_AFTER);
    hello->yield = (uint8_t) MPIR_CVAR_NUMACOLL_YIELD & 15;
    hello->reduce_order = (uint8_t) MPIR_CVAR_NUMACOLL_REDUCE_ORDER & 15;
    hello->selected = make_selected();
}

/* This process's hello, and its affinity mask: empty if the kernel does not tell the mask. */
static struct hello make_hello(struct nc_cpus *mask)
{
    struct hello hello = {.words = NC_CPUS_WORDS,
                          .quota = nc_quota_read(""),
                          .refused = MPIDI_NUMACOLL_start_is_refused()};

    memset(mask, 0, sizeof *mask);
    /* longer than a cpu_set_t: the kernel refuses a length in which not every processor that the
     * machine can have has a bit */
    (void) sched_getaffinity(0, sizeof *mask, (cpu_set_t *) mask);
    while (hello.words > 0 && mask->word[hello.words - 1] == 0)
        hello.words--;
    memcpy(hello.word, mask->word, sizeof hello.word);
    take_choices(&hello);
    return hello;
}

/* The variable that differs between two processes; NULL: none. */
static const char *difference(const struct hello *a, const struct hello *b)
{
    for (int i = 0; i < NC_SELECTION_FILES; i++) {
        if (a->files[i] != b->files[i])
            return MPIDI_NUMACOLL_file_variable(i);
    }
    if (a->selected != b->selected)
        return different_selection(a->selected, b->selected);
    if (a->create_after != b->create_after)
        return "MPIR_CVAR_NUMACOLL_CREATE_AFTER";
    if (a->reduce_order != b->reduce_order)
        return "MPIR_CVAR_NUMACOLL_REDUCE_ORDER";
    return a->yield != b->yield ? "MPIR_CVAR_NUMACOLL_YIELD" : NULL;
}

/* Refuses a variable that differs. Ranks that choose differently would wait for each other for
 * ever. rank: of this process among those that see the difference. */
static void refuse(const char *different, int rank)
{
    if (rank == 0) /* the others have nothing to say after it */
        MPIDI_NUMACOLL_complain(0, "%s: must be the same on all ranks, a file with the same text",
                                different);
    MPIDI_NUMACOLL_refuse_start(rank);
}

/* Compares what all processes of the node have said: if they differ, or one of them is refused, all
 * of them are. */
static void compare(const struct hello *all)
{
    const char *different = NULL;

    for (int r = 0; r < MPIR_Process.local_size; r++) {
        if (all[r].refused)
            MPIDI_NUMACOLL_refuse_start(-1);
    }
    if (MPIDI_NUMACOLL_start_is_refused())
        return;
    for (int r = 1; r < MPIR_Process.local_size && !different; r++)
        different = difference(&all[0], &all[r]);
    if (different)
        refuse(different, MPIR_Process.local_rank);
}

/* The processes of each node are compared already, so one of each node is enough. YIELD is each
 * node's own matter. The reduction takes the highest values, and the lowest as the highest of the
 * negative ones. */
static int compare_nodes(void)
{
    enum { SELECTED = NC_SELECTION_FILES, CREATE_AFTER, REDUCE_ORDER, VALUES };
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS;
    int both[2 * VALUES], *highest = both, *lowest_negative = both + VALUES;
    MPIR_Comm *comm = MPIR_Process.comm_world;
    struct hello mine = {0}, most, least;
    const char *different;

    if (MPIR_Process.num_nodes == 1)
        goto fn_exit;
    /* if every process is on a node of its own, MPICH makes no node_roots_comm */
    if (MPIR_Process.num_nodes < MPIR_Process.size)
        comm = comm->node_roots_comm;
    if (!comm)
        goto fn_exit;
    take_choices(&mine);
    most = least = mine;
    for (int i = 0; i < NC_SELECTION_FILES; i++)
        highest[i] = (int) (mine.files[i] >> 1);
    highest[SELECTED] = (int) mine.selected;
    highest[CREATE_AFTER] = mine.create_after;
    highest[REDUCE_ORDER] = mine.reduce_order;
    for (int i = 0; i < VALUES; i++)
        lowest_negative[i] = -highest[i];
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, both, 2 * VALUES, NC_TYPE_INT,
                                                        MPI_MAX, comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < NC_SELECTION_FILES; i++) {
        most.files[i] = (unsigned) highest[i];
        least.files[i] = (unsigned) -lowest_negative[i];
    }
    most.selected = (unsigned) highest[SELECTED];
    least.selected = (unsigned) -lowest_negative[SELECTED];
    most.create_after = highest[CREATE_AFTER];
    least.create_after = -lowest_negative[CREATE_AFTER];
    most.reduce_order = (uint8_t) highest[REDUCE_ORDER] & 15;
    least.reduce_order = (uint8_t) -lowest_negative[REDUCE_ORDER] & 15;
    different = difference(&most, &least);
    if (different)
        refuse(different, comm->rank);
    mpi_errno = MPIR_numacoll_end_start();
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* See numacoll_mpir.h. All processes that come to the second step want tuned files, or none does:
 * that is in hello.selected. */
int MPIR_numacoll_compare_nodes(void)
{
    int mpi_errno = compare_nodes();

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_NUMACOLL_tuned_agree(MPIR_Process.comm_world);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Fills the masks of all processes, which has memory: the first words from their hellos, and if
 * some process has more, the others by more exchanges. */
static int complete_masks(const struct nc_cpus *mine, const struct hello *all,
                          const struct nc_masks *masks)
{
    int mpi_errno = MPI_SUCCESS, words = masks->words;
    size_t bytes = sizeof *masks->word * (size_t) words;

    for (int r = 0; r < MPIR_Process.local_size; r++)
        memcpy(masks->word + (size_t) r * (size_t) words, all[r].word,
               MPL_MIN(bytes, sizeof all[r].word));
    for (int at = FIRST_WORDS; at < words && mpi_errno == MPI_SUCCESS; at += WORDS)
        mpi_errno = MPIDI_NUMACOLL_meeting_exchange(
            mine->word + at, sizeof *mine->word * (size_t) MPL_MIN(WORDS, words - at),
            masks->word + at, bytes);
    return mpi_errno;
}

/* Meets the other processes of the node, and keeps what they may use of its processors, unless the
 * node is refused. Errors: no memory. */
static int meet(void)
{
    int mpi_errno = MPI_SUCCESS, n = MPIR_Process.local_size;
    struct nc_cpus mine;
    struct hello hello = make_hello(&mine), *all = NULL;
    struct nc_masks masks = {.words = 1};
    struct nc_quota *quotas = NULL;

    if (n == 1)
        goto fn_exit;
    all = MPL_malloc(sizeof *all * (size_t) n, MPL_MEM_OTHER);
    quotas = MPL_malloc(sizeof *quotas * (size_t) n, MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!all || !quotas, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = MPIDI_NUMACOLL_meeting_exchange(&hello, sizeof hello, all, sizeof hello);
    MPIR_ERR_CHECK(mpi_errno);
    compare(all);
    if (MPIDI_NUMACOLL_start_is_refused())
        goto fn_fail;
    for (int r = 0; r < n; r++) {
        quotas[r] = all[r].quota;
        masks.words = MPL_MAX(masks.words, all[r].words);
    }
    masks.word = MPL_malloc(sizeof *masks.word * (size_t) (n * masks.words), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!masks.word, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = complete_masks(&mine, all, &masks);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(all);
    MPIDI_NUMACOLL_crowding_init(masks, quotas);
    return mpi_errno;
fn_fail:
    MPL_free(masks.word);
    MPL_free(quotas);
    masks.word = NULL;
    quotas = NULL;
    goto fn_exit;
}

/* A progress hook: runs with every poll of MPICH's progress engine when waits yield, for programs
 * that poll (MPI_Test, MPI_Iprobe); so it never sleeps. A process that polls in vain keeps the
 * processor from the process that it waits for, so it yields after POLLS polls in vain. In vain
 * means: since the last poll no message has come or gone through shared memory, and nothing has
 * completed on any VCI, where MPICH counts that. */
static int relieve(NC_PROGRESS_HOOK_PARAMS)
{
    enum { POLLS = 20 };
    static _Thread_local int last, fruitless;
    int now = (int) MPIR_numacoll_cells_moved();

    /* a tool may switch MPICH's own way of waiting on and off (numacoll-bench does) */
    MPIR_numacoll_set_rests(MPIR_CVAR_NUMACOLL_YIELD != MPIR_CVAR_NUMACOLL_YIELD_off);
    if (!MPIR_numacoll_rests())
        return MPI_SUCCESS;
    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        now += NC_COMPLETED(i);
    if (now != last) {
        last = now;
        fruitless = 0;
    } else if (++fruitless >= POLLS) {
        fruitless = 0;
        MPIR_numacoll_step_aside(NULL, true);
        sched_yield();
        MPIR_numacoll_step_aside(NULL, false);
    }
    return MPI_SUCCESS;
}

/* The bytes of the last-level cache as the C library knows them. location.c replaces them where
 * hwloc knows better. */
static size_t last_level_cache_bytes(void)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

    return l3 > 0 ? (size_t) l3 : l2 > 0 ? (size_t) l2 : 8u << 20;
}

/* Makes MPICH's own waits rest. In auto mode on a node where ranks do not outnumber processors they
 * do so only in a job of several nodes: ranks of other nodes may use the processors as well, as on
 * virtual hosts, which nobody knows before a wait has lasted too long. There are no bells then.
 * Otherwise collective over the processes of the node: YIELD is the same on all, and so is what
 * they are oversubscribed by. */
static int start_resting(void)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_world *w = &MPIDI_NUMACOLL_world;
    struct nc_waiter like = {.step_aside = MPIR_numacoll_step_aside,
                             .is_wanted = MPIDI_NUMACOLL_is_wanted,
                             .yield = w->yield,
                             .sleep = w->sleep,
                             .unsure = w->unsure,
                             .gentle = w->yield,
                             .ranks = (unsigned) MPIR_Process.local_size};
    struct nc_bell *bell = NULL;

    if (w->yield) {
        mpi_errno = MPIDI_NUMACOLL_bells_make(&bell);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = NC_PROGRESS_HOOK_REGISTER(relieve, &hook_id);
        MPIR_ERR_CHECK(mpi_errno);
        MPIR_Progress_hook_activate(hook_id);
    }
    MPIR_numacoll_rests_start(bell, MPIR_Process.local_rank, &like);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_NUMACOLL_world_init(MPIR_Comm *comm)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_world *w = &MPIDI_NUMACOLL_world;
    MPL_time_t start, end;
    double seconds;
    bool refused;

    MPL_wtime(&start);
    MPIDI_NUMACOLL_meeting_begin(comm);
    if (!MPIDI_NUMACOLL_vars_check(&MPIDI_NUMACOLL_listed, &MPIDI_NUMACOLL_tuned) ||
        !MPIDI_NUMACOLL_locations_check())
        MPIDI_NUMACOLL_refuse_start(MPIR_Process.rank);
    mpi_errno = meet();
    MPIR_ERR_CHECK(mpi_errno);
    refused = MPIDI_NUMACOLL_start_is_refused();
    if (NC_MEET_BY_COMM)
        mpi_errno = MPIR_numacoll_end_start();
    if (refused)
        goto fn_exit;
    MPIDI_NUMACOLL_locations_init(MPIDI_NUMACOLL_masks());
    w->gentle = MPIR_CVAR_NUMACOLL_YIELD != MPIR_CVAR_NUMACOLL_YIELD_off;
    w->sleep = MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_sleep;
    w->yield = w->sleep || MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_on ||
               (w->gentle && MPIDI_NUMACOLL_crowding() != NC_CROWDING_NONE);
    w->spins = nc_wait_spins_of(3000);
    w->cache_bytes = last_level_cache_bytes();
    w->unsure = w->gentle && !w->yield && MPIR_Process.size > MPIR_Process.local_size;
    if (w->yield || w->unsure) {
        mpi_errno = start_resting();
        MPIR_ERR_CHECK(mpi_errno);
    }
    MPIDI_NUMACOLL_pvars_register();
    MPIDI_NUMACOLL_report_init();
    MPIDI_NUMACOLL_tuned_read();
    MPIDI_NUMACOLL_shared_malloc();
    w->initialised = true;
    MPL_wtime(&end);
    MPL_wtime_diff(&start, &end, &seconds);
    MPIDI_NUMACOLL_stats_start((uint64_t) (seconds * 1e6));

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_world_report(void)
{
    if (MPIR_CVAR_NUMACOLL_REPORT >= 2 && MPIR_Process.rank == 0)
        MPIDI_NUMACOLL_report_totals();
    MPIDI_NUMACOLL_report_finalize();
}

void MPIDI_NUMACOLL_world_leave(void)
{
    MPIDI_NUMACOLL_tuned_forget();
    MPIDI_NUMACOLL_files_forget();
    MPIDI_NUMACOLL_settings_clear();
    MPIDI_NUMACOLL_locations_finalize();
    MPIDI_NUMACOLL_crowding_finalize();
    /* MPI may be initialised again (sessions), and MPICH has room for four hooks only */
    if (MPIDI_NUMACOLL_world.yield)
        MPIR_Progress_hook_deregister(hook_id);
    MPIR_numacoll_rests_stop();
    MPIDI_NUMACOLL_bells_free();
    MPIDI_NUMACOLL_shared_finalize();
    MPIDI_NUMACOLL_windows_finalize();
    MPIDI_NUMACOLL_world.yield = false;
    MPIDI_NUMACOLL_world.initialised = false;
}
