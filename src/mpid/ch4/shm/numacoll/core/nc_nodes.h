/* The nodes of a communicator: which ranks are on which, and how switches group the nodes.
 *
 * The groups here are those of nc_group.h with nodes for members, so their memory does not grow
 * with the ranks: of all tables only `member` has an entry for each rank. A node stands for the
 * rank that leads it: its lowest, or in a call with a root the root on the root's node.
 *
 * The communicator numbers its nodes; here they get numbers anew, so that those under one switch
 * have neighbouring numbers. "Node i" is by the new numbers. mpich/hierarchy.c makes this once per
 * communicator. Source: Kurnosov 2023, hierarchical groups. */

#ifndef NC_NODES_H_INCLUDED
#define NC_NODES_H_INCLUDED

#include "nc_group.h"

/* The communicator's number of the node that a rank is on. */
typedef int (*nc_node_of)(const void *communicator, int rank);

struct nc_nodes {
    int ranks;
    int count;                         /* of the nodes */
    int mine;                          /* the node of the rank that asks */
    int *number;                       /* [count] of each node, by the communicator's number */
    int *first;                        /* [count + 1] see nc_nodes_ranks */
    int *member;                       /* [ranks] by node, from the last node down to node 0; the
                                          ranks of a node ascend */
    struct nc_groups groups;           /* of the nodes; no levels if there is one node */
    enum nc_level name[NC_LEVELS + 1]; /* [groups.levels] switches, and at the end top */
    int largest[NC_LEVELS + 1];        /* [groups.levels] members of the level's largest group */
    bool consecutive;                  /* each node has ranks that follow each other. Only then: */
    int place;                         /* of this process's node, by the order of ranks */
    int *last;                         /* [count] the last rank of each node, in that order */
};

/* Bytes of the memory that *nodes keeps if at most so many levels of switches are known, and of the
 * memory that nc_nodes_make needs besides. */
size_t nc_nodes_bytes(int ranks, int count, int switches);
size_t nc_nodes_scratch_bytes(int count);

/* Makes *nodes in `memory`, which must outlive it; both pieces of memory are aligned for int.
 * row[count][NC_SWITCHES]: by the communicator's numbers, the switches that each node is under,
 * from switch1 up; -1: not known. levels: those that may be used, a bit each. rank: the one that
 * asks. O(L * N + P). */
void nc_nodes_make(struct nc_nodes *nodes, void *memory, void *scratch, int ranks, int count,
                   nc_node_of node_of, const void *communicator, const int *row, unsigned levels,
                   int rank);

/* The number of ranks on a node, and these ranks, ascending. */
static inline int nc_nodes_size(const struct nc_nodes *n, int node)
{
    int i = n->count - 1 - node;

    return n->first[i + 1] - n->first[i];
}

static inline const int *nc_nodes_ranks(const struct nc_nodes *n, int node)
{
    return n->member + n->first[n->count - 1 - node];
}

/* The rank that leads a node in calls without a root. */
static inline int nc_nodes_leader(const struct nc_nodes *n, int node)
{
    return *nc_nodes_ranks(n, node);
}

/* The node `distance` places before this process's node, round; 0 <= distance <= count. */
static inline int nc_nodes_back(const struct nc_nodes *n, int distance)
{
    return (n->mine + n->count - distance) % n->count;
}

#endif
