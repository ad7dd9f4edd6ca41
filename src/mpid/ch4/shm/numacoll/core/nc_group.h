/* Groups of ranks: an algorithm goes up and down the levels of the machine by groups, without
 * sub-communicators.
 *
 * On the lowest active level, the ranks that share a unit are a group. The leader of a group is its
 * lowest rank. The leaders are the members of the groups on the next level, and so on up to one
 * group that joins all ranks. So every rank is a member of one group of the lowest level, and every
 * group but the last is represented by its leader in one group of the level above. A group of one
 * member stays in the table, so that a level has the same number on every rank; an algorithm skips
 * such a group.
 *
 * The members of a group have places: 0, 1, ... in ascending order of ranks. In a call with a root
 * they also have indices, counted from the leader on, cyclically. The table is the same for all
 * roots: the root leads each group it is in, and in the group of the level above, the root takes
 * the place of the usual leader of its unit. For example, ranks 4 to 7 share a unit. In a call with
 * root 6, the group of leaders (0 4 8) has the members 6, 8, 0 with the indices 0, 1, 2. So an
 * index is a relative rank in an nc_tree. Rank 0 leads all groups it is in; so root 0 is the same
 * as no root.
 *
 * mpich/state_make.c makes the groups inside a node, mpich/hierarchy.c those of all nodes, once per
 * communicator. Routes (nc_route.h) and schedules (coll/above.c) are made from them.
 * Source: Kurnosov 2023, hierarchical groups; there a root other than 0 costs a relay. */

#ifndef NC_GROUP_H_INCLUDED
#define NC_GROUP_H_INCLUDED

#include "nc_topo.h"

/* All groups of all levels. Groups are numbered from the lowest level up, and on a level in the
 * order of their lowest ranks. */
struct nc_groups {
    int ranks;
    int levels;
    int level[NC_LEVELS + 2];  /* [levels + 1] level i has groups level[i] .. level[i + 1] - 1 */
    int *of[NC_LEVELS + 1];    /* [levels][ranks] the group that has the rank, or the leader that
                                  stands for the rank, as a member */
    int *place[NC_LEVELS + 1]; /* [levels][ranks] the place of that member in that group */
    int *first;                /* [groups + 1] member[first[i]] .. member[first[i + 1] - 1] are the
                                  members of group i */
    int *member; /* [ranks + groups - 1] ranks, in a group by place: the leader first */
};

/* One group in a call with a root, as a rank sees it. */
struct nc_group {
    int number;
    int size;  /* members; with 1 there is nothing to do */
    int index; /* of the rank; the leader has 0; -1 if the rank is not a member */
    int leader;
    int turn;          /* place of the leader: index 0 */
    const int *member; /* [size] by place, as in a call without a root */
};

/* Bytes nc_groups_make needs: for known levels, and at most. */
size_t nc_groups_bytes(const struct nc_topo *topo);
size_t nc_groups_most_bytes(
    int ranks, int levels); /* for any so many active levels, the top being one of them */

/* Makes the groups of the active levels in `memory`, which has nc_groups_bytes(topo) bytes, is
 * aligned for int, and must outlive the groups. The levels and their memory are not needed
 * afterwards. O(L * P). */
void nc_groups_make(struct nc_groups *groups, void *memory, const struct nc_topo *topo);

/* Makes one group of all ranks on one level, in the order that nc_groups_in_order writes: a chain
 * of its members goes from NUMA node to NUMA node. In `memory`, nc_groups_most_bytes(ranks, 1)
 * bytes aligned for int, which must outlive it. Its leader in a call without a root is rank 0. */
void nc_groups_make_one(struct nc_groups *one, void *memory, const struct nc_groups *groups);

/* Writes all ranks to rank[ranks] in an order that has the ranks of each group, on every level,
 * side by side. */
void nc_groups_in_order(const struct nc_groups *groups, int *rank);

/* Writes to column[], which has room for all groups of the lowest level, one rank of each of these
 * groups: the member that has the place of `rank` in its own group. Returns how many; 0 if the
 * groups differ in size. O(G). */
int nc_groups_column(const struct nc_groups *groups, int rank, int *column);

/* The leader of the group that nc_group_at returns, in a call with this root. O(1). */
static inline int nc_group_leader_of(const struct nc_groups *g, int level, int rank, int root)
{
    int group = g->of[level][rank];

    return group == g->of[level][root] ? root : g->member[g->first[group]];
}

/* The group on `level` that has the rank, or the leader that stands for the rank, as a member, in a
 * call with this root. O(1). Inline and without a division, because every call needs it. */
static inline struct nc_group nc_group_at(const struct nc_groups *g, int level, int rank, int root)
{
    int number = g->of[level][rank];
    struct nc_group group = {.number = number, .index = -1};

    group.size = g->first[number + 1] - g->first[number];
    group.member = g->member + g->first[number];
    group.leader = nc_group_leader_of(g, level, rank, root);
    group.turn = group.leader == root ? g->place[level][root] : 0;
    if (level == 0 || nc_group_leader_of(g, level - 1, rank, root) == rank) {
        int index = g->place[level][rank] - group.turn;
        group.index = index < 0 ? index + group.size : index;
    }
    return group;
}

/* The rank of the member with index k, 0 <= k < size. O(1). */
static inline int nc_group_member(const struct nc_group *group, int k)
{
    int place = group->turn + k;

    /* At the leader's place the table may have another rank: the leader in calls without a root. */
    return k == 0 ? group->leader
                  : group->member[place < group->size ? place : place - group->size];
}

#endif
