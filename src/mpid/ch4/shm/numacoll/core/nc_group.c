/* Makes the groups of a communicator from its active levels (nc_topo.h), once per communicator.
 * Calls read them through the inline functions of nc_group.h. */

#include "nc_group.h"

#include <string.h>

size_t nc_groups_bytes(const struct nc_topo *topo)
{
    size_t ranks = (size_t) topo->ranks, groups = 0;

    for (int l = 0; l < topo->levels; l++)
        groups += (size_t) topo->units[l];
    return sizeof(int) * (2 * (size_t) topo->levels * ranks + (groups + 1) + (ranks + groups - 1));
}

size_t nc_groups_most_bytes(int ranks, int levels)
{
    struct nc_topo most = {.ranks = ranks, .levels = levels};

    /* a level has the most units if no two ranks share one */
    for (int l = 0; l < levels; l++)
        most.units[l] = ranks;
    return nc_groups_bytes(&most);
}

static bool is_member(const struct nc_topo *topo, int level, int rank)
{
    return level == 0 || topo->leader[level - 1][rank] == rank;
}

/* Numbers the groups of a level and gives their members places. A leader is a lower rank than the
 * ranks it leads, so its number and its place are known when they copy them. While this goes on,
 * first[i + 1] counts the members of group i. */
static void give_places(struct nc_groups *g, const struct nc_topo *topo, int level)
{
    int *of = g->of[level], *place = g->place[level], next = g->level[level];

    for (int rank = 0; rank < g->ranks; rank++) {
        int leader = topo->leader[level][rank];

        of[rank] = leader == rank ? next++ : of[leader];
        if (is_member(topo, level, rank))
            place[rank] = g->first[of[rank] + 1]++;
        else
            place[rank] = place[topo->leader[level - 1][rank]];
    }
}

static void list_members(struct nc_groups *g, const struct nc_topo *topo, int level)
{
    for (int rank = 0; rank < g->ranks; rank++) {
        if (is_member(topo, level, rank))
            g->member[g->first[g->of[level][rank]] + g->place[level][rank]] = rank;
    }
}

/* Divides the memory of nc_groups_bytes among the arrays. */
static void take_memory(struct nc_groups *g, int *memory)
{
    for (int l = 0; l < g->levels; l++) {
        g->of[l] = memory;
        g->place[l] = memory + g->ranks;
        memory += 2 * (size_t) g->ranks;
    }
    g->first = memory;
    g->member = memory + g->level[g->levels] + 1;
}

void nc_groups_make(struct nc_groups *g, void *memory, const struct nc_topo *topo)
{
    int groups = 0;

    g->ranks = topo->ranks;
    g->levels = topo->levels;
    for (int l = 0; l < g->levels; l++) {
        g->level[l] = groups;
        groups += topo->units[l];
    }
    g->level[g->levels] = groups;
    take_memory(g, memory);

    memset(g->first, 0, sizeof(int) * ((size_t) groups + 1));
    for (int l = 0; l < g->levels; l++)
        give_places(g, topo, l);
    for (int i = 0; i < groups; i++)
        g->first[i + 1] += g->first[i];
    for (int l = 0; l < g->levels; l++)
        list_members(g, topo, l);
}

int nc_groups_column(const struct nc_groups *g, int rank, int *column)
{
    int groups = g->level[1];

    for (int i = 0; i < groups; i++) {
        if (g->first[i + 1] - g->first[i] != g->first[1])
            return 0;
        column[i] = g->member[g->first[i] + g->place[0][rank]];
    }
    return groups;
}

/* Writes the ranks that a member of a group on `level` stands for: on the lowest level itself,
 * above it all ranks of the group it leads one level below. Returns the end of what was written. */
static int *list_ranks(const struct nc_groups *g, int level, int member, int *rank)
{
    if (level == 0) {
        *rank = member;
        return rank + 1;
    }
    int below = g->of[level - 1][member];
    for (int i = g->first[below]; i < g->first[below + 1]; i++)
        rank = list_ranks(g, level - 1, g->member[i], rank);
    return rank;
}

void nc_groups_in_order(const struct nc_groups *g, int *rank)
{
    /* rank 0 leads the group that joins all */
    list_ranks(g, g->levels, 0, rank);
}

void nc_groups_make_one(struct nc_groups *one, void *memory, const struct nc_groups *groups)
{
    *one = (struct nc_groups){.ranks = groups->ranks, .levels = 1, .level = {0, 1}};
    take_memory(one, memory);
    one->first[0] = 0;
    one->first[1] = one->ranks;
    nc_groups_in_order(groups, one->member);
    for (int i = 0; i < one->ranks; i++) {
        one->of[0][one->member[i]] = 0;
        one->place[0][one->member[i]] = i;
    }
}
