/* What the control group (cgroup) of a process allows it: processor time, the CPU quota, which
 * libmpi asks for; and memory, which numacoll-bench asks for. */

#ifndef NC_QUOTA_H_INCLUDED
#define NC_QUOTA_H_INCLUDED

#include <stdint.h>

struct nc_quota {
    int millicpus; /* thousandths of a processor; 0: no quota */
    uint64_t id;   /* of the cgroup that sets the quota: the inode number of its directory */
};

/* The tightest quota on the path from this process's cgroup up to the root, of cgroup v2 (cpu.max)
 * and of v1's cpu controller (cpu.cfs_quota_us and cpu.cfs_period_us); of equally tight ones that
 * of the uppermost cgroup, which the most processes share. No quota if a file is missing or does
 * not have the expected content. `root` is put before the path of each file: "" for this machine.
 *
 * A container sees the tree from its own cgroup on: what limits the cgroups above it is unknown. */
struct nc_quota nc_quota_read(const char *root);

/* Bytes that this process and those that share its limit may yet take, by the tightest limit on the
 * same path, of v2 (memory.max) and of v1's memory controller (memory.limit_in_bytes): the limit
 * without what is in use, of which pages of files that were not used lately do not count, as the
 * kernel takes these back first. UINT64_MAX: no limit is known. root: as for nc_quota_read. */
uint64_t nc_quota_memory(const char *root);

#endif
