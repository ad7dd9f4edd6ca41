/* The fence between MPICH's queues and a bell: rank 0 puts a message into the queue of rank 1, by
 * whatever kind of store, and rings if somebody sleeps; rank 1 listens, then polls its queue. If it
 * finds nothing, its bell is rung. PROTOCOLS.md, 5.3. */
#include "litmus.h"

static int queue;
static struct nc_bell bell;
static uint32_t heard;
static int found;

static void *rank(void *number)
{
    if (*(int *) number == 0) {
        __atomic_store_n(&queue, 1, __ATOMIC_RELAXED);
        nc_atomic_fence(); /* as MPIR_numacoll_ring does */
        if (nc_bell_is_awaited(&bell))
            nc_bell_ring(&bell);
    } else {
        heard = nc_bell_listen(&bell); /* Q1 */
        found = __atomic_load_n(&queue, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void)
{
    run(2, rank);
    assert(found || bell.word.value != heard);
    return 0;
}
