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
    uint32_t heard = nc_atomic32_set_bits(&bell->word, 1) | 1; /* Q1 */

    nc_atomic_fence(); /* before Q5: MPICH's loads of its queues are of any kind */
    return heard;
}

/* Not FUTEX_PRIVATE_FLAG: other processes wake. */
bool nc_futex_sleep(const void *word, uint32_t value, uint64_t ns)
{
    struct timespec at_most = duration(ns);

    return syscall(SYS_futex, word, FUTEX_WAIT, value, &at_most, NULL, 0) < 0 && errno == ETIMEDOUT;
}

void nc_futex_wake(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool nc_bell_sleep(struct nc_bell *bell, uint32_t heard, uint64_t ns)
{
    return nc_futex_sleep(&bell->word.value, heard, ns); /* Q6 */
}

bool nc_bell_ring(struct nc_bell *bell)
{
    uint32_t now = nc_atomic32_load(&bell->word);

    do {
        if (!(now & 1))
            return false; /* U1: nobody sleeps, or somebody else has just rung */
    } while (!nc_atomic32_swap(&bell->word, &now, now + 1)); /* U2: bit 0 off, one ring more */
    nc_futex_wake(&bell->word.value);                        /* U3 */
    return true;
}

void nc_bell_pause(uint64_t ns)
{
    struct timespec at_most = duration(ns);

    nanosleep(&at_most, NULL);
}
