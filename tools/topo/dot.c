/* Output for Graphviz: a row for each level, a box for each group, and a line from a group to each
 * group one level below that a member of it leads. */

#include "topo.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/arguments.h"

static void write_box(const struct hierarchy *h, int level, int i, int *ranks)
{
    struct nc_group group = hierarchy_group(&h->groups, level, i, h->root);

    printf("  g%d [label=\"leader %d\\n", i, group.leader);
    text_folded_ranks(ranks, hierarchy_members(&group, ranks), "\\n");
    printf("\"%s%s];\n", group.size > 1 ? "" : ", style=dashed",
           group.leader == h->root ? ", penwidth=2" : "");
    if (level + 1 < h->topo.levels)
        printf("  g%d -> g%d;\n", h->groups.of[level + 1][group.leader], i);
}

/* Writes the name of a level at the left of its row. Invisible lines between the names keep the
 * rows in order. */
static void write_row(const struct hierarchy *h, int level)
{
    const char *name = nc_level_name(h->topo.name[level]);

    printf("  level%d [label=\"G%d %s\", shape=plaintext];\n", level, level + 1, name);
    if (level + 1 < h->topo.levels)
        printf("  level%d -> level%d [style=invis];\n", level + 1, level);
    printf("  {rank=same; level%d", level);
    for (int i = h->groups.level[level]; i < h->groups.level[level + 1]; i++)
        printf("; g%d", i);
    printf("}\n");
}

void dot_write(const struct hierarchy *h)
{
    int *ranks = allocate(sizeof *ranks * (size_t) h->ranks);

    printf("digraph numacoll {\n");
    printf("  graph [label=\"%d ranks, root %d\", labelloc=t, fontname=\"sans-serif\"];\n",
           h->ranks, h->root);
    printf("  node [shape=box, fontname=\"sans-serif\"];\n  edge [arrowhead=none];\n");
    for (int level = h->topo.levels - 1; level >= 0; level--) {
        write_row(h, level);
        for (int i = h->groups.level[level]; i < h->groups.level[level + 1]; i++)
            write_box(h, level, i, ranks);
    }
    printf("}\n");
    free(ranks);
}
