/* The bell of a process: a word in memory that the processes of the node share, on which the
 * process sleeps and which others ring to wake it. nc_wait sleeps on it inside a collective,
 * mpich/rest.c in MPICH's own waits; nc_parking and MPICH's senders ring it. PROTOCOLS.md, section
 * 5.2.
 *
 *     bit 0         somebody sleeps on the bell, or is about to
 *     other bits    how often the bell has been rung
 *
 * The kernel waits for the word as for a shared futex: its processes may be in different PID
 * namespaces, so no kind of futex that names threads will do. */

#ifndef NC_BELL_H_INCLUDED
#define NC_BELL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../core/nc_layout.h"
#include "nc_atomic.h"

/* Alone in its line: who rings it must not disturb its neighbours. Zero at first. */
struct nc_bell {
    _Alignas(NC_LINE) struct nc_atomic32 word;
};

/* The process announces that it is about to sleep, and returns what nc_bell_sleep needs. Whatever
 * it loads after that, it finds as it was when the next ring comes, or newer. Several threads of
 * a process may do so at a time. */
uint32_t nc_bell_listen(struct nc_bell *bell);

/* Sleeps until the bell is rung, at most so many nanoseconds. Returns at once if it was rung since
 * nc_bell_listen returned `heard`. Whether the time has passed. */
bool nc_bell_sleep(struct nc_bell *bell, uint32_t heard, uint64_t ns);

/* Whether somebody sleeps on the bell. What the caller stored before, by nc_atomic_store_ordered or
 * followed by nc_atomic_fence, the sleeper will see. */
static inline bool nc_bell_is_awaited(const struct nc_bell *bell)
{
    return nc_atomic32_load(&bell->word) & 1;
}

/* Wakes all who sleep on the bell. Returns whether anybody did. */
bool nc_bell_ring(struct nc_bell *bell);

/* Sleeps without a bell. */
void nc_bell_pause(uint64_t ns);

/* The same for a word of any kind that processes share: sleeps while it has the value, at most so
 * many nanoseconds; returns whether that time has passed. nc_futex_wake wakes all who sleep on it.
 */
bool nc_futex_sleep(const void *word, uint32_t value, uint64_t ns);
void nc_futex_wake(const void *word);

#endif
