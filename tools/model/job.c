/* What the library would set up for the ranks that the options describe: the groups of the ranks of
 * a node, as mpich/comm.c makes them, and those of the nodes, as mpich/hierarchy.c does. See
 * model.h. */

#include <stdlib.h>
#include <unistd.h>

#include "common/arguments.h"
#include "model.h"

enum { BUDGET = 64 << 20 }; /* bytes: MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE by default */

const char *const job_trees[] = {[NC_TREE_FLAT] = "flat",
                                 [NC_TREE_KARY] = "kary",
                                 [NC_TREE_BALANCED] = "balanced",
                                 [NC_TREE_KNOMIAL] = "knomial",
                                 [NC_TREE_CHAIN] = "chain"};

/* ---- the first node, which has the most ranks ---- */

static void take_ranks(struct job *j)
{
    const struct nc_locations *all = &j->cluster.locations;
    int *unit = allocate(sizeof *unit * (size_t) j->cluster.largest * NC_ROUTE_LEVELS), n = 0;

    for (int rank = 0; rank < all->ranks; rank++) {
        const int *from = all->unit + (size_t) rank * (size_t) all->columns;
        if (from[NC_LEVEL_NODE] != 0)
            continue;
        for (int level = 0; level < NC_ROUTE_LEVELS; level++)
            unit[n * NC_ROUTE_LEVELS + level] = from[level];
        n++;
    }
    j->here = (struct nc_locations){.ranks = n, .columns = NC_ROUTE_LEVELS, .unit = unit};
}

void job_group(const struct job *j, unsigned levels, struct nc_levels *made)
{
    struct nc_topo topo;

    nc_topo_make(&topo, allocate(nc_topo_bytes(&j->here)), &j->here, levels);
    nc_groups_make(&made->groups, allocate(nc_groups_bytes(&topo)), &topo);
    for (int l = 0; l < topo.levels; l++)
        made->name[l] = topo.name[l];
}

static void group_ranks(struct job *j, unsigned levels)
{
    struct nc_geometry wanted = nc_geometry_make(
        (uint32_t) j->here.ranks, 0, -1, 2, j->cluster.l2_bytes, (uint32_t) sysconf(_SC_PAGESIZE));

    job_group(j, levels & 1u << NC_LEVEL_NUMA, &j->numa);
    job_group(j, nc_route_by(levels), &j->data);
    job_group(j, nc_route_signals_by(levels), &j->signals);
    j->situation = (struct nc_situation){.ranks = j->here.ranks,
                                         .numa_nodes = j->numa.groups.levels > 1,
                                         .oversubscribed = j->here.ranks > j->cluster.processors};
    j->geometry = wanted;
    if (!cluster_shorten(&j->geometry, 0, BUDGET, 1))
        j->geometry = nc_geometry_small(&wanted);
}

/* ---- the nodes ---- */

static int node_of(const void *cluster, int rank)
{
    return cluster_node(cluster, rank);
}

/* Nodes without a rank are the last ones. */
static int used_nodes(const struct cluster *c)
{
    int nodes = 0;

    for (int rank = 0; rank < c->locations.ranks; rank++) {
        if (cluster_node(c, rank) >= nodes)
            nodes = cluster_node(c, rank) + 1;
    }
    return nodes;
}

static void group_nodes(struct job *j, unsigned levels)
{
    const struct nc_locations *all = &j->cluster.locations;
    int count = used_nodes(&j->cluster), switches = all->columns - NC_LEVEL_SWITCH1;
    int *row = allocate(sizeof *row * (size_t) count * NC_SWITCHES);

    for (int rank = 0; rank < all->ranks; rank++) {
        const int *unit = all->unit + (size_t) rank * (size_t) all->columns;
        int *to = row + unit[NC_LEVEL_NODE] * NC_SWITCHES;
        for (int s = 0; s < NC_SWITCHES; s++)
            to[s] = s < switches ? unit[NC_LEVEL_SWITCH1 + s] : -1;
    }
    nc_nodes_make(&j->nodes, allocate(nc_nodes_bytes(all->ranks, count, NC_SWITCHES)),
                  allocate(nc_nodes_scratch_bytes(count)), all->ranks, count, node_of, &j->cluster,
                  row, levels, 0);
}

void job_make(struct job *j, const struct options *o)
{
    *j = (struct job){.options = o};
    cluster_make(&j->cluster, &o->cluster);
    take_ranks(j);
    group_ranks(j, o->cluster.levels);
    group_nodes(j, o->cluster.levels);
}

struct nc_scan_plan job_scan(const struct job *j, bool exclusive, int rank)
{
    int radix = nc_select_scan_radix(&j->situation, NULL);
    struct nc_scan_plan plan;

    nc_scan_make(&plan, allocate(nc_scan_bytes(j->here.ranks, radix)), j->numa.groups.of[0],
                 j->here.ranks, radix, exclusive, rank);
    return plan;
}

struct nc_model_link job_link(const struct job *j, int level)
{
    return j->options->links.link[j->nodes.name[level]];
}

bool job_scatters(const struct job *j)
{
    return j->options->collective == SCATTER || j->options->collective == SCATTERV;
}

uint64_t job_fragment(const struct job *j, uint64_t m)
{
    return job_scatters(j) ? nc_frag_choose_scatter(m, j->geometry.slot_bytes, j->options->rule)
                           : nc_frag_choose(m, j->geometry.slot_bytes, j->options->rule);
}

uint64_t job_chain_fragment(const struct job *j, uint64_t m)
{
    uint64_t slot = j->geometry.slot_bytes, f = nc_select_chain_fragment(j->here.ranks, m);

    return nc_frag_choose(m, j->options->rule == NC_FRAG_QUARTER && f < slot ? f : slot,
                          j->options->rule);
}

int job_rows(const struct job *j)
{
    int *column = allocate(sizeof *column * (size_t) j->here.ranks);
    int rows = nc_groups_column(&j->numa.groups, 0, column);

    free(column);
    return rows;
}

int job_mates(const struct job *j)
{
    int rows = job_rows(j);

    return rows ? j->here.ranks / rows : 0;
}

bool job_has_room_for_blocks(const struct job *j)
{
    return (size_t) j->cluster.locations.ranks * sizeof(double) <= NC_CHUNK;
}

int job_level(const struct job *j, int from, int to)
{
    const struct nc_groups *groups = &j->data.groups;
    int level = 0;

    while (level < groups->levels - 1 && groups->of[level][from] != groups->of[level][to])
        level++;
    return level;
}

void job_describe(const struct job *j, struct table *t)
{
    const struct nc_situation *s = &j->situation;
    const struct nc_groups *groups = &j->numa.groups;

    table_fact_number(t, "ranks", j->cluster.locations.ranks);
    table_fact_number(t, "nodes", j->nodes.count);
    table_fact_number(t, "ranks_on_a_node", s->ranks);
    table_fact_number(t, "processors", j->cluster.processors);
    table_fact_number(t, "numa_nodes", s->numa_nodes ? groups->level[1] : 1);
    if (s->oversubscribed)
        table_fact(t, "oversubscribed", "more ranks than processors; times leave that out");
}
