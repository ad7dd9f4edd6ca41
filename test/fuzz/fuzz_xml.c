/* Topologies as XML files (mpich/machine.c, through hwloc): an input is a file. hwloc crashes on
 * some wrong files; these are left out, after a child process has tried. */

#include "fuzz.h"

#include <hwloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine_use.h"

/* hwloc loses some memory of files that it refuses, in a library that is unloaded before leaks are
 * looked for, so that they cannot be told from ours. fuzz_topology.c looks for ours. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void load(const char *path)
{
    hwloc_topology_t topology;

    /* no handlers of the sanitizers: a crash is a result here */
    for (int i = 0; i < 4; i++)
        signal((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGABRT}[i], SIG_DFL);
    close(2);
    alarm(5);
    hwloc_topology_init(&topology);
    if (!hwloc_topology_set_xml(topology, path))
        hwloc_topology_load(topology);
    hwloc_topology_destroy(topology);
    _exit(0);
}

static bool hwloc_survives(const char *path)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        load(path);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const mappings[] = {"core", "numa", "package", "list:0,0,0,0,0"};
    const char *path = fuzz_file("machine.xml", data, size);
    char topology[256], error[1024] = "";
    struct nc_machine *m;

    if (!hwloc_survives(path))
        return 0;
    snprintf(topology, sizeof topology, "xml:%s", path);
    m = nc_machine_load(topology, error, sizeof error);
    for (int i = 0; m && i < 4; i++)
        machine_use(m, mappings[i], 5);
    assert(m || *error);
    nc_machine_free(m);
    return 0;
}
