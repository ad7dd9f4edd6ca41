/* A library that test/mpi/faults and test/published preload into ranks: the calls that
 * NCTEST_REFUSE names (memfd, mkstemp, open, pages) fail, as in a container or on a full file
 * system. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

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
int mkstemp(char *path)
{
    int (*next)(char *) = (int (*)(char *)) dlsym(RTLD_NEXT, "mkstemp");

    if (refused("mkstemp") && strstr(path, "numacoll")) {
        errno = EACCES;
        return -1;
    }
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
