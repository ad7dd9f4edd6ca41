/* The algorithms that the value `auto` of the settings BARRIER, BCAST_TREE, BCAST_GROUP,
 * REDUCE_GROUP, ALLREDUCE_VERSION and ALLREDUCE_GROUP stands for,
 * and the ways of a scan, an alltoall and a reduce_scatter, by rules. mpich/choose.c asks
 * when a communicator is set up, coll/ in each call; numacoll-model asks which rule it was.
 * doc/design-notes.md has the reason of each rule: what was measured where two processors can, and
 * what test/sim simulates where they cannot. */

#ifndef NC_SELECT_H_INCLUDED
#define NC_SELECT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nc_model.h"
#include "nc_schedule.h"
#include "nc_tree.h"

/* The barriers: X(NAME, name), in the order of the values of BARRIER in cvars.yaml, where `auto`
 * comes before them. shm/nc_barrier.c has the function of each. */
#define NC_BARRIERS(X) \
    X(CENTRAL, central) \
    X(FLAT, flat) \
    X(FLAT_GR, flat_gr) \
    X(COMBINING, combining) \
    X(MCS, mcs) \
    X(TOURNAMENT, tournament) \
    X(DISSEMINATION, dissemination) \
    X(HIERARCHICAL, hierarchical)

enum nc_barrier_kind {
#define NC_NUMBER(NAME, ...) NC_BARRIER_##NAME,
    NC_BARRIERS(NC_NUMBER)
#undef NC_NUMBER
        NC_BARRIER_KINDS
};

/* What the rules depend on, of the ranks of a node. Equal on all ranks of the node. */
struct nc_situation {
    int ranks;
    bool numa_nodes;     /* the ranks are on several NUMA nodes */
    bool oversubscribed; /* more ranks than processors they may use */
};

/* Each of the following choices is by one rule. *why, where it is not NULL: the rule as a line of
 * text, for whom it is and why. inlined: the message is sent inline. */

/* The barrier for a situation. */
enum nc_barrier_kind nc_select_barrier(const struct nc_situation *situation, const char **why);

/* The notification tree of bcast for a situation. */
enum nc_tree_kind nc_select_notice(const struct nc_situation *situation, const char **why);

/* How a commutative reduce works inside a node. */
enum nc_reduce_way {
    NC_REDUCE_FLAT,     /* in each group of each level its leader reduces what all members have */
    NC_REDUCE_BINOMIAL, /* up a binomial tree in each group */
    NC_REDUCE_BINARY,   /* up a binary tree in each group */
    NC_REDUCE_CHAIN_ALL /* along one chain of all ranks, NUMA node by NUMA node */
};

/* The way of a reduce of so many bytes. */
enum nc_reduce_way nc_select_reduce(const struct nc_situation *situation, size_t bytes,
                                    bool inlined, const char **why);

/* Bytes of a fragment, at least 4 KiB, of a message of so many bytes along a chain of so many
 * ranks: the segment of a chain with the least time (core/nc_model.h). */
uint64_t nc_select_chain_fragment(int ranks, uint64_t bytes);

enum nc_allreduce_version {
    NC_ALLREDUCE_SYMMETRIC,
    NC_ALLREDUCE_SLICED,
    NC_ALLREDUCE_RB,
    NC_ALLREDUCE_RAB,
    NC_ALLREDUCE_VERSIONS
};

/* The version of allreduce inside a node for a message of so many bytes. in_any_order: as for
 * nc_select_possible. */
enum nc_allreduce_version nc_select_allreduce(const struct nc_situation *situation, size_t bytes,
                                              bool inlined, bool in_any_order, const char **why);

/* Whether the blocks of an Alltoall, of so many bytes each, go by rows of a table, which are NUMA
 * nodes (coll/alltoall_rows.c): several rows of several ranks, and blocks so short that those of a
 * row have at most 4 KiB together, which is a message between two rows, and all blocks of a rank at
 * most NC_ALLTOALL_ROWS_BYTES, which are twice on the stack. rows 0: the NUMA nodes are no table,
 * since they have different numbers of ranks. */
bool nc_select_alltoall_rows(int rows, int mates, size_t bytes, const char **why);
#define NC_ALLTOALL_ROWS_BYTES 16384

/* Whether a Reduce_scatter of plain elements, by an operation that commutes, goes by rows of such a
 * table: first among the ranks of a NUMA node, then among those of a column. */
bool nc_select_reduce_scatter_rows(int rows, int mates, const char **why);

/* The version that can be made instead of one that was chosen. sliced: the message can be reduced
 * by slices; in_any_order: the operation commutes and its elements are plain. */
enum nc_allreduce_version nc_select_possible(enum nc_allreduce_version version, bool sliced,
                                             bool in_any_order);

/* ---- above the node: by the model of time (core/nc_model.h) ---- */

/* How the members of a group of nodes work together. */
struct nc_group_algorithm {
    enum nc_algorithm algorithm;
    int k; /* degree of a tree */
};

/* The tree that takes the least time to move `bytes` bytes, elements of `element` bytes, in a group
 * of p members. */
struct nc_group_algorithm nc_select_tree(struct nc_model_link link, int p, size_t bytes,
                                         size_t element);

/* For an allreduce of `bytes` bytes in a group of p members: recursive doubling (whole chunks) or
 * reduce-scatter and allgather (parts), whichever takes less time. */
struct nc_group_algorithm nc_select_exchange(struct nc_model_link link, int p, size_t bytes);

/* For a reduce-scatter of `bytes` bytes to a part for each of p nodes: NC_RING, or NC_RSAG, by
 * halves, whichever takes less time. */
enum nc_algorithm nc_select_parts(struct nc_model_link link, int p, size_t bytes);

/* A level above the node: what a message costs, and the members of its largest group. */
struct nc_select_level {
    struct nc_model_link link;
    int members;
    struct nc_group_algorithm by;
};

/* Bytes of a chunk of a message that passes all these levels, whole elements: the least of what is
 * best on each. */
size_t nc_select_chunk(const struct nc_select_level *level, int levels, size_t bytes,
                       size_t element);

/* How a scan works: by the steps of core/nc_scan.h, or along a chain; inside a node of all ranks.
 */
enum nc_scan_way { NC_SCAN_STEPS, NC_SCAN_CHAIN };

/* The way of a scan of so many bytes inside a node. inlined, why: as above. */
enum nc_scan_way nc_select_scan(const struct nc_situation *situation, size_t bytes, bool inlined,
                                const char **why);

/* The radix of the steps. */
int nc_select_scan_radix(const struct nc_situation *situation, const char **why);

/* The way of a scan of the totals of so many nodes, in so many chunks. Steps are by doubling. */
enum nc_scan_way nc_select_scan_nodes(int nodes, uint64_t chunks, const char **why);

/* How many bytes of the last-level cache are a rank's: of a cache of so many bytes that
 * `processors` processors share (0: unknown), if so many ranks of the communicator do. Neither a
 * virtual machine nor a container shows the other processors under the same cache, so each that it
 * does show is believed to have at most 4 MiB. */
size_t nc_select_cache_share(size_t cache_bytes, int processors, int ranks);

/* Messages of at most so many bytes are written by ordinary stores, without measuring: streaming
 * ones would gain less than that takes (cvars.yaml, STREAMING). */
#define NC_PACES_ABOVE 4095

/* The longest message, bytes, of which a rank demotes what it has written, where its processor can
 * (cvars.yaml, DEMOTE); 0: none. l2_ranks: ranks under its L2 cache, itself included. */
size_t nc_select_demotes_most(const struct nc_situation *situation, int l2_ranks);
#define NC_DEMOTES_MOST 1024

#endif
