/* Makes files in memory, and opens those of other processes. See backing.h. */

#define _GNU_SOURCE
#include "backing.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* MFD_NOEXEC_SEAL, which old headers lack. Where vm.memfd_noexec is 2, there is no memfd without
 * it; where it is 0, the kernel logs a line about each program that does not say whether it wants
 * it. */
#define NC_NOEXEC_SEAL 0x0008u

/* The seals of a file whose size is fixed. */
#define FIXED (F_SEAL_SHRINK | F_SEAL_GROW)

static int make_memfd(unsigned flags)
{
    int fd = memfd_create("numacoll", flags | MFD_CLOEXEC | MFD_ALLOW_SEALING | NC_NOEXEC_SEAL);

    /* before Linux 6.3 the last flag is unknown */
    return fd < 0 && errno == EINVAL
               ? memfd_create("numacoll", flags | MFD_CLOEXEC | MFD_ALLOW_SEALING)
               : fd;
}

/* A file that would be longer than RLIMIT_FSIZE is no error of ftruncate but a signal, so the limit
 * is looked at before. */
bool MPIDI_NUMACOLL_backing_set_size(enum nc_backing kind, int fd, size_t bytes)
{
    struct rlimit most;
    bool fix = kind <= NC_BACKING_MEMFD;

    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur)
        return false;
    if (ftruncate(fd, (off_t) bytes))
        return false;
    return !fix || fcntl(fd, F_ADD_SEALS, FIXED | F_SEAL_SEAL) == 0;
}

#define FOLDER "/dev/shm"
#define NAMES  FOLDER "/numacoll.file."

/* Removes the named files of this user whose process has ended: nobody holds a lock on them. A file
 * whose process has not locked it yet may lose its name too; that process then makes another. */
static void remove_stale(void)
{
    glob_t found;
    struct stat st;

    if (glob(NAMES "??????", GLOB_NOSORT, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        int fd = open(found.gl_pathv[i], O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && st.st_mode == (S_IFREG | 0600) && st.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlink(found.gl_pathv[i]);
        close(fd);
    }
    globfree(&found);
}

void MPIDI_NUMACOLL_backing_unname(int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && st.st_nlink > 0)
        unlink(path);
}

static int make_named(char path[NC_PATH_BYTES])
{
    enum { ATTEMPTS = 10 };
    struct stat st;
    int fd = -1;

    remove_stale();
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        strcpy(path, NAMES "XXXXXX");
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
            break;
        /* remove_stale of another process may have come before the lock */
        if (flock(fd, LOCK_SH | LOCK_NB) || fstat(fd, &st) || st.st_nlink == 0) {
            MPIDI_NUMACOLL_backing_unname(fd, path);
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

int MPIDI_NUMACOLL_backing_make(enum nc_backing kind, char path[NC_PATH_BYTES])
{
    if (kind == NC_BACKING_NAMED_FILE)
        return make_named(path);
    if (kind == NC_BACKING_UNNAMED_FILE)
        return open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return make_memfd(kind == NC_BACKING_HUGETLB ? MFD_HUGETLB : 0);
}

/* Whether a file is what another process has made, as far as one can see from outside. */
static bool is_ours(const struct stat *st, size_t bytes)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (uint64_t) st->st_size == bytes;
}

/* In another PID namespace /proc/PID/fd/N may be anything, also a device that does something when
 * it is opened: so it is looked at before, and once more, for it may have changed. */
static int open_checked(const char *path, size_t bytes)
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

int MPIDI_NUMACOLL_backing_open(enum nc_backing kind, int pid, int fd, const char *path,
                                size_t bytes)
{
    char descriptor[64];
    int opened, seals;

    if (kind == NC_BACKING_NAMED_FILE)
        return open_checked(path, bytes);
    snprintf(descriptor, sizeof descriptor, "/proc/%d/fd/%d", pid, fd);
    opened = open_checked(descriptor, bytes);
    if (opened < 0 || kind == NC_BACKING_UNNAMED_FILE) /* only a memfd can be sealed */
        return opened;
    seals = fcntl(opened, F_GET_SEALS); /* -1: it cannot be sealed */
    if (seals < 0 || (seals & FIXED) != FIXED) {
        close(opened);
        opened = -1;
    }
    return opened;
}

uint64_t MPIDI_NUMACOLL_nonce(void)
{
    uint64_t nonce;
    struct timespec now;

    /* a kernel or a sandbox may refuse it; then by who asks and when */
    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != sizeof nonce) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        nonce = (uint64_t) getpid() << 40 ^ (uint64_t) now.tv_sec << 30 ^ (uint64_t) now.tv_nsec;
    }
    return nonce ? nonce : 1;
}
