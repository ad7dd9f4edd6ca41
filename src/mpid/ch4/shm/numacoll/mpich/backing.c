/* Makes files in memory, and opens those of other processes. See backing.h. */

#define _GNU_SOURCE
#include "backing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* MFD_NOEXEC_SEAL, which old headers lack. Where vm.memfd_noexec is 2, there is no memfd without
 * it; where it is 0, the kernel logs a line about each program that does not say whether it wants
 * it. */
#define NC_NOEXEC_SEAL 0x0008u

int MPIDI_NUMACOLL_backing_memfd(unsigned flags)
{
    int fd = memfd_create("numacoll", flags | MFD_CLOEXEC | MFD_ALLOW_SEALING | NC_NOEXEC_SEAL);

    /* before Linux 6.3 the last flag is unknown */
    return fd < 0 && errno == EINVAL
               ? memfd_create("numacoll", flags | MFD_CLOEXEC | MFD_ALLOW_SEALING)
               : fd;
}

/* A file that would be longer than RLIMIT_FSIZE is no error of ftruncate but a signal, so the limit
 * is looked at before. */
bool MPIDI_NUMACOLL_backing_set_size(int fd, size_t bytes, bool fix)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur)
        return false;
    if (ftruncate(fd, (off_t) bytes))
        return false;
    if (fix)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return true;
}

/* Whether a file is what another process has made, as far as one can see from outside. */
static bool is_ours(const struct stat *st, size_t bytes)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (uint64_t) st->st_size == bytes;
}

/* In another PID namespace /proc/PID/fd/N may be anything, also a device that does something when
 * it is opened: so it is looked at before, and once more, for it may have changed. */
int MPIDI_NUMACOLL_backing_open(const char *path, size_t bytes)
{
    struct stat st;
    int fd = stat(path, &st) == 0 && is_ours(&st, bytes)
                 ? open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                 : -1;

    if (fd >= 0 && (fstat(fd, &st) || !is_ours(&st, bytes))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int MPIDI_NUMACOLL_backing_open_of(int pid, int fd, size_t bytes)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    return MPIDI_NUMACOLL_backing_open(path, bytes);
}
