/* R6 and R5: the last rank that is counted opens the gate, and knows by its add alone that all have
 * arrived. PROTOCOLS.md, 8.2. */
#include "litmus.h"

static struct nc_atomic counter, gate;
static int before[3];

static void *rank(void *number)
{
    before[*(int *) number] = 1;
    if (nc_atomic_add_ordered(&counter, 1) == 2) /* R6 */
        nc_atomic_release(&gate, 1);             /* R5 */
    else
        await(&gate, 1);
    assert(before[0] + before[1] + before[2] == 3);
    return NULL;
}

int main(void)
{
    run(3, rank);
    return 0;
}
