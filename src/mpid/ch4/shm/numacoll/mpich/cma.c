/* Cross memory attach: process_vm_readv. See peer.h. */

#define _GNU_SOURCE
#include "cma.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static int64_t offer(void)
{
#ifdef PR_SET_PTRACER
    /* Yama, where it is on, lets only parents read unless a process says otherwise; elsewhere the
     * call fails, and changes nothing */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
    return getpid();
}

static int reach(struct nc_peer *peer)
{
    peer->reached = peer->offered;
    return 0;
}

static int copy(struct nc_peer *peer, char *to, const char *from, size_t n)
{
    while (n > 0) {
        struct iovec here = {to, n}, there = {(void *) from, n};
        ssize_t copied = process_vm_readv((pid_t) peer->reached, &here, 1, &there, 1, 0);

        if (copied <= 0)
            return copied < 0 ? errno : EFAULT;
        to += copied;
        from += copied;
        n -= (size_t) copied;
    }
    return 0;
}

const struct nc_single_copy MPIDI_NUMACOLL_cma = {
    .name = "cma", .offer = offer, .reach = reach, .copy = copy};
