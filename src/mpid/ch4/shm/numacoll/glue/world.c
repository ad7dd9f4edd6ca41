/* Start and end of the process's world: variables, crowding, and relief for MPICH's own waits. */

#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "numacoll.h"
#include "numacoll_mpir.h"

struct nc_world MPIDI_NUMACOLL_world;

static int hook_id;             /* of relieve, where waits yield */

/* The affinity masks of all processes of the node, collective: in pieces of a line, which is what MPICH's start-up
 * exchange carries. */
static int gather_masks(struct nc_cpus *masks)
{
    enum { PIECE = MPIDU_INIT_SHM_BLOCK_SIZE };
    int mpi_errno = MPI_SUCCESS;
    cpu_set_t mine;

    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine))
        memset(&mine, 0xff, sizeof mine);
    MPL_COMPILE_TIME_ASSERT(sizeof mine == sizeof(struct nc_cpus));
    for (size_t at = 0; at < sizeof mine; at += PIECE) {
        mpi_errno = MPIDU_Init_shm_put((char *) &mine + at, PIECE);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIDU_Init_shm_barrier();
        MPIR_ERR_CHECK(mpi_errno);
        for (int r = 0; r < MPIR_Process.local_size; r++) {
            mpi_errno = MPIDU_Init_shm_get(r, PIECE, (char *) &masks[r] + at);
            MPIR_ERR_CHECK(mpi_errno);
        }
        mpi_errno = MPIDU_Init_shm_barrier();
        MPIR_ERR_CHECK(mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* *masks: of all local ranks, NULL where there is only one, also where MPICH was built without shared memory between
 * processes. */
static int learn_masks(struct nc_cpus **masks)
{
    int mpi_errno = MPI_SUCCESS;

    *masks = NULL;
    if (MPIR_Process.local_size == 1)
        goto fn_exit;
    *masks = MPL_malloc(sizeof(struct nc_cpus) * MPIR_Process.local_size, MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!*masks, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = gather_masks(*masks);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPL_free(*masks);
    *masks = NULL;
    goto fn_exit;
}

/* Ranks with different selection files would take different ways, and wait for each other for ever. Collective over the
 * processes of the node. */
static int compare_files(void)
{
    enum { LEVELS = MPIR_NUMACOLL_CSEL_POSIX + 1 };
    int mpi_errno = MPI_SUCCESS, different = -1;
    unsigned mine[LEVELS], theirs[LEVELS];

    if (MPIR_Process.local_size == 1)
        goto fn_exit;
    for (int i = 0; i < LEVELS; i++)
        mine[i] = MPIDI_NUMACOLL_file_checksum(i);
    mpi_errno = MPIDU_Init_shm_put(mine, sizeof mine);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    for (int r = 0; r < MPIR_Process.local_size; r++) {
        mpi_errno = MPIDU_Init_shm_get(r, sizeof theirs, theirs);
        MPIR_ERR_CHECK(mpi_errno);
        for (int i = 0; i < LEVELS; i++) {
            if (theirs[i] != mine[i])
                different = i;
        }
    }
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    /* every rank differs from some, so all know */
    if (different >= 0 && MPIR_Process.rank == 0)
        fprintf(stderr, "numacoll: %s: must name the same file, with the same text, on all ranks\n",
                MPIDI_NUMACOLL_file_variable(different));
    if (different >= 0)
        MPIDI_NUMACOLL_let_rank_0_speak_first(MPIR_Process.rank);
    MPIR_ERR_CHKANDJUMP(different >= 0, mpi_errno, MPI_ERR_OTHER, "**other");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

bool MPIDI_NUMACOLL_any_selected(void)
{
    for (int c = 0; c < NC_COLL_COUNT; c++) {
        if (MPIDI_NUMACOLL_selected(c))
            return true;
    }
    return false;
}

/* Runs with every poll of MPICH's progress engine when ranks outnumber processors: a process that polls in vain keeps
 * the CPU from the one it waits for. In vain: nothing completed on any of MPICH's interfaces since the last poll. */
static int relieve(NC_PROGRESS_HOOK_PARAMS)
{
    enum { POLLS = 20 };
    static _Thread_local int last, fruitless;
    int now = 0;

    if (MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_off ||
        (MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_auto && !MPIDI_NUMACOLL_any_selected()))
        return MPI_SUCCESS;
    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        now += MPL_atomic_relaxed_load_int(&MPIDI_VCI(i).progress_count);
    if (now != last) {
        last = now;
        fruitless = 0;
    } else if (++fruitless >= POLLS) {
        fruitless = 0;
        sched_yield();
    }
    return MPI_SUCCESS;
}

/* What the C library says, where hwloc does not know better (location.c). */
static size_t last_level_cache_bytes(void)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

    return l3 > 0 ? (size_t) l3 : l2 > 0 ? (size_t) l2 : 8u << 20;
}

int MPIDI_NUMACOLL_world_init(void)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_world *w = &MPIDI_NUMACOLL_world;
    struct nc_cpus *masks;

    mpi_errno = MPIDI_NUMACOLL_vars_check(&w->collectives);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = compare_files();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = learn_masks(&masks);
    MPIR_ERR_CHECK(mpi_errno);
    w->crowded = masks && nc_cpus_crowded(masks, MPIR_Process.local_size);
    mpi_errno = MPIDI_NUMACOLL_locations_init(masks);
    MPIR_ERR_CHECK(mpi_errno);
    w->yield = MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_on ||
        (MPIR_CVAR_NUMACOLL_YIELD == MPIR_CVAR_NUMACOLL_YIELD_auto && w->crowded);
    w->cache_bytes = last_level_cache_bytes();
    if (w->yield) {
        mpi_errno = NC_PROGRESS_HOOK_REGISTER(relieve, &hook_id);
        MPIR_ERR_CHECK(mpi_errno);
        MPIR_Progress_hook_activate(hook_id);
    }
    MPIDI_NUMACOLL_pvars_register();
    w->initialised = true;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_world_finalize(void)
{
    if (MPIR_CVAR_NUMACOLL_REPORT >= 2 && MPIR_Process.rank == 0)
        MPIDI_NUMACOLL_report_totals();
    MPIDI_NUMACOLL_settings_clear();
    MPIDI_NUMACOLL_locations_finalize();
    /* MPI may be initialised again (sessions), and there are four places for hooks in all */
    if (MPIDI_NUMACOLL_world.yield)
        MPIR_Progress_hook_deregister(hook_id);
    MPIDI_NUMACOLL_world.yield = false;
    MPIDI_NUMACOLL_world.initialised = false;
}
