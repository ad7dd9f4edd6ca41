/* core/nc_quota.c: the quotas that it finds in trees of cgroups, of v2, of v1, of both and in
 * containers; and files with odd content. The trees are made below a temporary folder. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/nc_quota.h"

static char root[64];

#define CGROUP    "/proc/self/cgroup"
#define MOUNTINFO "/proc/self/mountinfo"
#define AT        "/sys/fs/cgroup"

static const char other_mounts[] = "22 28 0:21 / /proc rw,nosuid - proc proc rw\n"
                                   "23 28 0:22 / /sys rw shared:7 - sysfs  rw\n";
static const char v2_mount[] = "31 23 0:27 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
static const char v1_mounts[] =
    "32 23 0:29 / /sys/fs/cgroup rw - tmpfs tmpfs rw,cpu\n"
    "33 32 0:30 / /sys/fs/cgroup/cpuset rw shared:9 master:2 - cgroup cgroup rw,cpuset\n"
    "34 32 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

static int make_root(void **state)
{
    (void) state;
    strcpy(root, "/tmp/test_quota.XXXXXX");
    return !mkdtemp(root);
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *place)
{
    (void) s;
    (void) kind;
    (void) place;
    return remove(path);
}

static int remove_root(void **state)
{
    (void) state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, with the folders on its path. */
static void put_bytes(const char *path, const char *text, size_t bytes)
{
    char name[9000];
    FILE *f;

    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *c = name + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
        *c = '\0';
        mkdir(name, 0700);
    }
    f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static void put_mounts(const char *mounts)
{
    char text[20000];

    snprintf(text, sizeof text, "%s%s", other_mounts, mounts);
    put(MOUNTINFO, text);
}

/* Writes the quota of a cgroup of v1, microseconds in 100000. */
static void put_v1(const char *folder, const char *quota)
{
    char name[300];

    snprintf(name, sizeof name, "%s/cpu.cfs_quota_us", folder);
    put(name, quota);
    snprintf(name, sizeof name, "%s/cpu.cfs_period_us", folder);
    put(name, "100000\n");
}

static void assert_quota(int millicpus, const char *folder)
{
    struct nc_quota q = nc_quota_read(root);
    char name[300];
    struct stat s;

    assert_int_equal(q.millicpus, millicpus);
    snprintf(name, sizeof name, "%s%s", root, folder);
    assert_int_equal(stat(name, &s), 0);
    assert_int_equal(q.id, s.st_ino);
}

static void assert_none(void)
{
    struct nc_quota q = nc_quota_read(root);

    assert_int_equal(q.millicpus, 0);
    assert_int_equal(q.id, 0);
}

/* ---- v2 ---- */

static void v2(void **state)
{
    (void) state;
    put(CGROUP, "0::/job/step\n");
    put_mounts(v2_mount);
    assert_none();
    put(AT "/job/step/cpu.max", "max 100000\n");
    assert_none();
    put(AT "/job/step/cpu.max", "150000 100000\n");
    assert_quota(1500, AT "/job/step");
    put(AT "/job/step/cpu.max", "99999 33333\n");
    assert_quota(3000, AT "/job/step");
    put(AT "/job/step/cpu.max", "1000 1000000\n");
    assert_quota(1, AT "/job/step");
    put(AT "/job/step/cpu.max", "1000 3000000\n");
    assert_quota(1, AT "/job/step");
}

static void v2_path(void **state)
{
    (void) state;
    put(CGROUP, "0::/job/step/task\n");
    put_mounts(v2_mount);
    put(AT "/job/step/task/cpu.max", "max 100000\n");
    put(AT "/job/step/cpu.max", "400000 100000\n");
    put(AT "/job/cpu.max", "max 100000\n");
    assert_quota(4000, AT "/job/step");
    put(AT "/job/cpu.max", "300000 100000\n");
    assert_quota(3000, AT "/job");
    put(AT "/job/cpu.max", "500000 100000\n");
    assert_quota(4000, AT "/job/step");
    /* equally tight: the one that more processes share */
    put(AT "/job/cpu.max", "200000 50000\n");
    assert_quota(4000, AT "/job");
    put(AT "/cpu.max", "100000 100000\n");
    assert_quota(1000, AT);
    /* above the mount, and beside the path */
    put("/sys/fs/cpu.max", "1000 100000\n");
    put(AT "/job/step2/cpu.max", "1000 100000\n");
    assert_quota(1000, AT);
}

static void v2_root(void **state)
{
    (void) state;
    put(CGROUP, "0::/\n");
    put_mounts(v2_mount);
    put(AT "/other/cpu.max", "200000 100000\n");
    assert_none();
    put(AT "/cpu.max", "200000 100000\n");
    assert_quota(2000, AT);
}

/* ---- v1 ---- */

static void v1(void **state)
{
    (void) state;
    put(CGROUP, "5:name=cpu:/name\n4:cpuset:/set\n3:cpuacct,cpu:/job/step\n2:cpu2:/two\n");
    put_mounts(v1_mounts);
    assert_none();
    put_v1(AT "/cpu,cpuacct/job/step", "-1\n");
    assert_none();
    put_v1(AT "/cpu,cpuacct/job", "250000\n");
    assert_quota(2500, AT "/cpu,cpuacct/job");
    put_v1(AT "/cpu,cpuacct/job/step", "50000\n");
    assert_quota(500, AT "/cpu,cpuacct/job/step");
    /* files of v2 mean nothing here */
    put(AT "/cpu,cpuacct/job/cpu.max", "1000 100000\n");
    assert_quota(500, AT "/cpu,cpuacct/job/step");
    /* a quota without a period, a period of 0 */
    put(AT "/cpu,cpuacct/job/step/task/cpu.cfs_quota_us", "1000\n");
    put(CGROUP, "3:cpu,cpuacct:/job/step/task\n");
    assert_quota(500, AT "/cpu,cpuacct/job/step");
    put(AT "/cpu,cpuacct/job/step/task/cpu.cfs_period_us", "0\n");
    assert_quota(500, AT "/cpu,cpuacct/job/step");
}

/* The controller alone, and mounted twice: the second mount has the cgroup. */
static void v1_mounted_elsewhere(void **state)
{
    (void) state;
    put(CGROUP, "1:cpu:/job/step\n");
    put_mounts("40 32 0:31 /other /mnt/one rw - cgroup cgroup rw,cpu\n"
               "41 32 0:31 /job /mnt/with\\040blank rw - cgroup cgroup rw,cpu\n");
    put_v1("/mnt/one", "1000\n");
    put_v1("/mnt/one/job/step", "1000\n");
    put_v1("/mnt/with blank/step", "300000\n");
    assert_quota(3000, "/mnt/with blank/step");
    put_v1("/mnt/with blank", "200000\n");
    assert_quota(2000, "/mnt/with blank");
}

/* The cpu controller is in v1, and v2 has no cpu.max; then, on an odd machine, both limit. */
static void hybrid(void **state)
{
    char mounts[2000];

    (void) state;
    snprintf(mounts, sizeof mounts, "%s%s", v1_mounts,
             "42 32 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put_mounts(mounts);
    put(CGROUP, "4:cpuset:/\n3:cpu,cpuacct:/job\n1:name=systemd:/user\n0::/user/session\n");
    put_v1(AT "/cpu,cpuacct/job", "200000\n");
    put(AT "/unified/user/session/cgroup.procs", "1\n");
    assert_quota(2000, AT "/cpu,cpuacct/job");
    put(AT "/unified/user/cpu.max", "300000 100000\n");
    assert_quota(2000, AT "/cpu,cpuacct/job");
    put(AT "/unified/user/cpu.max", "100000 100000\n");
    assert_quota(1000, AT "/unified/user");
}

/* ---- memory ---- */

static void put_memory(const char *folder, const char *file, const char *text)
{
    char name[300];

    snprintf(name, sizeof name, "%s/memory.%s", folder, file);
    put(name, text);
}

static void memory_of_v2(void **state)
{
    (void) state;
    put(CGROUP, "0::/job/step\n");
    put_mounts(v2_mount);
    assert_true(nc_quota_memory(root) == UINT64_MAX);
    put_memory(AT "/job/step", "max", "max\n");
    put_memory(AT "/job/step", "current", "1000\n");
    assert_true(nc_quota_memory(root) == UINT64_MAX);
    put_memory(AT "/job/step", "max", "5000\n");
    assert_int_equal(nc_quota_memory(root), 4000);
    /* of what is in use, the kernel can take back 300 at once */
    put_memory(AT "/job/step", "stat", "anon 600\ninactive_anon 5\ninactive_file 300\nfile 9\n");
    assert_int_equal(nc_quota_memory(root), 4300);
    put_memory(AT "/job/step", "stat", "inactive_file 2000\n");
    assert_int_equal(nc_quota_memory(root), 5000);
    /* further up it is tighter, and more is in use than is allowed */
    put_memory(AT "/job", "max", "6000\n");
    assert_int_equal(nc_quota_memory(root), 5000);
    put_memory(AT "/job", "current", "2500\n");
    assert_int_equal(nc_quota_memory(root), 3500);
    put_memory(AT "/job", "current", "7000\n");
    assert_int_equal(nc_quota_memory(root), 0);
}

static void memory_of_v1(void **state)
{
    (void) state;
    put(CGROUP, "5:memory:/mem\n3:cpu,cpuacct:/job\n");
    put_mounts("34 32 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
               "35 32 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put_memory(AT "/memory/mem", "limit_in_bytes", "9223372036854771712\n");
    put_memory(AT "/memory/mem", "usage_in_bytes", "4096\n");
    assert_true(nc_quota_memory(root) == 9223372036854771712u - 4096);
    put_memory(AT "/memory/mem", "limit_in_bytes", "8192\n");
    put_memory(AT "/memory/mem", "stat", "inactive_file 4000\ntotal_inactive_file 96\n");
    assert_int_equal(nc_quota_memory(root), 4192);
    /* that of the other controller means nothing here */
    put_memory(AT "/cpu/job", "limit_in_bytes", "1\n");
    put_memory(AT "/cpu/job", "usage_in_bytes", "1\n");
    assert_int_equal(nc_quota_memory(root), 4192);
    assert_none();
}

static void odd_memory(void **state)
{
    static const char *const odd[] = {"", "\n", "max", "many words", "\x80"};

    (void) state;
    put(CGROUP, "0::/job\n");
    put_mounts(v2_mount);
    put_memory(AT "/job", "current", "1000\n");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        put_memory(AT "/job", "max", odd[i]);
        assert_true(nc_quota_memory(root) == UINT64_MAX);
        put_memory(AT "/job", "max", "5000\n");
        put_memory(AT "/job", "stat", odd[i]);
        assert_int_equal(nc_quota_memory(root), 4000);
    }
}

/* ---- containers ---- */

static void container_of_v1(void **state)
{
    (void) state;
    put(CGROUP, "3:cpu,cpuacct:/docker/a\\x2db\n");
    put_mounts("34 32 0:31 /docker/a\\134x2db /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    put_v1(AT "/cpu", "200000\n");
    assert_quota(2000, AT "/cpu");
    put(CGROUP, "3:cpu,cpuacct:/docker/a\\x2db/inner\n");
    put_v1(AT "/cpu/inner", "100000\n");
    assert_quota(1000, AT "/cpu/inner");
}

/* The mount does not have the path, whatever its root is called. */
static void container_of_v2(void **state)
{
    (void) state;
    put(CGROUP, "0::/kubepods/pod1\n");
    put(AT "/cpu.max", "250000 100000\n");
    put_mounts(v2_mount);
    assert_quota(2500, AT);
    put_mounts("31 23 0:27 /kubepods/pod /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    assert_quota(2500, AT);
    put_mounts("31 23 0:27 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    assert_quota(2500, AT);
}

/* Two mounts, none with the path: the first counts. */
static void container_with_two_mounts(void **state)
{
    (void) state;
    put(CGROUP, "0::/pod\n");
    put(AT "/cpu.max", "250000 100000\n");
    put("/mnt/cpu.max", "50000 100000\n");
    put_mounts("31 23 0:27 /a /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
               "32 23 0:27 /b /mnt ro - cgroup2 cgroup rw\n");
    assert_quota(2500, AT);
}

/* A cgroup outside the container's own namespace: the mount is no part of its path. */
static void outside(void **state)
{
    (void) state;
    put(CGROUP, "0::/../pod2\n");
    put(AT "/cpu.max", "250000 100000\n");
    put("/sys/fs/pod2/cpu.max", "250000 100000\n");
    put_mounts(v2_mount);
    assert_none();
    put_mounts("31 23 0:27 /.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put(AT "/pod2/cpu.max", "50000 100000\n");
    assert_quota(500, AT "/pod2");
}

/* ---- odd content ---- */

static void nothing(void **state)
{
    (void) state;
    assert_none();
    put(CGROUP, "0::/job\n");
    assert_none();
    put_mounts("");
    assert_none();
    put_mounts("31 23 0:27 / /sys/fs/cgroup rw - tmpfs cgroup2 rw\n");
    put(AT "/job/cpu.max", "250000 100000\n");
    assert_none();
}

static void odd_quotas(void **state)
{
    static const char *const odd[] = {"",
                                      "\n",
                                      "max",
                                      "100000",
                                      "100000 max",
                                      "0 100000",
                                      "-1 100000",
                                      "100000 0",
                                      "100000 -100000",
                                      "2e5 100000",
                                      "0x10 1000",
                                      "many words",
                                      "100000,50000",
                                      "999999999999999999999999999999 100000",
                                      "999999999999999 1"};

    (void) state;
    put(CGROUP, "0::/job\n3:cpu:/job\n");
    put_mounts(v2_mount);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        put(AT "/job/cpu.max", odd[i]);
        assert_none();
    }
    put(AT "/cpu.max/folder", "");
    assert_none();
}

static void odd_files(void **state)
{
    static const char *const paths[] = {"", "\n", "0", "0:", "0::", "::", ":::", "0::job", "x"};
    static const char *const mounts[] = {"",
                                         " - ",
                                         " - cgroup2",
                                         " - cgroup2 a b",
                                         "1 - cgroup2 a b",
                                         "1 2 3 / - cgroup2 a b",
                                         "1 2 3 / /mnt",
                                         "1 2 3 / /mnt - cgroup2",
                                         "1 2 3 / /mnt - cgroup2 a",
                                         "1 2 3 / /mnt - cgroup a",
                                         "       - cgroup2  ",
                                         "1 2 3 \\ \\0 - cgroup2 a b",
                                         "1 2 3 \\777 \\04 - cgroup2 a b"};

    (void) state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (size_t j = 0; j < sizeof mounts / sizeof *mounts; j++) {
            put(CGROUP, paths[i]);
            put(MOUNTINFO, mounts[j]);
            assert_none();
        }
    }
    put(CGROUP, "3:cpu:/job\n0::/job\n");
    for (size_t j = 0; j < sizeof mounts / sizeof *mounts; j++) {
        put(MOUNTINFO, mounts[j]);
        assert_none();
    }
    put_bytes(CGROUP, "\0\0:\n0::\0/job\n", 14);
    put_mounts(v2_mount);
    assert_none();
}

/* Paths of all lengths around the longest that is taken, and a line of mountinfo that is long. */
static void long_paths(void **state)
{
    static char line[20000], mount[20000];

    (void) state;
    put_mounts(v2_mount);
    put(AT "/cpu.max", "100000 100000\n");
    for (int length = 8100; length < 8260; length++) {
        snprintf(line, sizeof line, "0::/%0*d\n", length, 0);
        put(CGROUP, line);
        nc_quota_read(root);
        put(CGROUP, "0::/job\n");
        snprintf(mount, sizeof mount, "1 2 3 / /%0*d rw - cgroup2 a b\n", length, 0);
        put(MOUNTINFO, mount);
        assert_none();
        put_mounts(v2_mount);
    }
    snprintf(mount, sizeof mount, "1 2 3 / / rw - overlay a lowerdir=%0*d\n%s", 15000, 0, v2_mount);
    put_mounts(mount);
    assert_quota(1000, AT);
}

static void random_bytes(void **state)
{
    static const char some[] = "0123 :,/\\-.\ncpugroup2max";

    (void) state;
    srand(1);
    for (int draw = 0; draw < 2000; draw++) {
        char text[200];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = rand() % 16 ? some[rand() % (int) sizeof some] : (char) rand();
        put_bytes(CGROUP, draw % 3 == 0 ? text : "0::/job\n", draw % 3 == 0 ? sizeof text : 8);
        if (draw % 3 == 1)
            put_bytes(MOUNTINFO, text, sizeof text);
        else
            put_mounts(v2_mount);
        put_bytes(AT "/job/cpu.max", text, sizeof text);
        assert_true(nc_quota_read(root).millicpus >= 0);
    }
}

static void this_machine(void **state)
{
    (void) state;
    assert_true(nc_quota_read("").millicpus >= 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(v2),
                                       TEST(v2_path),
                                       TEST(v2_root),
                                       TEST(v1),
                                       TEST(v1_mounted_elsewhere),
                                       TEST(hybrid),
                                       TEST(memory_of_v2),
                                       TEST(memory_of_v1),
                                       TEST(odd_memory),
                                       TEST(container_of_v1),
                                       TEST(container_of_v2),
                                       TEST(container_with_two_mounts),
                                       TEST(outside),
                                       TEST(nothing),
                                       TEST(odd_quotas),
                                       TEST(odd_files),
                                       TEST(long_paths),
                                       TEST(random_bytes),
                                       cmocka_unit_test(this_machine)};
    return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
