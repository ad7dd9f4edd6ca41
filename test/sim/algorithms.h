/* The algorithms of shm/ that the simulated machine runs, with the settings that choose them. */

#ifndef SIM_ALGORITHMS_H_INCLUDED
#define SIM_ALGORITHMS_H_INCLUDED

#include <stdbool.h>

#include "machine.h"

enum sim_collective {
    SIM_BCAST,
    SIM_REDUCE,
    SIM_ALLREDUCE,
    SIM_ALLGATHER,
    SIM_ALLTOALL,
    SIM_REDUCE_SCATTER,
    SIM_SCAN,
    SIM_EXSCAN,
    SIM_BARRIER,
    SIM_COLLECTIVES
};

/* One way to make a collective. */
struct sim_algorithm {
    enum sim_collective collective;
    const char *name;
    /* which levels data moves by: bits of enum nc_level; the node is always one */
    unsigned levels;
    /* trees of the levels, from the NUMA node up, as in BCAST_GROUP; the last one is that of all
     * levels above, too. NULL: flat */
    const char *trees;
    const char *notice; /* Bcast: BCAST_TREE with its degree; NULL: flat */
    /* the number that core/nc_select.h has for it, of Reduce, Allreduce, scans and Barrier; of
     * Alltoall and Reduce_scatter whether it is by rows; there are more that no rule chooses */
    int version;
    bool flag; /* Barrier: one flag releases all ranks */
};

extern const char *const sim_collective_names[SIM_COLLECTIVES];

/* All algorithms; the last one has no name. */
extern const struct sim_algorithm sim_algorithms[];

struct sim_setting {
    struct sim_machine machine;
    int ranks, by_node;
    size_t bytes; /* of the message; of a block in Allgather, Alltoall and Reduce_scatter */
};

/* Runs an algorithm in a process of its own. False: that process has not come to its end. */
bool sim_algorithm_run(const struct sim_setting *setting, const struct sim_algorithm *algorithm,
                       struct sim_cost *cost);

#endif
