/* Whether those who read what this rank writes run on its core: the two may be threads of one core,
 * which a virtual machine does not tell, and which may change while it runs. Then what is written
 * is in a cache of theirs already, and must not be demoted (shm/nc_copy.h). A writer finds out by
 * the time in which it gets a line back that readers have looked at. shm/nc_transfer.c measures. */

#ifndef NC_NEAR_H_INCLUDED
#define NC_NEAR_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* What a writer knows. All zero at first. Private memory. */
struct nc_near {
    uint32_t announced; /* short messages */
    bool near;
};

/* Short messages for one that is measured. A prime number, so that where a rank writes to several
 * in turn each has its turn here. */
#define NC_NEAR_EVERY 251

/* Units of the processor's clock below which a line came from this core. On an Intel Xeon at 2.3
 * GHz (model 207), 100000 lines each: from this core 52 to 68, from another one 188 to 486 (of 1 to
 * 99 in a hundred). A line that has left the caches of this core since counts as one from another.
 */
#define NC_NEAR_TICKS 110

/* Whether the next message is to be measured. Not the very first ones: nobody may have looked
 * at their lines. */
static inline bool nc_near_is_due(struct nc_near *n)
{
    return ++n->announced % NC_NEAR_EVERY == 0;
}

/* Takes down how long it took to get the line. */
static inline void nc_near_note(struct nc_near *n, uint64_t ticks)
{
    n->near = ticks < NC_NEAR_TICKS;
}

#endif
