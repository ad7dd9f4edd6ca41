/* Sleeping in the kernel, and waking who sleeps. See nc_bell.h; numbers are those of PROTOCOLS.md,
 * section 5.2. */

#define _GNU_SOURCE
#include "nc_bell.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec duration(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t) (ns / 1000000000u),
                             .tv_nsec = (long) (ns % 1000000000u)};
}

uint32_t nc_bell_listen(struct nc_bell *bell)
{
    return nc_atomic32_set_bits(&bell->word, 1) | 1; /* S1 */
}

bool nc_bell_sleep(struct nc_bell *bell, uint32_t heard, uint64_t ns)
{
    struct timespec at_most = duration(ns);

    /* S6; not FUTEX_PRIVATE_FLAG: other processes ring. Whatever ended it, the caller looks again */
    return syscall(SYS_futex, &bell->word.value, FUTEX_WAIT, heard, &at_most, NULL, 0) < 0 &&
           errno == ETIMEDOUT;
}

bool nc_bell_ring(struct nc_bell *bell)
{
    uint32_t now = nc_atomic32_load(&bell->word);

    do {
        if (!(now & 1))
            return false; /* B1: nobody sleeps, or somebody else has just rung */
    } while (!nc_atomic32_swap(&bell->word, &now, now + 1)); /* B2: bit 0 off, one ring more */
    syscall(SYS_futex, &bell->word.value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); /* B3 */
    return true;
}

void nc_bell_pause(uint64_t ns)
{
    struct timespec at_most = duration(ns);

    nanosleep(&at_most, NULL);
}
