/* R1, and R2 or R3: rank 0 fills a slot, announces it, and fills it again when rank 1 has
 * acknowledged it. PROTOCOLS.md, 3.1: steps 1 to 8. The slot is plain memory, so an access that
 * nothing orders is a data race. */
#include "litmus.h"

static struct nc_atomic control, ack;
static int slot;

static void *rank(void *number)
{
    if (*(int *) number == 0) {
        slot = 1;
        nc_atomic_release(&control, 1); /* R1 */
        await(&ack, 1);
        slot = 2;
        nc_atomic_release(&control, 2);
    } else {
        await(&control, 1);
        assert(slot == 1);
        nc_atomic_release(&ack, 1); /* R2 */
        await(&control, 2);
        assert(slot == 2);
    }
    return NULL;
}

int main(void)
{
    run(2, rank);
    return 0;
}
