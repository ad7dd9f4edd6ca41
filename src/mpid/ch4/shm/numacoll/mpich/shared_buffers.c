/* Shared buffers. See shared_buffers.h. */

#define _GNU_SOURCE
#include "shared_buffers.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/nc_extents.h"
#include "backing.h"
#include "compat.h"
#include "diag.h"

/* The first page of a file, written by its owner before others hear of the file. They compare it:
 * in another PID namespace the descriptor of that number may be something else. */
struct front {
    uint64_t number; /* another one for each process */
};

/* The file of a process, mapped. */
struct file {
    struct file *next;
    int64_t pid;
    uint64_t number;
    char *base;
    size_t bytes;
    int users; /* communicators */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */

/* The file of this process; base NULL: none, as it has not been asked for or is refused. */
static struct {
    struct file file;
    struct nc_extents extents;
    int fd;
    struct stat opened; /* what it was for: the program may close it, and get the number again */
    bool refused;
    bool told; /* that it is full */
} own;

static struct file *others; /* those of other processes that communicators use */

/* ---- the file of this process ---- */

static size_t page_bytes(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

/* How long the file is. It takes addresses of all processes of the node, not memory: together they
 * have at most a quarter of those of x86-64, and each at most the node's memory, unless the limit
 * says otherwise. */
static size_t file_bytes(void)
{
    const uint64_t addresses = 1ull << 45;
    uint64_t bytes = (uint64_t) sysconf(_SC_PHYS_PAGES) * page_bytes();

    if (bytes > addresses / (uint64_t) MPIR_Process.local_size)
        bytes = addresses / (uint64_t) MPIR_Process.local_size;
    if (MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_LIMIT >= 0)
        bytes = (uint64_t) MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_LIMIT << 20;
    return (size_t) (bytes / page_bytes() + 1) * page_bytes(); /* and the front */
}

/* Maps a file without making any page of it: where the program locks all memory that is mapped
 * (mlockall), mapping it accessible would make them all; and a core dump of it would, too. */
static char *map(int fd, size_t bytes, int protection)
{
    void *base = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (base == MAP_FAILED)
        return NULL;
    munlock(base, bytes);
    if (madvise(base, bytes, MADV_DONTDUMP) || mprotect(base, bytes, protection)) {
        munmap(base, bytes);
        return NULL;
    }
    return base;
}

/* Whether a range of addresses as long as the node's memory does no harm. Not with a limit of
 * address space, of which it would take most; nor where the kernel promises no more memory than
 * there is: then a buffer that malloc would refuse would be a SIGBUS when it is used. */
static bool is_harmless(void)
{
    struct rlimit most;
    char overcommit = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    bool strict = fd >= 0 && read(fd, &overcommit, 1) == 1 && overcommit == '2';

    if (fd >= 0)
        close(fd);
    return !strict && (MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_LIMIT >= 0 ||
                       getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY);
}

/* Makes the file of this process. The lock is held. */
static void make_own(void)
{
    size_t bytes = file_bytes();
    char *base = NULL;

    if (own.file.base || own.refused)
        return;
    own.fd = is_harmless() ? MPIDI_NUMACOLL_backing_make(NC_BACKING_MEMFD, NULL) : -1;
    if (own.fd >= 0 && MPIDI_NUMACOLL_backing_set_size(NC_BACKING_MEMFD, own.fd, bytes))
        base = map(own.fd, bytes, PROT_READ | PROT_WRITE);
    /* a lack of memory fails here, and is no SIGBUS */
    if (base && (fallocate(own.fd, 0, 0, (off_t) page_bytes()) || fstat(own.fd, &own.opened))) {
        munmap(base, bytes);
        base = NULL;
    }
    if (!base) {
        if (own.fd >= 0)
            close(own.fd);
        own.refused = true;
        return;
    }
    own.extents = (struct nc_extents){.first = page_bytes(), .end = bytes};
    own.file = (struct file){.pid = getpid(), .base = base, .bytes = bytes};
    own.file.number = MPIDI_NUMACOLL_nonce();
    *(struct front *) base = (struct front){own.file.number};
}

static size_t bytes_of_list(const struct nc_extents *e)
{
    return (size_t) e->room * sizeof *e->extent;
}

/* Room for one more extent; false: no memory. The list is not malloc's, because the lock is held:
 * malloc may ask for an extent itself (shared_malloc.c), in this thread or, while this one waits
 * for malloc's own lock, in another. */
static bool make_room(struct nc_extents *e)
{
    size_t more = page_bytes(), had = bytes_of_list(e);
    void *larger;

    if (e->count < e->room)
        return true;
    larger = had ? mremap(e->extent, had, had + more, MREMAP_MAYMOVE)
                 : mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (larger == MAP_FAILED)
        return false;
    e->extent = larger;
    e->room += (int) (more / sizeof *e->extent);
    return true;
}

/* Says once that a buffer does not fit. The lock is held. */
static void tell_full(size_t bytes)
{
    if (own.told)
        return;
    own.told = true;
    MPIDI_NUMACOLL_complain(MPIDI_NUMACOLL_job_rank(),
                            "MPI_Alloc_mem of %zu KiB: not a shared buffer, as all of a process "
                            "may have %llu MiB: MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_LIMIT",
                            bytes >> 10, (unsigned long long) (own.file.bytes >> 20));
}

void *MPIDI_NUMACOLL_shared_alloc(size_t bytes)
{
    size_t page = page_bytes(), whole = (bytes + page - 1) / page * page;
    uint64_t start;
    void *buffer = NULL;

    if (bytes < NC_SHARED_LEAST || whole < bytes)
        return NULL;
    pthread_mutex_lock(&lock);
    make_own();
    /* a child that has been forked has its parent's file, but what it takes there the parent would
     * take, too */
    if (own.file.base && own.file.pid == getpid() && make_room(&own.extents)) {
        if (nc_extents_take(&own.extents, whole, &start)) {
            buffer = own.file.base + start;
            madvise(buffer, whole, MADV_DODUMP);
        } else {
            tell_full(bytes);
        }
    }
    pthread_mutex_unlock(&lock);
    return buffer;
}

/* Makes a range as it was before it was a buffer: without pages, and without what the program has
 * asked of the kernel for it. By the address and not by the descriptor of the file, which the
 * program may have closed; and by madvise, which libraries of networks hear of that keep pages in
 * mind for later messages. False: not possible. */
static bool empty(char *buffer, size_t bytes)
{
    munlock(buffer, bytes);
    syscall(SYS_mbind, buffer, bytes, 0 /* MPOL_DEFAULT */, NULL, 0, 0);
    return mprotect(buffer, bytes, PROT_READ | PROT_WRITE) == 0 &&
           madvise(buffer, bytes, MADV_REMOVE) == 0 && madvise(buffer, bytes, MADV_DONTDUMP) == 0;
}

bool MPIDI_NUMACOLL_shared_free(void *buffer)
{
    uint64_t start, bytes;
    bool ours;

    pthread_mutex_lock(&lock);
    start = (uint64_t) ((uintptr_t) buffer - (uintptr_t) own.file.base);
    ours = own.file.base && start < own.file.bytes;
    bytes = ours && own.file.pid == getpid() ? nc_extents_find(&own.extents, start) : 0;
    if (bytes && empty(buffer, bytes)) /* otherwise nobody gets it again */
        nc_extents_give(&own.extents, start);
    pthread_mutex_unlock(&lock);
    return ours;
}

/* Whether the descriptor is still that of the file. */
static bool is_open(void)
{
    struct stat now;

    return fstat(own.fd, &now) == 0 && now.st_dev == own.opened.st_dev &&
           now.st_ino == own.opened.st_ino;
}

/* Without the lock: the file of a process stays as it is as long as it has buffers. */
bool MPIDI_NUMACOLL_shared_has(const void *at)
{
    return own.file.base && (uintptr_t) at - (uintptr_t) own.file.base < own.file.bytes;
}

bool MPIDI_NUMACOLL_shared_empty(void *at, size_t bytes)
{
    return own.file.pid == getpid() && madvise(at, bytes, MADV_REMOVE) == 0;
}

void MPIDI_NUMACOLL_shared_part(void)
{
    static const char cannot[] = "numacoll: a forked child: no address space for malloc's blocks\n";
    /* A child of a child has by fork what its parent has written; the file has not. */
    static bool parted;
    void *base;

    /* another thread of the parent may have held it; a child begins with one thread */
    lock = (pthread_mutex_t) PTHREAD_MUTEX_INITIALIZER;
    if (parted || !own.file.base || !is_open())
        return;
    base = mmap(own.file.base, own.file.bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, own.fd, 0);
    if (base == MAP_FAILED) { /* it would write into its parent's blocks */
        ssize_t said = write(STDERR_FILENO, cannot, sizeof cannot - 1);
        (void) said;
        abort();
    }
    parted = true;
}

void MPIDI_NUMACOLL_shared_finalize(void)
{
    pthread_mutex_lock(&lock);
    if (own.file.base && own.extents.count == 0) {
        munmap(own.file.base, own.file.bytes);
        if (is_open())
            close(own.fd);
        if (own.extents.room)
            munmap(own.extents.extent, bytes_of_list(&own.extents));
        own.file.base = NULL;
    }
    own.refused = own.told = false;
    pthread_mutex_unlock(&lock);
}

/* ---- those of other processes ---- */

/* What each rank tells the others; bytes 0: it has no file. */
struct told {
    int64_t pid;
    uint64_t number, bytes;
    int fd;
};

size_t MPIDI_NUMACOLL_shared_scratch_bytes(int size)
{
    return (size_t) size * sizeof(struct told);
}

/* Maps the file of another process. The front is not read there, for which the mapping
 * would need page tables of its own. */
static char *map_other(const struct told *told)
{
    int fd = MPIDI_NUMACOLL_backing_open(NC_BACKING_MEMFD, (int) told->pid, told->fd, NULL,
                                         told->bytes);
    struct front front;
    char *base = NULL;

    if (fd < 0)
        return NULL;
    if (pread(fd, &front, sizeof front, 0) == sizeof front && front.number == told->number)
        base = map(fd, told->bytes, PROT_READ | PROT_WRITE);
    close(fd);
    return base;
}

/* Finds the file that a rank has told of, or maps it; NULL: refused. It counts one user more. The
 * lock is held. */
static char *use(const struct told *told)
{
    struct file *f = others;

    if (told->number == own.file.number && told->pid == own.file.pid)
        return own.file.base;
    while (f && (f->number != told->number || f->pid != told->pid))
        f = f->next;
    if (!f) {
        f = MPL_malloc(sizeof *f, MPL_MEM_COLL);
        if (!f)
            return NULL;
        *f = (struct file){.next = others,
                           .pid = told->pid,
                           .number = told->number,
                           .base = map_other(told),
                           .bytes = told->bytes};
        if (!f->base) {
            MPL_free(f);
            return NULL;
        }
        others = f;
    }
    f->users++;
    return f->base;
}

int MPIDI_NUMACOLL_shared_join(MPIR_Comm *node_comm, void *scratch, char **base, size_t *bytes,
                               bool *all)
{
    NC_ERRFLAG_LOCAL(errflag);
    int mpi_errno = MPI_SUCCESS, size = node_comm->local_size, mapped = 1;
    struct told mine = {.bytes = 0}, *told = scratch;

    *all = false;
    memset(base, 0, (size_t) size * sizeof *base);
    pthread_mutex_lock(&lock);
    make_own();
    if (own.file.base)
        mine = (struct told){own.file.pid, own.file.number, own.file.bytes, own.fd};
    pthread_mutex_unlock(&lock);
    mpi_errno = MPIR_Allgather_intra_brucks(&mine, sizeof mine, NC_TYPE_BYTE, told, sizeof mine,
                                            NC_TYPE_BYTE, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < size && mapped; i++) {
        base[i] = told[i].bytes ? use(&told[i]) : NULL;
        bytes[i] = told[i].bytes;
        mapped = base[i] != NULL;
    }
    pthread_mutex_unlock(&lock);
    /* the owners have their descriptors until all have looked, and longer */
    mpi_errno = MPIR_Allreduce_intra_recursive_doubling(MPI_IN_PLACE, &mapped, 1, NC_TYPE_INT,
                                                        MPI_MIN, node_comm, errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *all = mapped;
    if (!mapped)
        MPIDI_NUMACOLL_shared_leave(base, size);

fn_exit:
    return mpi_errno;
fn_fail:
    MPIDI_NUMACOLL_shared_leave(base, size);
    goto fn_exit;
}

/* Gives up one use of the file that is mapped at `base`, if it is another process's. The lock is
 * held. */
static void give_up(const char *base)
{
    for (struct file **at = &others; *at; at = &(*at)->next) {
        struct file *f = *at;
        if (f->base != base)
            continue;
        if (--f->users == 0) {
            munmap(f->base, f->bytes);
            *at = f->next;
            MPL_free(f);
        }
        return;
    }
}

void MPIDI_NUMACOLL_shared_leave(char *const *base, int size)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < size; i++) {
        if (base[i])
            give_up(base[i]);
    }
    pthread_mutex_unlock(&lock);
}
