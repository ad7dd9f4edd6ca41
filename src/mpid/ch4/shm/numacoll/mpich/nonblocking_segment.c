/* Makes and frees what a communicator has for its nonblocking calls. See nonblocking_segment.h. */

#include "nonblocking_segment.h"

#include "collectives.h"
#include "../core/nc_arena.h"

/* Alike on all ranks: MPI_Init has compared the variables. */
bool MPIDI_NUMACOLL_nonblocking_is_wanted(const struct MPIDI_NUMACOLL_comm *state,
                                          MPIR_Comm *parent)
{
    return MPIDI_NUMACOLL_any_nonblocking_selected() && !state->inner && NC_NODES(parent) == 1;
}

static struct MPIDI_NUMACOLL_nonblocking *take_memory(const struct nc_geometry *g,
                                                      struct nc_arena *arena, char **queue_memory)
{
    struct MPIDI_NUMACOLL_nonblocking *n = NC_ARENA_TAKE(arena, 1,
                                                         struct MPIDI_NUMACOLL_nonblocking);
    char **region = NC_ARENA_TAKE(arena, g->ranks, char *);

    *queue_memory = nc_arena_take(arena, nc_queue_private_bytes(g), 1, 8);
    if (n)
        n->region = region;
    return n;
}

/* The private memory; NULL: there is none. *queue_memory: the part of it for the queue. */
static struct MPIDI_NUMACOLL_nonblocking *allocate(const struct nc_geometry *g, char **queue_memory)
{
    struct nc_arena arena = {.base = NULL};

    take_memory(g, &arena, queue_memory);
    arena = (struct nc_arena){.base = MPL_calloc(1, arena.bytes, MPL_MEM_COLL)};
    return arena.base ? take_memory(g, &arena, queue_memory) : NULL;
}

static void begin(struct MPIDI_NUMACOLL_nonblocking *n, struct MPIDI_NUMACOLL_comm *state,
                  const struct nc_geometry *g, const size_t *offset, char *queue_memory)
{
    pthread_mutex_init(&n->lock, NULL);
    for (int i = 0; i < state->size; i++)
        n->region[i] = (char *) n->segment.base + offset[i];
    nc_nonblocking_init(&n->operations, n->region, g, state->rank, queue_memory, &n->waiter,
                        state->has_bells ? state->bell : NULL);
    state->nonblocking = n;
    state->stats.other_bytes = n->segment.bytes;
    state->stats.counts.segments_made++;
}

int MPIDI_NUMACOLL_nonblocking_make(struct MPIDI_NUMACOLL_comm *state, MPIR_Comm *parent,
                                    const struct nc_wanted *like)
{
    int mpi_errno = MPI_SUCCESS;
    struct nc_geometry g = nc_geometry_nonblocking((uint32_t) state->size,
                                                   state->queue.geometry.page);
    struct nc_wanted wanted = *like;
    struct MPIDI_NUMACOLL_nonblocking *n = NULL;
    enum nc_reason reason = NC_REASON_PAGES;
    char *queue_memory;
    size_t *offset = NULL;
    bool all;

    if (!MPIDI_NUMACOLL_nonblocking_is_wanted(state, parent))
        goto fn_exit;
    wanted.huge_pages = MPIR_CVAR_NUMACOLL_HUGE_PAGES_off;
    n = allocate(&g, &queue_memory);
    offset = MPL_malloc((size_t) state->size * sizeof *offset, MPL_MEM_COLL);
    mpi_errno = MPIDI_NUMACOLL_all_agree(parent->node_comm, n && offset, &all);
    MPIR_ERR_CHECK(mpi_errno);
    if (all) {
        mpi_errno = MPIDI_NUMACOLL_segment_create(parent->node_comm, &g, &wanted, &n->segment,
                                                  offset, &reason);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (reason == NC_REASON_NONE)
        begin(n, state, &g, offset, queue_memory);

fn_exit:
    if (!state->nonblocking)
        MPL_free(n);
    MPL_free(offset);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_NUMACOLL_nonblocking_free(struct MPIDI_NUMACOLL_comm *state)
{
    struct MPIDI_NUMACOLL_nonblocking *n = state->nonblocking;

    state->nonblocking = NULL;
    if (!n)
        return;
    MPIDI_NUMACOLL_segment_free(&n->segment);
    pthread_mutex_destroy(&n->lock);
    MPL_free(n);
}
