/* Output for people: groups in the notation of the papers, G1(0..17) G2(0,18). */

#include "topo.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/arguments.h"

/* The number of ranks, from the first on, that are consecutive, up or down. */
static int run_of(const int *ranks, int n)
{
    int step = n > 1 ? ranks[1] - ranks[0] : 0, run = 1;

    while ((step == 1 || step == -1) && run < n && ranks[run] == ranks[run - 1] + step)
        run++;
    return run;
}

void text_folded_ranks(const int *ranks, int n, const char *fold)
{
    for (int i = 0, written = 1; i < n; written++) {
        int run = run_of(ranks + i, n - i);

        printf(run > 2 ? "%d..%d" : "%d", ranks[i], ranks[i + run - 1]);
        i += run > 2 ? run : 1;
        printf("%s%s", i < n ? "," : "", i < n && written % 8 == 0 ? fold : "");
    }
}

void text_ranks(const int *ranks, int n)
{
    text_folded_ranks(ranks, n, "");
}

static void write_nodes(const struct hierarchy *h, int *ranks)
{
    printf("%d ranks, %d node%s\n", h->ranks, h->cluster.nodes, h->cluster.nodes > 1 ? "s" : "");
    for (int i = 0; i < h->cluster.nodes; i++) {
        int n = hierarchy_on_node(h, i, ranks);

        printf("  %s: ", h->cluster.name[i]);
        text_ranks(ranks, n);
        printf(n ? "\n" : "no rank\n");
    }
}

static void write_levels(const struct hierarchy *h)
{
    printf("\nlevels:");
    for (int i = 0; i < h->topo.levels; i++)
        printf(" %s", nc_level_name(h->topo.name[i]));
    for (int i = 0; i < h->cluster.locations.columns; i++) {
        const char *why = hierarchy_dropped(h, (enum nc_level) i);

        if (why)
            printf("\n  without %s: %s", nc_level_name((enum nc_level) i), why);
    }
    putchar('\n');
}

static void write_groups(const struct hierarchy *h, int level, int *ranks)
{
    printf("\nG%d: %s\n", level + 1, nc_level_name(h->topo.name[level]));
    for (int i = h->groups.level[level]; i < h->groups.level[level + 1]; i++) {
        struct nc_group group = hierarchy_group(&h->groups, level, i, h->root);

        printf("  leader %d: ", group.leader);
        text_ranks(ranks, hierarchy_members(&group, ranks));
        puts(group.size > 1 ? "" : " (skipped)");
    }
}

/* Writes the groups of which a process is a member. */
static void write_way(const struct hierarchy *h, int process, int *ranks)
{
    printf("process %d:", process);
    for (int level = 0; level < h->topo.levels; level++) {
        struct nc_group group = nc_group_at(&h->groups, level, process, h->root);

        if (group.index < 0)
            break;
        printf(" G%d(", level + 1);
        text_ranks(ranks, hierarchy_members(&group, ranks));
        putchar(')');
    }
    putchar('\n');
}

/* Writes two processes of each group on the lowest level: its leader, and one of the others, which
 * are all in the same groups. */
static void write_ways(const struct hierarchy *h, int *ranks)
{
    for (int i = 0; i < h->groups.level[1]; i++) {
        struct nc_group group = hierarchy_group(&h->groups, 0, i, h->root);

        write_way(h, group.leader, ranks);
        if (group.size > 1)
            write_way(h, nc_group_member(&group, 1), ranks);
    }
}

static void write_tree(const struct hierarchy *h, int level, const struct nc_group *group,
                       int *ranks)
{
    struct nc_tree tree = hierarchy_tree(h, group);

    for (int i = 0; i < tree.size; i++) {
        int n = hierarchy_children(group, &tree, i, ranks);

        if (n == 0)
            continue;
        printf("  %s: %d -> ", nc_level_name(h->bcast_topo.name[level]), nc_group_member(group, i));
        text_ranks(ranks, n);
        putchar('\n');
    }
}

/* Writes the trees in the groups that the root leads; other groups of the same size have the same
 * trees. */
static void write_trees(const struct hierarchy *h, int *ranks)
{
    const int *setting = h->options->setting;
    bool any = false;

    printf("\nnotification trees of Bcast from %d: %s", h->root,
           options_setting(h->options, SET_TREE));
    if (setting[SET_TREE] != NC_TREE_FLAT && setting[SET_TREE] != NC_TREE_CHAIN)
        printf(" of degree %d", setting[SET_DEGREE]);
    putchar('\n');
    for (int level = 0; level < h->bcast_topo.levels; level++) {
        struct nc_group group = nc_group_at(&h->bcast_groups, level, h->root, h->root);

        if (!hierarchy_has_tree(h, &group))
            continue;
        write_tree(h, level, &group, ranks);
        any = true;
    }
    if (!any)
        puts("  none: the root is alone on its node");
}

static void write_segment(const struct hierarchy *h)
{
    const struct nc_geometry *g = &h->geometry;

    printf("\nsegment on %s: %zu bytes", h->cluster.name[0], h->segment_bytes);
    printf(h->fits ? "\n" : ": does not fit the budget of %d KiB\n",
           h->options->setting[SET_BUDGET]);
    printf("  regions: %u of %zu bytes, in pages of %u bytes\n", g->ranks, h->layout.region,
           g->page);
    printf("  slots of a region: %u of %u bytes, given back %u at a time\n", g->slots,
           g->slot_bytes, g->set_slots);
    printf("  a small segment: %zu bytes\n", h->small_bytes);
    printf("  communicators of these ranks at a time: ");
    if (h->most_large > 0)
        printf("%zu with such segments and ", h->most_large);
    printf("%zu with small ones\n", h->most_small);
}

void text_write(const struct hierarchy *h)
{
    int *ranks = allocate(sizeof *ranks * (size_t) h->ranks);

    write_nodes(h, ranks);
    write_levels(h);
    for (int level = 0; level < h->topo.levels; level++)
        write_groups(h, level, ranks);
    putchar('\n');
    if (h->rank >= 0)
        write_way(h, h->rank, ranks);
    else
        write_ways(h, ranks);
    write_trees(h, ranks);
    write_segment(h);
    free(ranks);
}
