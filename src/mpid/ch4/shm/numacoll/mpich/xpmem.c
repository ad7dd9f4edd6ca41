/* XPMEM: a kernel module that maps memory of another process. Its library is loaded if it is there,
 * so numacoll needs neither its header nor the module to be built. See peer.h.
 *
 * An attachment follows the other process's page table: what the other process unmaps is gone here,
 * and what it maps in its place is what is read then. So one attachment to each peer is kept for
 * the next message out of the same memory, and never holds old data; there are no more of them than
 * ranks in the communicator. */

#define _GNU_SOURCE
#include "xpmem.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include "../shm/nc_copy.h"

/* The interface of libxpmem, version 2.6 and later. */
struct address {
    int64_t access;
    off_t offset;
};
static struct {
    int64_t (*make)(void *from, size_t bytes, int permit_type, void *permit_value);
    int64_t (*get)(int64_t segment, int flags, int permit_type, void *permit_value);
    int (*release)(int64_t access);
    void *(*attach)(struct address from, size_t bytes, void *at);
    int (*detach)(void *at);
} xpmem;
/* The module attaches nothing that is only to be read. */
enum { READ_WRITE = 2, PERMIT_MODE = 1, OWNER_ONLY = 0600 };
#define WHOLE_PROCESS SIZE_MAX

#if defined __has_include
#if __has_include(<xpmem.h>)
#include <xpmem.h>
_Static_assert(XPMEM_RDWR == READ_WRITE && XPMEM_PERMIT_MODE == PERMIT_MODE &&
                   sizeof(struct xpmem_addr) == sizeof(struct address) &&
                   (size_t) XPMEM_MAXADDR_SIZE == WHOLE_PROCESS,
               "the interface of libxpmem");
#endif
#endif

/* Before glibc 2.34 these are in libdl, which a program may not have loaded. */
#pragma weak dlopen
#pragma weak dlsym

static void load(void)
{
    void *library = dlopen ? dlopen("libxpmem.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct {
        const char *name;
        void **function;
    } functions[] = {{"xpmem_get", (void **) &xpmem.get},
                     {"xpmem_release", (void **) &xpmem.release},
                     {"xpmem_attach", (void **) &xpmem.attach},
                     {"xpmem_detach", (void **) &xpmem.detach},
                     {"xpmem_make", (void **) &xpmem.make}}; /* last: the others are there, too */

    for (size_t i = 0; library && i < sizeof functions / sizeof functions[0]; i++) {
        *functions[i].function = dlsym(library, functions[i].name);
        if (!*functions[i].function)
            return;
    }
}

static int64_t segment = -1; /* of this process, until it ends */

static void make_segment(void)
{
    load();
    if (xpmem.make)
        segment = xpmem.make(NULL, WHOLE_PROCESS, PERMIT_MODE, (void *) OWNER_ONLY);
}

/* One segment for all communicators: the module looks at all segments of a process whenever the
 * process unmaps something. */
static int64_t offer(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_segment);
    return segment;
}

static int reach(struct nc_peer *peer)
{
    peer->reached = xpmem.get(peer->offered, READ_WRITE, PERMIT_MODE, NULL);
    return peer->reached >= 0 ? 0 : errno ? errno : EACCES;
}

static void detach(struct nc_peer *peer)
{
    if (peer->mapped)
        xpmem.detach(peer->mapped);
    peer->mapped = NULL;
}

static int copy(struct nc_peer *peer, char *to, const char *from, size_t n)
{
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), at = (uintptr_t) from;

    if (!peer->mapped || at < peer->from || at + n > peer->from + peer->bytes) {
        detach(peer);
        peer->from = at & ~(page - 1);
        peer->bytes = ((at + n - peer->from) + page - 1) & ~(page - 1);
        peer->mapped = xpmem.attach(
            (struct address){.access = peer->reached, .offset = (off_t) peer->from}, peer->bytes,
            NULL);
        if (peer->mapped == (void *) -1) {
            peer->mapped = NULL;
            return errno ? errno : EFAULT;
        }
    }
    nc_copy_bytes(to, peer->mapped + (at - peer->from), n, 0);
    return 0;
}

static void leave(struct nc_peer *peer)
{
    detach(peer);
    xpmem.release(peer->reached);
}

const struct nc_single_copy MPIDI_NUMACOLL_xpmem = {
    .name = "xpmem", .offer = offer, .reach = reach, .copy = copy, .leave = leave};
