/* The kernel's files on a process's cgroup (core/nc_quota.c): an input is /proc/self/cgroup,
 * /proc/self/mountinfo and cpu.max, with lines "--" between; the last is also what is there of
 * memory. The cgroup of v2 is seen at /cg and below, at /cg/a. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/nc_quota.h"

static void put(const char *name, const char *text)
{
    fuzz_file(name, text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const memory[] = {"cg/memory.max", "cg/memory.current", "cg/memory.stat",
                                         "cg/memory.limit_in_bytes", "cg/memory.usage_in_bytes"};
    char *text = fuzz_text(data, size), *mounts = fuzz_cut(text), *quota = fuzz_cut(mounts);
    struct nc_quota found;

    put("proc/self/cgroup", text);
    put("proc/self/mountinfo", mounts);
    put("cg/cpu.max", quota);
    put("cg/a/cpu.max", quota);
    put("cg/cpu.cfs_quota_us", quota);
    put("cg/cpu.cfs_period_us", "100000\n");
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        put(memory[i], quota);
    nc_quota_memory(fuzz_folder());
    found = nc_quota_read(fuzz_folder());
    assert(found.millicpus >= 0 && (found.millicpus > 0) == (found.id != 0));
    free(text);
    return 0;
}
