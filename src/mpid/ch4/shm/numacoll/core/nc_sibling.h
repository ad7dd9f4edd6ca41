/* Whether those who read what this rank writes run on a sibling processor, another thread of its
 * core. A virtual machine may not tell, and it may change while it runs. Then what is written is in
 * a cache of theirs already, and must not be demoted (shm/nc_copy.h). A writer finds out by the
 * time in which it gets a line back that readers have looked at. shm/nc_transfer.c measures. */

#ifndef NC_SIBLING_H_INCLUDED
#define NC_SIBLING_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* What a writer knows. All zero at first. Private memory. */
struct nc_sibling {
    uint32_t announced; /* short messages */
    bool found;         /* the readers are on a sibling */
};

/* Short messages for one that is measured. A prime number, so that where a rank writes to several
 * in turn each has its turn here. */
#define NC_SIBLING_EVERY 251

/* Units of the processor's clock below which a line came from this core. On an Intel Xeon at 2.3
 * GHz (model 207), 100000 lines each: from this core 52 to 68, from another one 188 to 486 (of 1 to
 * 99 in a hundred). A line that has left the caches of this core since counts as one from another.
 */
#define NC_SIBLING_TICKS 110

/* Whether the next message is to be measured. Not the very first ones: nobody may have looked
 * at their lines. */
static inline bool nc_sibling_is_due(struct nc_sibling *n)
{
    return ++n->announced % NC_SIBLING_EVERY == 0;
}

/* Takes down how long it took to get the line. */
static inline void nc_sibling_note(struct nc_sibling *n, uint64_t ticks)
{
    n->found = ticks < NC_SIBLING_TICKS;
}

#endif
