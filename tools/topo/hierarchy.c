/* Computes levels, groups and segment of the ranks with the functions of core/, and answers the
 * questions of text.c, json.c and dot.c about them. */

#include "topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arguments.h"

/* The segment of the node's first communicator, and how many communicators find room: first those
 * that have as much of such a segment as a narrow one has, then those with a small segment. */
static void fit(struct hierarchy *h, size_t budget)
{
    struct nc_geometry small = nc_geometry_small(&h->geometry), g;
    size_t taken = 0;
    uint32_t least;

    h->small_bytes = nc_layout_bytes(&small);
    h->geometry = cluster_shorten(&h->geometry, 0, budget, 1) ? h->geometry : small;
    h->segment_bytes = nc_layout_bytes(&h->geometry);
    h->fits = h->segment_bytes <= budget;
    h->most_large = 0;
    g = h->geometry;
    least = g.slots < NC_SLOTS ? g.slots : NC_SLOTS;
    while (cluster_shorten(&g, taken, budget, least) && nc_layout_bytes(&g) > h->small_bytes) {
        taken += nc_layout_bytes(&g);
        h->most_large++;
    }
    h->most_small = (budget - taken) / h->small_bytes;
    h->layout = nc_layout_make(&h->geometry);
}

/* Fills first and member, by counting. */
static void list_ranks(struct hierarchy *h)
{
    int nodes = h->cluster.nodes;

    h->first = allocate(sizeof *h->first * ((size_t) nodes + 2));
    h->member = allocate(sizeof *h->member * (size_t) h->ranks);
    memset(h->first, 0, sizeof *h->first * ((size_t) nodes + 2));
    for (int rank = 0; rank < h->ranks; rank++)
        h->first[cluster_node(&h->cluster, rank) + 2]++;
    for (int node = 0; node < nodes; node++)
        h->first[node + 2] += h->first[node + 1];
    /* first[node + 1] is where the next rank of the node goes: in the end where they end */
    for (int rank = 0; rank < h->ranks; rank++)
        h->member[h->first[cluster_node(&h->cluster, rank) + 1]++] = rank;
}

void hierarchy_make(struct hierarchy *h, const struct options *o)
{
    *h = (struct hierarchy){.options = o};
    cluster_make(&h->cluster, &o->cluster);
    h->ranks = h->cluster.locations.ranks;
    list_ranks(h);
    h->root = argument_number("--root=", o->root, 0, h->ranks - 1);
    h->rank = o->rank ? argument_number("--rank=", o->rank, 0, h->ranks - 1) : -1;
    h->topo = cluster_levels(&h->cluster, o->cluster.levels);
    nc_groups_make(&h->groups, allocate(nc_groups_bytes(&h->topo)), &h->topo);
    /* the library makes these groups for each node separately (mpich/comm.c) */
    h->bcast_topo = cluster_levels(&h->cluster,
                                   nc_route_by(o->cluster.levels) | 1u << NC_LEVEL_NODE);
    nc_groups_make(&h->bcast_groups, allocate(nc_groups_bytes(&h->bcast_topo)), &h->bcast_topo);
    h->geometry = nc_geometry_make((uint32_t) h->cluster.largest, o->setting[SET_SLOTS],
                                   o->setting[SET_FRAGMENT], (uint32_t) o->setting[SET_SETS],
                                   h->cluster.l2_bytes, (uint32_t) sysconf(_SC_PAGESIZE));
    fit(h, (size_t) o->setting[SET_BUDGET] * 1024);
}

struct nc_group hierarchy_group(const struct nc_groups *groups, int level, int number, int root)
{
    return nc_group_at(groups, level, groups->member[groups->first[number]], root);
}

int hierarchy_members(const struct nc_group *group, int *ranks)
{
    for (int k = 0; k < group->size; k++)
        ranks[k] = nc_group_member(group, k);
    return group->size;
}

int hierarchy_on_node(const struct hierarchy *h, int node, int *ranks)
{
    int n = h->first[node + 1] - h->first[node];

    memcpy(ranks, h->member + h->first[node], (size_t) n * sizeof *ranks);
    return n;
}

int hierarchy_children(const struct nc_group *group, const struct nc_tree *tree, int index,
                       int *ranks)
{
    int n = 0;

    for (int i = tree->first[index]; i < tree->first[index + 1]; i++)
        ranks[n++] = nc_group_member(group, tree->child[i]);
    return n;
}

bool hierarchy_has_tree(const struct hierarchy *h, const struct nc_group *group)
{
    int node = cluster_node(&h->cluster, group->leader);

    for (int k = 1; k < group->size; k++) {
        if (cluster_node(&h->cluster, nc_group_member(group, k)) != node)
            return false;
    }
    return group->size > 1;
}

struct nc_tree hierarchy_tree(const struct hierarchy *h, const struct nc_group *group)
{
    const int *setting = h->options->setting;
    struct nc_tree tree;

    nc_tree_make(&tree, allocate(nc_tree_bytes(group->size)), (enum nc_tree_kind) setting[SET_TREE],
                 setting[SET_DEGREE], group->size);
    return tree;
}

static bool is_known(const struct nc_locations *l, enum nc_level level)
{
    for (int rank = 0; rank < l->ranks; rank++) {
        if (l->unit[(size_t) rank * (size_t) l->columns + level] < 0)
            return false;
    }
    return true;
}

/* The active level above with which this level crosses, so that it was dropped. */
static const char *crossed(const struct hierarchy *h, enum nc_level level)
{
    for (int i = 0; i < h->topo.levels; i++) {
        if (h->topo.name[i] > level &&
            cluster_levels(&h->cluster, 1u << level | 1u << h->topo.name[i]).active[level] < 0)
            return nc_level_name(h->topo.name[i]);
    }
    return "another";
}

/* By the rules of nc_topo.h. A level that would be active if it were the only one was dropped
 * because it crosses another. */
const char *hierarchy_dropped(const struct hierarchy *h, enum nc_level level)
{
    static char text[64];
    int active = h->topo.active[level];

    if (active >= 0 && h->topo.name[active] == level)
        return NULL;
    if (!(h->options->cluster.levels >> level & 1))
        return "switched off";
    if (!is_known(&h->cluster.locations, level))
        return "unknown";
    if (active >= 0)
        snprintf(text, sizeof text, "same as %s", nc_level_name(h->topo.name[active]));
    else if (cluster_levels(&h->cluster, 1u << level).active[level] >= 0)
        snprintf(text, sizeof text, "crosses %s", crossed(h, level));
    else
        snprintf(text, sizeof text, "one rank in each");
    return text;
}
