/* Describes the machine, as the times depend on it: processors, caches, NUMA nodes, kernel, MPI.
 * Caches are described by hwloc: the C library asks the processor, which in a virtual machine
 * reports the caches of the host. */

#include "bench.h"
#include "core/nc_quota.h"

#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static uint64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);

    return cache ? cache->attr->cache.size : 0;
}

static const char *cpu_model(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = hwloc_obj_get_info_by_name(package ? package : hwloc_get_root_obj(topology),
                                                   "CPUModel");

    return model ? model : "unknown";
}

/* Takes away the blanks with which some processors fill their name. */
static void squeeze(char *text)
{
    char *end = text;

    for (char *c = text; *c; c++) {
        if (*c != ' ' || (end > text && end[-1] != ' '))
            *end++ = *c;
    }
    if (end > text && end[-1] == ' ')
        end--;
    *end = 0;
}

static void read_topology(struct machine *m)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology))
        return;
    if (!hwloc_topology_load(topology)) {
        snprintf(m->cpu, sizeof m->cpu, "%s", cpu_model(topology));
        squeeze(m->cpu);
        m->processors = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
        m->packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
        m->numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        m->l1d = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
        m->l2 = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
        m->l3 = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
    }
    hwloc_topology_destroy(topology);
}

/* Takes the first line of the library's version, "MPICH Version:<tab>4.0.2". */
static void read_mpi(struct machine *m)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(all, &length);
    all[strcspn(all, "\n")] = 0;
    for (char *c = all; *c; c++) {
        if (*c == '\t')
            *c = ' ';
    }
    snprintf(m->mpi, sizeof m->mpi, "%.*s", (int) sizeof m->mpi - 1, all);
}

/* libmpi's, see mpich/tuned.h. Weak: another MPI library has no tuned files. */
extern const char *MPIDI_NUMACOLL_tuned_machine(void) __attribute__((weak));

static void read_tuned(struct machine *m)
{
    const char *name = MPIDI_NUMACOLL_tuned_machine ? MPIDI_NUMACOLL_tuned_machine() : NULL;

    snprintf(m->tuned, sizeof m->tuned, "%s", name ? name : "");
}

static struct machine machine;

void machine_is(const struct machine *other)
{
    machine = *other;
}

const struct machine *machine_get(void)
{
    struct utsname u;

    if (!machine.kernel[0]) {
        uname(&u);
        snprintf(machine.kernel, sizeof machine.kernel, "%s %s", u.sysname, u.release);
        machine.memory = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
        read_topology(&machine);
        read_mpi(&machine);
        read_tuned(&machine);
    }
    return &machine;
}

uint64_t machine_available(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    uint64_t bytes, limit = nc_quota_memory("");
    char line[256];
    uintmax_t kib = 0;

    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %ju", &kib) != 1)
        ;
    if (f)
        fclose(f);
    bytes = (uint64_t) kib << 10;
    if (!bytes)
        return limit < UINT64_MAX ? limit : 0;
    return bytes < limit ? bytes : limit;
}

void machine_text(char *text, size_t n)
{
    const struct machine *m = machine_get();

    snprintf(text, n,
             "%d processors (%s), packages %d, NUMA nodes %d, L1d %ju KiB, L2 %ju KiB, L3 %ju KiB, "
             "%s, %s",
             m->processors, m->cpu, m->packages, m->numa_nodes, (uintmax_t) m->l1d >> 10,
             (uintmax_t) m->l2 >> 10, (uintmax_t) m->l3 >> 10, m->kernel, m->mpi);
}
