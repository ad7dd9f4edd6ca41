/* R4 and R5: after the barrier `flat` each rank may read what any rank wrote before it.
 * PROTOCOLS.md, 8.1. */
#include "litmus.h"

static struct nc_atomic line[3], gate;
static int before[3];

static void *rank(void *number)
{
    int r = *(int *) number;

    before[r] = 1;
    if (r == 0) {
        await(&line[1], 1);
        await(&line[2], 1);
        nc_atomic_release(&gate, 1); /* R5 */
    } else {
        nc_atomic_release(&line[r], 1); /* R4 */
        await(&gate, 1);
    }
    assert(before[0] + before[1] + before[2] == 3);
    return NULL;
}

int main(void)
{
    run(3, rank);
    return 0;
}
