/* Large blocks of malloc in shared buffers. See shared_malloc.h. The types and names of jemalloc
 * are those of its manual page (jemalloc(3), MALLCTL NAMESPACE), version 5. */

#define _GNU_SOURCE
#include "shared_malloc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include "diag.h"
#include "shared_buffers.h"

#define NEEDED "libjemalloc.so.2 in LD_PRELOAD, and oversize_threshold:65536 in MALLOC_CONF"

_Static_assert(NC_SHARED_LEAST == 65536, "NEEDED says so");

/* What jemalloc asks for an extent, `addr`, of an arena. Those that return bool: true is no. */
struct hooks {
    void *(*alloc)(struct hooks *hooks, void *addr, size_t size, size_t alignment, bool *zero,
                   bool *commit, unsigned arena);
    bool (*dalloc)(struct hooks *hooks, void *addr, size_t size, bool committed, unsigned arena);
    void (*destroy)(struct hooks *hooks, void *addr, size_t size, bool committed, unsigned arena);
    /* of `length` bytes from `offset` on */
    bool (*commit)(struct hooks *hooks, void *addr, size_t size, size_t offset, size_t length,
                   unsigned arena);
    bool (*decommit)(struct hooks *hooks, void *addr, size_t size, size_t offset, size_t length,
                     unsigned arena);
    bool (*purge_lazy)(struct hooks *hooks, void *addr, size_t size, size_t offset, size_t length,
                       unsigned arena);
    bool (*purge_forced)(struct hooks *hooks, void *addr, size_t size, size_t offset, size_t length,
                         unsigned arena);
    bool (*split)(struct hooks *hooks, void *addr, size_t size, size_t size_a, size_t size_b,
                  bool committed, unsigned arena);
    bool (*merge)(struct hooks *hooks, void *addr_a, size_t size_a, void *addr_b, size_t size_b,
                  bool committed, unsigned arena);
};

/* ---- the hooks ---- */

/* An extent where no more may be shared: malloc must not fail for that. */
static void *private_extent(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* `addr`: where it must be, which nobody can say of a shared buffer; NULL: anywhere. What alignment
 * takes in front and behind is never used; it costs addresses, no memory. */
static void *extent_alloc(struct hooks *hooks, void *addr, size_t size, size_t alignment,
                          bool *zero, bool *commit, unsigned arena)
{
    size_t bytes = alignment > 4096 ? size + alignment : size;
    char *at;

    (void) hooks;
    (void) arena;
    if (addr || bytes < size)
        return NULL;
    at = MPIDI_NUMACOLL_shared_alloc(bytes);
    if (!at)
        at = private_extent(bytes);
    if (!at)
        return NULL;
    *zero = *commit = true;
    return at + (-(uintptr_t) at & (alignment - 1));
}

/* jemalloc keeps it for later blocks: a part of a shared buffer cannot be given back. */
static bool extent_dalloc(struct hooks *hooks, void *addr, size_t size, bool committed,
                          unsigned arena)
{
    (void) hooks, (void) addr, (void) size, (void) committed, (void) arena;
    return true;
}

static void extent_destroy(struct hooks *hooks, void *addr, size_t size, bool committed,
                           unsigned arena)
{
    (void) hooks, (void) addr, (void) size, (void) committed, (void) arena;
}

static bool extent_refuse(struct hooks *hooks, void *addr, size_t size, size_t offset,
                          size_t length, unsigned arena)
{
    (void) hooks, (void) addr, (void) size, (void) offset, (void) length, (void) arena;
    return true;
}

static bool extent_accept(struct hooks *hooks, void *addr, size_t size, size_t offset,
                          size_t length, unsigned arena)
{
    (void) hooks, (void) addr, (void) size, (void) offset, (void) length, (void) arena;
    return false;
}

/* Gives up the pages of what no block uses; it is zero afterwards. */
static bool extent_purge(struct hooks *hooks, void *addr, size_t size, size_t offset, size_t length,
                         unsigned arena)
{
    char *at = (char *) addr + offset;

    (void) hooks, (void) size, (void) arena;
    return MPIDI_NUMACOLL_shared_has(addr) ? !MPIDI_NUMACOLL_shared_empty(at, length)
                                           : madvise(at, length, MADV_DONTNEED) != 0;
}

static bool extent_split(struct hooks *hooks, void *addr, size_t size, size_t size_a, size_t size_b,
                         bool committed, unsigned arena)
{
    (void) hooks, (void) addr, (void) size, (void) size_a, (void) size_b, (void) committed;
    (void) arena;
    return false;
}

static bool extent_merge(struct hooks *hooks, void *addr_a, size_t size_a, void *addr_b,
                         size_t size_b, bool committed, unsigned arena)
{
    (void) hooks, (void) size_a, (void) size_b, (void) committed, (void) arena;
    return MPIDI_NUMACOLL_shared_has(addr_a) != MPIDI_NUMACOLL_shared_has(addr_b);
}

static struct hooks hooks = {.alloc = extent_alloc,
                             .dalloc = extent_dalloc,
                             .destroy = extent_destroy,
                             .commit = extent_accept,
                             .decommit = extent_refuse,
                             .purge_lazy = extent_refuse,
                             .purge_forced = extent_purge,
                             .split = extent_split,
                             .merge = extent_merge};

/* ---- jemalloc ---- */

typedef int mallctl_function(const char *name, void *old, size_t *old_bytes, void *now,
                             size_t bytes);

/* The arena of a block of so many bytes; -1: jemalloc does not say. */
static int arena_of(mallctl_function *mallctl, size_t bytes)
{
    void *block = MPL_malloc(bytes, MPL_MEM_USER);
    unsigned arena;
    size_t n = sizeof arena;
    int error = block ? mallctl("arenas.lookup", &arena, &n, &block, sizeof block) : -1;

    MPL_free(block);
    return error ? -1 : (int) arena;
}

static bool install(mallctl_function *mallctl)
{
    int large = arena_of(mallctl, NC_SHARED_LEAST);
    void *wanted = &hooks;
    char name[64];

    if (large < 0 || large == arena_of(mallctl, 64))
        return false;
    snprintf(name, sizeof name, "arena.%d.extent_hooks", large);
    return mallctl(name, NULL, NULL, &wanted, sizeof wanted) == 0;
}

void MPIDI_NUMACOLL_shared_malloc(void)
{
    static bool installed;
    void *found;

    if (installed || MPIR_CVAR_NUMACOLL_SHARED_BUFFERS != MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_malloc)
        return;
    found = dlsym(RTLD_DEFAULT, "mallctl");
    /* a child of fork that goes on to use malloc must not write into its parent's blocks */
    installed = found && install((mallctl_function *) found) &&
                pthread_atfork(NULL, NULL, MPIDI_NUMACOLL_shared_part) == 0;
    if (!installed)
        MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(),
                                "MPIR_CVAR_NUMACOLL_SHARED_BUFFERS=malloc: needs " NEEDED
                                "; malloc is as ever");
}
