/* Stands in for libxpmem.so.0 where there is no XPMEM; test/mpi/faults preloads it into ranks. As
 * with XPMEM what is attached is the other process's memory itself, not a copy of it: this library
 * allocates the large blocks of malloc in memory that can be mapped by another process. Of smaller
 * blocks and the stack an attachment is a copy. Needs a process that may open /proc/PID/map_files.
 *
 * NCTEST_XPMEM=refuse: another process cannot be reached, on all ranks or on rank NCTEST_RANK. At
 * its end a process prints how often it has attached memory, and what it has not given back: xpmem
 * attached NUMBER left NUMBER. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

/* ---- malloc: large blocks are in one shared mapping; their addresses are never used again ---- */

enum {
    LARGE = 65536,
    PAGE = 4096,
    HEAD = PAGE
}; /* bytes; a page before each block has its length */
#define ALL ((size_t) 1 << 36)

static char *all;
static size_t used;

static void __attribute__((constructor)) begin(void)
{
    void *at = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    all = at == MAP_FAILED ? NULL : at;
}

static int is_large(const void *block)
{
    return all && (const char *) block >= all && (const char *) block < all + ALL;
}

static size_t *length_of(void *block)
{
    return (size_t *) (void *) ((char *) block - HEAD);
}

void *malloc(size_t bytes)
{
    size_t room = HEAD + (bytes + PAGE - 1) / PAGE * PAGE, at;
    char *block;

    if (!all || bytes < LARGE || bytes > ALL / 2)
        return __libc_malloc(bytes);
    at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
    if (at + room > ALL)
        return __libc_malloc(bytes);
    block = all + at + HEAD;
    *length_of(block) = bytes;
    return block;
}

void *calloc(size_t n, size_t bytes)
{
    size_t total = n * bytes;
    void *block = bytes && total / bytes != n ? NULL : malloc(total);

    if (block && !is_large(block)) /* large ones are zero already */
        memset(block, 0, total);
    return block;
}

void free(void *block)
{
    if (is_large(block))
        madvise(length_of(block), HEAD + (*length_of(block) + PAGE - 1) / PAGE * PAGE, MADV_REMOVE);
    else
        __libc_free(block);
}

void *realloc(void *block, size_t bytes)
{
    char *other;

    if (!is_large(block))
        return __libc_realloc(block, bytes);
    other = malloc(bytes);
    if (other)
        memcpy(other, block, *length_of(block) < bytes ? *length_of(block) : bytes);
    free(block);
    return other;
}

/* ---- libxpmem ---- */

struct address {
    int64_t access;
    off_t offset;
};
static int got, attachments;
static struct {
    void *at;
    size_t bytes;
} attached[1024];
enum { MOST = sizeof attached / sizeof attached[0] };

static int refused(void)
{
    const char *how = getenv("NCTEST_XPMEM"), *rank = getenv("NCTEST_RANK"),
               *mine = getenv("PMI_RANK");

    return how && (!rank || (mine && strcmp(rank, mine) == 0));
}

int64_t xpmem_make(void *from, size_t bytes, int permit_type, void *permit_value)
{
    if (from || bytes != SIZE_MAX || permit_type != 1 || permit_value != (void *) 0600) {
        errno = EINVAL;
        return -1;
    }
    return getpid();
}

int64_t xpmem_get(int64_t segment, int flags, int permit_type, void *permit_value)
{
    if (flags != 2 || permit_type != 1 || permit_value || refused()) {
        errno = EACCES;
        return -1;
    }
    got++;
    return segment;
}

int xpmem_release(int64_t access)
{
    (void) access;
    got--;
    return 0;
}

/* The mapping of a process that has all these bytes, if it is shared; the offset in it. -1: none */
static int open_shared(int64_t process, uintptr_t from, size_t bytes, off_t *offset)
{
    char path[64], line[512], flags[5];
    uintptr_t low, high;
    int file = -1;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%lld/maps", (long long) process);
    maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &low, &high, flags) == 3 && from >= low &&
            from + bytes <= high && flags[3] == 's') {
            snprintf(path, sizeof path, "/proc/%lld/map_files/%lx-%lx", (long long) process, low,
                     high);
            file = open(path, O_RDWR);
            *offset = (off_t) (from - low);
        }
    }
    if (maps)
        fclose(maps);
    return file;
}

void *xpmem_attach(struct address from, size_t bytes, void *where)
{
    void *wrong = (void *) -1, *at;
    off_t offset = 0;
    int slot = 0, file = open_shared(from.access, (uintptr_t) from.offset, bytes, &offset);

    while (slot < MOST && attached[slot].at)
        slot++;
    if (where || slot == MOST || from.offset % PAGE || bytes % PAGE)
        return wrong;
    at = mmap(NULL, bytes, PROT_READ | (file < 0 ? PROT_WRITE : 0),
              file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, offset);
    if (file < 0) {
        struct iovec to = {at, bytes}, of = {(void *) from.offset, bytes};
        if (process_vm_readv((pid_t) from.access, &to, 1, &of, 1, 0) != (ssize_t) bytes)
            return wrong;
    } else {
        close(file);
    }
    attachments++;
    attached[slot].at = at;
    attached[slot].bytes = bytes;
    return at;
}

int xpmem_detach(void *at)
{
    for (int i = 0; i < MOST; i++) {
        if (attached[i].at == at) {
            munmap(at, attached[i].bytes);
            attached[i].at = NULL;
            return 0;
        }
    }
    return -1;
}

static void __attribute__((destructor)) end(void)
{
    int left = got;

    for (int i = 0; i < MOST; i++)
        left += attached[i].at != NULL;
    if (attachments || left)
        fprintf(stderr, "xpmem attached %d left %d\n", attachments, left);
}
