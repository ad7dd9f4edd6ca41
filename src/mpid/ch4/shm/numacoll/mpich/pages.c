/* The pages of a segment: how large they are, how they are allocated and bound, and where the
 * kernel put them. See pages.h. */

#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpidimpl.h"
#include "text_file.h"

#ifndef MADV_POPULATE_WRITE /* before glibc 2.35; kernels before 5.14 refuse it */
#define MADV_POPULATE_WRITE 23
#endif

/* The number behind a word in a file of the kernel, times `unit`; 0: not there. */
static size_t number_in(const char *path, const char *before, size_t unit)
{
    char *text = MPIDI_NUMACOLL_text_file_read(path), *at = text ? strstr(text, before) : NULL;
    size_t bytes = at ? strtoul(at + strlen(before), NULL, 10) * unit : 0;

    MPL_free(text);
    return bytes;
}

size_t MPIDI_NUMACOLL_page_bytes(int huge_pages)
{
    size_t ordinary = (size_t) sysconf(_SC_PAGESIZE), page = 0;

    if (huge_pages == MPIR_CVAR_NUMACOLL_HUGE_PAGES_hugetlb)
        page = number_in("/proc/meminfo", "Hugepagesize:", 1024);
    else if (huge_pages == MPIR_CVAR_NUMACOLL_HUGE_PAGES_thp)
        page = number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "", 1);
    return page > ordinary && (page & (page - 1)) == 0 ? page : ordinary;
}

bool MPIDI_NUMACOLL_pages_allocate(int fd, char *base, size_t start, size_t bytes)
{
    int failed;

    /* MADV_POPULATE_WRITE comes first: it follows the advice for huge pages, which fallocate does
     * not, and it fails where a touch would raise SIGBUS. fallocate then allocates, as ordinary
     * pages, what the first call has not, be it that it failed or that the kernel does not know
     * it. */
    madvise(base + start, bytes, MADV_POPULATE_WRITE);
    /* a signal interrupts fallocate and undoes what it did; that is no lack of memory */
    do {
        failed = fallocate(fd, 0, (off_t) start, (off_t) bytes);
    } while (failed && errno == EINTR);
    return !failed;
}

static int my_numa_node(void)
{
    unsigned cpu, node;
    return syscall(SYS_getcpu, &cpu, &node, NULL) ? -1 : (int) node;
}

void MPIDI_NUMACOLL_pages_bind(char *base, size_t start, size_t bytes, size_t page)
{
    enum { BIND = 2, BITS = 8 * sizeof(unsigned long), WORDS = 1024 / BITS };
    unsigned long nodes[WORDS] = {0};
    int node = my_numa_node();

    if (node < 0 || node >= WORDS * BITS)
        return;
    nodes[node / BITS] = 1ul << node % BITS;
    /* round out to whole huge pages: the ranks that share the first and the last one are on this
     * NUMA node */
    bytes += start % page;
    start -= start % page;
    bytes = (bytes + page - 1) / page * page;
    syscall(SYS_mbind, base + start, bytes, BIND, nodes, (unsigned long) WORDS * BITS, 0);
}

struct nc_placement MPIDI_NUMACOLL_pages_look_up(const char *region, size_t bytes, size_t page)
{
    enum { BATCH = 256 };
    struct nc_placement found = {0, 0, 0};
    int node = my_numa_node();
    void *pages[BATCH];
    int status[BATCH], n;

    for (size_t at = 0; at < bytes; at += (size_t) n * page) {
        for (n = 0; n < BATCH && at + (size_t) n * page < bytes; n++) {
            pages[n] = (void *) (region + at + (size_t) n * page);
            *(const volatile char *) pages[n];
        }
        long refused = syscall(SYS_move_pages, 0, (unsigned long) n, pages, NULL, status, 0);
        for (int i = 0; i < n; i++) {
            if (refused || status[i] < 0)
                found.unverified++;
            else if (status[i] == node)
                found.right++;
            else
                found.wrong++;
        }
    }
    return found;
}

size_t MPIDI_NUMACOLL_pages_mapped_huge(const void *base)
{
    char *text = MPIDI_NUMACOLL_text_file_read("/proc/self/smaps"), start[32], *at;
    size_t bytes = 0;

    snprintf(start, sizeof start, "%lx-", (unsigned long) base);
    at = text ? strstr(text, start) : NULL;
    at = at ? strstr(at, "ShmemPmdMapped:") : NULL;
    if (at)
        bytes = strtoul(at + strlen("ShmemPmdMapped:"), NULL, 10) << 10;
    MPL_free(text);
    return bytes;
}
