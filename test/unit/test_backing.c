/* mpich/backing.h: files in memory, and what a process opens of another one: only a regular file of
 * its own user and of the agreed size, and of the descriptors only a memfd whose size is fixed.
 * What is refused is not opened, as that alone may do something (a FIFO, a tape). */

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpich/backing.h"

enum { BYTES = 3 * 4096, FIXED = F_SEAL_SHRINK | F_SEAL_GROW };

/* A file without a name, of so many bytes. */
static int made(enum nc_backing kind, size_t bytes)
{
    int fd = MPIDI_NUMACOLL_backing_make(kind, NULL);

    assert_true(fd >= 0);
    assert_true(MPIDI_NUMACOLL_backing_set_size(kind, fd, bytes));
    return fd;
}

static int open_path(const char *path, size_t bytes)
{
    return MPIDI_NUMACOLL_backing_open(NC_BACKING_NAMED_FILE, 0, -1, path, bytes);
}

/* Whether another process opens this one's descriptor. */
static int opens_as(enum nc_backing kind, int fd, size_t bytes)
{
    pid_t me = getpid(), child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        close(fd);
        _exit(MPIDI_NUMACOLL_backing_open(kind, me, fd, "", bytes) >= 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int opens(int fd, size_t bytes)
{
    return opens_as(NC_BACKING_MEMFD, fd, bytes);
}

static void share(enum nc_backing kind)
{
    int fd = made(kind, BYTES);
    int other = MPIDI_NUMACOLL_backing_open(kind, getpid(), fd, "", BYTES);
    char *mine = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *theirs = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);

    assert_true(other >= 0);
    strcpy(mine, "seen");
    assert_string_equal(theirs, "seen");
    assert_int_equal(opens_as(kind, fd, BYTES), 1);
    assert_int_equal(opens_as(kind, fd, BYTES - 1), 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(other, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    munmap(mine, BYTES);
    munmap(theirs, BYTES);
    close(fd);
    close(other);
}

static void a_memfd_is_shared(void **state)
{
    (void) state;
    share(NC_BACKING_MEMFD);
}

/* Where memfd is refused; nobody can seal it, so it is no memfd. */
static void an_unnamed_file_is_shared(void **state)
{
    int fd = made(NC_BACKING_UNNAMED_FILE, BYTES);
    struct stat st;

    (void) state;
    share(NC_BACKING_UNNAMED_FILE);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(opens(fd, BYTES), 0);
    close(fd);
}

static void a_fixed_size_stays(void **state)
{
    int fd = made(NC_BACKING_MEMFD, BYTES);

    (void) state;
    assert_int_equal(ftruncate(fd, BYTES / 2), -1);
    assert_int_equal(ftruncate(fd, BYTES * 2), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    close(fd);
}

static void another_size_is_refused(void **state)
{
    int fd = made(NC_BACKING_MEMFD, BYTES);

    (void) state;
    assert_int_equal(opens(fd, BYTES - 1), 0);
    assert_int_equal(opens(fd, BYTES + 1), 0);
    assert_int_equal(opens(fd, 0), 0);
    close(fd);
}

/* A file that its maker could still shorten, or lengthen. */
static void seals_that_lack_are_refused(void **state)
{
    static const int seals[] = {0, F_SEAL_SHRINK, F_SEAL_GROW};
    int fd;

    (void) state;
    for (int i = 0; i < 3; i++) {
        fd = MPIDI_NUMACOLL_backing_make(NC_BACKING_MEMFD, NULL);
        assert_int_equal(ftruncate(fd, BYTES), 0);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, seals[i]), 0);
        assert_int_equal(opens(fd, BYTES), 0);
        close(fd);
    }
    fd = memfd_create("sealed for ever", MFD_CLOEXEC); /* cannot be fixed */
    assert_false(MPIDI_NUMACOLL_backing_set_size(NC_BACKING_MEMFD, fd, BYTES));
    assert_int_equal(opens(fd, BYTES), 0);
    close(fd);
}

static void other_kinds_are_refused(void **state)
{
    char folder[] = "/tmp/backing.XXXXXX", path[64];
    int pipes[2], fd;
    FILE *file = tmpfile();

    (void) state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(opens(pipes[i], 0), 0);
        close(pipes[i]);
    }
    assert_int_equal(ftruncate(fileno(file), BYTES), 0);
    assert_int_equal(opens(fileno(file), BYTES), 0); /* a file of a disk has no seals */
    fclose(file);
    fd = open("/dev/zero", O_RDWR);
    assert_int_equal(opens(fd, 0), 0);
    close(fd);
    fd = open(folder, O_RDONLY);
    assert_int_equal(opens(fd, BYTES), 0);
    close(fd);
    assert_int_equal(opens(1000, BYTES), 0); /* no such descriptor */
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(opens(fd, 0), 0);
    assert_int_equal(open_path(path, 0), -1);
    close(fd);
    unlink(path);
    rmdir(folder);
}

/* A FIFO that nobody reads is not opened either: who would open it for writing too would be its
 * first reader, whom a writer can see. */
static void a_fifo_is_not_touched(void **state)
{
    char folder[] = "/tmp/backing.XXXXXX", path[64];

    (void) state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) { /* waits in open() until somebody reads */
            signal(SIGALRM, SIG_DFL);
            alarm(1);
            _exit(open(path, O_WRONLY) >= 0);
        }
        int status, fd = -1;
        usleep(100000);
        if (i == 0)
            assert_int_equal(open_path(path, 0), -1);
        else
            fd = open(path, O_RDWR | O_NONBLOCK); /* that the child would see it */
        assert_int_equal(waitpid(child, &status, 0), child);
        if (i == 0)
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
        else
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        if (fd >= 0)
            close(fd);
    }
    alarm(0);
    unlink(path);
    rmdir(folder);
}

static void other_owners_are_refused(void **state)
{
    int fd = made(NC_BACKING_MEMFD, BYTES);

    (void) state;
    if (geteuid() != 0) {
        close(fd);
        puts("# skipped: only root can give a file away");
        return;
    }
    assert_int_equal(fchown(fd, 65534, 65534), 0);
    assert_int_equal(opens(fd, BYTES), 0);
    close(fd);
}

static void a_named_file_loses_its_name(void **state)
{
    char path[NC_PATH_BYTES];
    int fd = MPIDI_NUMACOLL_backing_make(NC_BACKING_NAMED_FILE, path), other;

    (void) state;
    assert_true(fd >= 0);
    assert_true(MPIDI_NUMACOLL_backing_set_size(NC_BACKING_NAMED_FILE, fd, BYTES));
    other = open_path(path, BYTES);
    assert_true(other >= 0);
    assert_int_equal(open_path(path, BYTES - 1), -1);
    MPIDI_NUMACOLL_backing_unname(fd, path);
    MPIDI_NUMACOLL_backing_unname(other, path); /* nothing to do any more */
    assert_int_equal(access(path, F_OK), -1);
    close(fd);
    close(other);
}

/* Of two named files whose processes were killed the next process removes both; not that of a
 * process that lives. */
static void stale_names_are_removed(void **state)
{
    char dead[NC_PATH_BYTES], living[NC_PATH_BYTES], mine[NC_PATH_BYTES];
    int fd = MPIDI_NUMACOLL_backing_make(NC_BACKING_NAMED_FILE, dead),
        live = MPIDI_NUMACOLL_backing_make(NC_BACKING_NAMED_FILE, living), own;

    (void) state;
    close(fd); /* as the kernel does when a process is killed */
    own = MPIDI_NUMACOLL_backing_make(NC_BACKING_NAMED_FILE, mine);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(living, F_OK), 0);
    MPIDI_NUMACOLL_backing_unname(live, living);
    MPIDI_NUMACOLL_backing_unname(own, mine);
    close(live);
    close(own);
}

/* A longer file than RLIMIT_FSIZE is refused, and no signal. */
static void a_limit_is_no_signal(void **state)
{
    struct rlimit before, low;
    int fd = MPIDI_NUMACOLL_backing_make(NC_BACKING_MEMFD, NULL);

    (void) state;
    getrlimit(RLIMIT_FSIZE, &before);
    low = (struct rlimit){BYTES - 1, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_false(MPIDI_NUMACOLL_backing_set_size(NC_BACKING_MEMFD, fd, BYTES));
    assert_true(MPIDI_NUMACOLL_backing_set_size(NC_BACKING_MEMFD, fd, BYTES - 1));
    setrlimit(RLIMIT_FSIZE, &before);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memfd_is_shared),           cmocka_unit_test(an_unnamed_file_is_shared),
        cmocka_unit_test(a_fixed_size_stays),          cmocka_unit_test(another_size_is_refused),
        cmocka_unit_test(seals_that_lack_are_refused), cmocka_unit_test(other_kinds_are_refused),
        cmocka_unit_test(a_fifo_is_not_touched),       cmocka_unit_test(other_owners_are_refused),
        cmocka_unit_test(a_named_file_loses_its_name), cmocka_unit_test(stale_names_are_removed),
        cmocka_unit_test(a_limit_is_no_signal)};

    return cmocka_run_group_tests_name("backing", tests, NULL, NULL);
}
