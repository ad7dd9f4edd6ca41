/* R1 through a rank that hands on: rank 1 announces to rank 2 what rank 0 has announced to it, and
 * rank 2 reads the slot of rank 0. PROTOCOLS.md, 3.1: step 6. */
#include "litmus.h"

static struct nc_atomic control[3];
static int slot;

static void *rank(void *number)
{
    int r = *(int *) number;

    if (r == 0)
        slot = 1;
    else
        await(&control[r], 1);
    if (r < 2)
        nc_atomic_release(&control[r + 1], 1); /* R1 */
    assert(slot == 1);
    return NULL;
}

int main(void)
{
    run(3, rank);
    return 0;
}
