/* Groups of ranks, for algorithms that go up and down the machine without sub-communicators.
 *
 * On the lowest active level the ranks that share a unit are a group. Its leader is its lowest
 * rank, and the leaders are the members of the groups on the next level, until one group joins all.
 * So every rank, and every group but the last, has its place in exactly one group above. A group of
 * one member stays in the table, so that a level has the same number on every rank; executions skip
 * it.
 *
 * A call with a root needs no other table. The root leads each group it is in, and in the group
 * above it sits in the place of the leader its unit has otherwise. Members are counted from the
 * leader, in the order of their places and round: in a call with root 6, who is led by 4 otherwise,
 * the group (0 4 8) is 6 8 0. A member's index thus is its relative rank in an nc_tree. Rank 0
 * leads all it is in, so root 0 is the same as no root.
 * Source: Kurnosov 2023, hierarchical groups; there a root other than 0 costs a relay. */

#ifndef NC_GROUP_H_INCLUDED
#define NC_GROUP_H_INCLUDED

#include "nc_topo.h"

/* All groups of all levels, numbered from the lowest level up, on a level by their lowest ranks. */
struct nc_groups {
    int ranks;
    int levels;
    int level[NC_LEVELS + 2];  /* [levels + 1] level i has groups level[i] .. level[i + 1] - 1 */
    int *of[NC_LEVELS + 1];    /* [levels][ranks] group that holds the rank or its leader */
    int *place[NC_LEVELS + 1]; /* [levels][ranks] where in that group */
    int *first;                /* [groups + 1] members first[i] .. first[i + 1] - 1 are group i */
    int *member;               /* [ranks + groups - 1] ascending in a group: the leader first */
};

/* One group in a call with a root, as a rank sees it. */
struct nc_group {
    int number;
    int size;  /* members; nothing is to be done if 1 */
    int index; /* of the rank, the leader's is 0; -1 if the rank is no member */
    int leader;
    int turn;          /* place of the leader */
    const int *member; /* by place, as without root */
};

/* Bytes nc_groups_make needs, and the groups of the active levels, in memory of that size, aligned
 * for int. Neither the levels nor their memory need be kept. O(L * P). */
size_t nc_groups_bytes(const struct nc_topo *topo);
size_t nc_groups_most_bytes(
    int ranks, int levels); /* whatever so many levels, the top among them, turn out to be */
void nc_groups_make(struct nc_groups *groups, void *memory, const struct nc_topo *topo);

/* All ranks, those of a group side by side on every level: rank[ranks]. */
void nc_groups_in_order(const struct nc_groups *groups, int *rank);

/* One rank of each group of the lowest level, those with the place a rank has in its own:
 * column[groups of that level], in the order of the groups. How many; 0 if the groups differ in
 * size. O(G). */
int nc_groups_column(const struct nc_groups *groups, int rank, int *column);

static inline int nc_group_leader_of(const struct nc_groups *g, int level, int rank, int root)
{
    int group = g->of[level][rank];

    return group == g->of[level][root] ? root : g->member[g->first[group]];
}

/* The group that holds a rank, or the leader of its unit, on a level. O(1), as nc_group_member; in
 * line and without a division, for every call asks. */
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

/* The rank of member k, 0 <= k < size. */
static inline int nc_group_member(const struct nc_group *group, int k)
{
    int place = group->turn + k;

    /* The leader's place may bear the name of the rank it stands for. */
    return k == 0 ? group->leader
                  : group->member[place < group->size ? place : place - group->size];
}

#endif
