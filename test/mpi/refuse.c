/* A library that test/mpi/faults and test/published preload into ranks: the calls that
 * NCTEST_REFUSE names (memfd, mkstemp, open, pages) fail, as in a container or on a full file
 * system. With `rings` nobody who sleeps on a shared futex is woken, and at the end the process
 * prints how many calls that would have woken were dropped: rings NUMBER. With `soon` rank 0 takes
 * two seconds to remove the name of a file; with `names` rank NCTEST_RANK takes half a second to
 * remove the name of one of MPICH's. With `64k` the kernel has pages of 64 KiB, as far as
 * numacoll can see: it refuses to allocate or place parts of pages, and at the end the process
 * prints how often: unaligned NUMBER. With `late` rank 2 looks for messages of the network 40 ms
 * late, the first 50 times, and prints at the end how often: late NUMBER.
 *
 * With `processors` the process may use 64 of them, as far as it is told.
 *
 * With `heap` malloc, calloc and realloc fail on rank NCTEST_RANK. NCTEST_HEAP=FIRST:LAST:N:TIMES:
 * when code of libmpi.so at an offset from FIRST to LAST (hexadecimal) calls them, from the Nth
 * such call on so many times. At its end the process prints how many there were: heap NUMBER.
 *
 * The kernel refuses, on all ranks or on rank NCTEST_RANK: with `filter`, memfd_create, reads of
 * other processes' memory and what places pages, as in a container; with `room` more address space
 * than NCTEST_KIB beyond what the process has after MPI_Init; with `descriptors` any new one
 * between MPI_Init and MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int refused(const char *what)
{
    const char *list = getenv("NCTEST_REFUSE");
    return list && strstr(list, what);
}

int memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned) = (int (*)(const char *, unsigned)) dlsym(RTLD_NEXT,
                                                                                  "memfd_create");

    if (refused("memfd")) {
        errno = EPERM;
        return -1;
    }
    return next(name, flags);
}

/* refuses numacoll's files only: MPICH itself needs files in /dev/shm */
int mkostemp(char *path, int flags)
{
    int (*next)(char *, int) = (int (*)(char *, int)) dlsym(RTLD_NEXT, "mkostemp");

    if (refused("mkstemp") && strstr(path, "numacoll")) {
        errno = EACCES;
        return -1;
    }
    return next(path, flags);
}

static int limited(const char *what);

/* Rank 0 comes late to the removal of a name, or rank NCTEST_RANK to that of MPICH's. */
int unlink(const char *path)
{
    int (*next)(const char *) = (int (*)(const char *)) dlsym(RTLD_NEXT, "unlink");
    const char *rank = getenv("PMI_RANK");

    if (refused("soon") && rank && !strcmp(rank, "0") && strstr(path, "numacoll"))
        sleep(2);
    if (limited("names") && strstr(path, "mpich_shar_tmp"))
        usleep(500000);
    return next(path);
}

/* refuses descriptors of other processes in /proc, as across PID namespaces */
int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT,
                                                                                  "open");
    va_list list;
    int mode;

    va_start(list, flags);
    mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    if (refused("open") && !strncmp(path, "/proc/", 6) && strstr(path, "/fd/")) {
        errno = EACCES;
        return -1;
    }
    return next(path, flags, mode);
}

/* refuses the pages of a region, but not those of the header */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
    int (*next)(int, int, off_t, off_t) = (int (*)(int, int, off_t, off_t)) dlsym(RTLD_NEXT,
                                                                                  "fallocate");

    if (refused("pages") && offset > 0) {
        errno = ENOSPC;
        return -1;
    }
    return next(fd, mode, offset, length);
}

enum { LARGE_PAGE = 64 << 10 };

long sysconf(int name)
{
    long (*next)(int) = (long (*)(int)) dlsym(RTLD_NEXT, "sysconf");

    return name == _SC_PAGESIZE && refused("64k") ? LARGE_PAGE : next(name);
}

/* Maps files at multiples of the page. */
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t) =
        (void *(*) (void *, size_t, int, int, int, off_t)) dlsym(RTLD_NEXT, "mmap");
    char *all;

    if (at || fd < 0 || !refused("64k"))
        return next(at, bytes, protection, flags, fd, offset);
    all = next(NULL, bytes + LARGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return MAP_FAILED;
    all += LARGE_PAGE - (uintptr_t) all % LARGE_PAGE;
    return next(all, bytes, protection, flags | MAP_FIXED, fd, offset);
}

static long unaligned;

/* Whether the address is not the start of a page, which is counted. */
static int is_unaligned(uintptr_t at)
{
    if (!refused("64k") || at % LARGE_PAGE == 0)
        return 0;
    __atomic_fetch_add(&unaligned, 1, __ATOMIC_RELAXED);
    errno = EINVAL;
    return 1;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int madvise(void *at, size_t bytes, int advice)
{
    int (*next)(void *, size_t, int) = (int (*)(void *, size_t, int)) dlsym(RTLD_NEXT, "madvise");

    if (advice == MADV_POPULATE_WRITE && is_unaligned((uintptr_t) at))
        return -1;
    return next(at, bytes, advice);
}

static long dropped;

/* A sleep begins even if the bell was rung before it, and no call wakes. */
long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...)) dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && refused("rings")) {
        if (a[1] == FUTEX_WAKE) {
            __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
            return 0;
        }
        if (a[1] == FUTEX_WAIT)
            a[2] = (long) __atomic_load_n((uint32_t *) a[0], __ATOMIC_RELAXED);
    }
    if (number == SYS_mbind && is_unaligned((uintptr_t) a[0]))
        return -1;
    /* the kernel would count such a page again */
    for (long i = 0; number == SYS_move_pages && i < a[1]; i++)
        is_unaligned(((uintptr_t *) a[2])[i]);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int late;

/* libfabric's sockets provider looks for messages by it */
int epoll_wait(int epfd, struct epoll_event *events, int most, int timeout)
{
    int (*next)(int, struct epoll_event *, int, int) =
        (int (*)(int, struct epoll_event *, int, int)) dlsym(RTLD_NEXT, "epoll_wait");
    const char *rank = getenv("PMI_RANK");

    if (refused("late") && rank && !strcmp(rank, "2") && late < 50) {
        late++;
        usleep(40000);
    }
    return next(epfd, events, most, timeout);
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *mask)
{
    int (*next)(pid_t, size_t, cpu_set_t *) = (int (*)(pid_t, size_t, cpu_set_t *)) dlsym(
        RTLD_NEXT, "sched_getaffinity");
    int error = next(process, bytes, mask);

    if (!error && refused("processors"))
        memset(mask, 0xff, 8);
    return error;
}

/* Whether the kernel shall refuse this on this rank. */
static int limited(const char *what)
{
    const char *only = getenv("NCTEST_RANK"), *rank = getenv("PMI_RANK");

    return refused(what) && (!only || (rank && !strcmp(rank, only)));
}

static void __attribute__((constructor)) filter(void)
{
#define REFUSE(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_memfd_create),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_mbind),
        REFUSE(SYS_move_pages),
        REFUSE(SYS_get_mempolicy),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = {sizeof rules / sizeof *rules, rules};

    if (limited("filter") && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all)))
        abort();
}

/* Lets the address space grow by NCTEST_KIB at most, for what is mapped: malloc has enough, since
 * few programs look at what it returns, and MPICH does not always. */
static void limit_room(void)
{
    enum { ENOUGH = 64 << 20 };
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages;
    struct rlimit most;
    void *volatile heap;

    mallopt(M_MMAP_THRESHOLD, 2 * ENOUGH);
    mallopt(M_TRIM_THRESHOLD, 2 * ENOUGH);
    heap = malloc(ENOUGH);
    free(heap);
    if (!f || fscanf(f, "%lu", &pages) != 1)
        abort();
    fclose(f);
    most.rlim_cur = most.rlim_max = pages * (unsigned long) getpagesize() +
                                    strtoul(getenv("NCTEST_KIB"), NULL, 10) * 1024;
    setrlimit(RLIMIT_AS, &most);
}

static uintptr_t heap_first, heap_last;
static long heap_calls, heap_from, heap_times;

static void __attribute__((constructor)) limit_heap(void)
{
    Dl_info library;

    if (!limited("heap") || !dladdr(dlsym(RTLD_NEXT, "MPI_Init"), &library))
        return;
    if (sscanf(getenv("NCTEST_HEAP"), "%" SCNxPTR ":%" SCNxPTR ":%ld:%ld", &heap_first, &heap_last,
               &heap_from, &heap_times) != 4)
        abort();
    heap_first += (uintptr_t) library.dli_fbase;
    heap_last += (uintptr_t) library.dli_fbase;
}

/* Whether a call by this code is to fail. */
static int heap_fails(void *caller)
{
    if ((uintptr_t) caller < heap_first || (uintptr_t) caller >= heap_last)
        return 0;
    heap_calls++;
    return heap_calls >= heap_from && heap_calls < heap_from + heap_times;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t bytes)
{
    return heap_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return heap_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return heap_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***)) dlsym(RTLD_NEXT, "MPI_Init");
    int error = next(argc, argv);

    if (limited("room"))
        limit_room();
    if (limited("descriptors"))
        limit_descriptors(0);
    return error;
}

/* libfabric needs descriptors to end. */
int MPI_Finalize(void)
{
    int (*next)(void) = (int (*)(void)) dlsym(RTLD_NEXT, "MPI_Finalize");

    if (limited("descriptors"))
        limit_descriptors(1024);
    return next();
}

static void __attribute__((destructor)) report(void)
{
    if (heap_calls)
        fprintf(stderr, "heap %ld\n", heap_calls);
    if (late)
        fprintf(stderr, "late %d\n", late);
    if (dropped)
        fprintf(stderr, "rings %ld\n", dropped);
    if (unaligned)
        fprintf(stderr, "unaligned %ld\n", unaligned);
}
