/* The table of live windows. See windows.h. */

#include "mpidimpl.h"
#include "windows.h"

#include <pthread.h>
#include <stdbool.h>

#include "compat.h"
#include "numacoll_hooks.h"
#include "state.h"

/* A place in a window: NC_IN_WINDOW, its number, and the offset in what is mapped, bytes. */
enum { NUMBER_BITS = 20, OFFSET_BITS = 43 };

#define OFFSETS (1ull << OFFSET_BITS)

/* A live window. Its number is the context id of its own communicator, which MPICH makes before the
 * window is in the table, and releases after it has been taken out: so no other window of this
 * process has the same, and every process of the group has the same. */
struct window {
    struct window *next;
    MPIR_Win *win;
    uint64_t number;
    char *base; /* what is mapped here: the parts of all processes of the node */
    uint64_t bytes;
    bool has[]; /* [MPIR_Process.local_size] which processes of the node are in its group */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct window *windows;

/* The number of a process among those of the node; it is of this MPI_COMM_WORLD. Mostly the number
 * is `first`. */
static int find_local(int process, int first)
{
    int local_rank = first % MPIR_Process.local_size;

    while (MPIR_Process.node_local_map[local_rank] != process)
        local_rank = (local_rank + 1) % MPIR_Process.local_size;
    return local_rank;
}

/* Marks the processes of node_comm, but those of another MPI_COMM_WORLD: numacoll serves no
 * communicator with them. */
static void mark(bool *has, MPIR_Comm *node_comm)
{
    int local_rank = -1;

    for (int r = 0; r < node_comm->local_size; r++) {
        int process, world;
        NC_GET_WORLD(node_comm, r, world);
        NC_GET_PROCESS(node_comm, r, process);
        if (world == 0) {
            local_rank = find_local(process, local_rank + 1);
            has[local_rank] = true;
        }
    }
}

int MPIDI_NUMACOLL_window_made(MPIR_Win *win)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *node_comm = win->comm_ptr->node_comm;
    uint64_t bytes = (uint64_t) MPIDIG_WIN(win, mmap_sz);
    struct window *w;

    MPL_COMPILE_TIME_ASSERT(MPIR_CONTEXT_ID_BITS <= NUMBER_BITS);
    MPL_COMPILE_TIME_ASSERT(NUMBER_BITS + OFFSET_BITS == 63);
    /* MPICH has a table of the parts if it has mapped them, on all processes of the node alike */
    if (!node_comm || !MPIDIG_WIN(win, shared_table) || bytes > OFFSETS)
        return MPI_SUCCESS;
    /* without memory an error, as for MPICH's own table: the others rely on it that all note it */
    w = MPL_calloc(1, sizeof *w + (size_t) MPIR_Process.local_size * sizeof *w->has, MPL_MEM_RMA);
    MPIR_ERR_CHKANDJUMP(!w, mpi_errno, MPI_ERR_OTHER, "**nomem");
    w->win = win;
    w->number = (uint64_t) win->comm_ptr->context_id;
    w->base = MPIDIG_WIN(win, mmap_addr);
    w->bytes = bytes;
    mark(w->has, node_comm);
    pthread_mutex_lock(&lock);
    w->next = windows;
    windows = w;
    pthread_mutex_unlock(&lock);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_window_freed(MPIR_Win *win)
{
    struct window **at = &windows, *w;

    pthread_mutex_lock(&lock);
    while (*at && (*at)->win != win)
        at = &(*at)->next;
    w = *at;
    if (w)
        *at = w->next;
    pthread_mutex_unlock(&lock);
    MPL_free(w);
}

void MPIDI_NUMACOLL_windows_finalize(void)
{
    while (windows)
        MPIDI_NUMACOLL_window_freed(windows->win);
}

static bool has_all(const struct window *w, const struct MPIDI_NUMACOLL_comm *state)
{
    for (int r = 0; r < state->size; r++) {
        if (!w->has[state->local_rank[r]])
            return false;
    }
    return true;
}

uint64_t MPIDI_NUMACOLL_window_place(const void *state, const char *bytes, size_t n)
{
    uint64_t offset = 0, place = 0;
    const struct window *w;

    pthread_mutex_lock(&lock);
    for (w = windows; w; w = w->next) {
        offset = (uint64_t) ((uintptr_t) bytes - (uintptr_t) w->base);
        if (offset < w->bytes)
            break;
    }
    if (w && n <= w->bytes - offset && has_all(w, state))
        place = NC_IN_WINDOW | w->number << OFFSET_BITS | offset;
    pthread_mutex_unlock(&lock);
    return place;
}

char *MPIDI_NUMACOLL_window_bytes(uint64_t place)
{
    uint64_t number = (place & ~NC_IN_WINDOW) >> OFFSET_BITS;
    const struct window *w;
    char *base;

    pthread_mutex_lock(&lock);
    /* it is there: the rank that told of it is in the same call, so nobody has freed the window */
    for (w = windows; w->number != number; w = w->next)
        ;
    base = w->base;
    pthread_mutex_unlock(&lock);
    return base + place % OFFSETS;
}
