/* The command messages: counts how many messages of a Bcast, Reduce or Allreduce leave a unit of
 * each level of the machine and network: by trees and exchanges of all ranks in their order, which
 * know nothing of the levels, and by the groups of the levels (Kurnosov 2023). Nothing is timed.
 * See model.h.
 *
 * Inside a node a message stands for data that one rank fetches from another. Trees begin at rank
 * 0. The exchanges of all ranks have the partners that MPICH and Open MPI give them. */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arguments.h"
#include "model.h"

/* Of one algorithm: all messages, and those, and their bytes, that leave a unit of a level. */
struct count {
    double messages, beyond[NC_LEVELS], bytes[NC_LEVELS];
};

/* No message leaves the only unit of the highest level. */
struct ledger {
    struct nc_topo topo;
    struct nc_groups groups;
    int levels;   /* that are counted: all but the highest */
    double bytes; /* of the message */
    struct count count;
};

/* So many messages, which may go either way. */
static void send(struct ledger *l, int a, int b, double messages, double bytes)
{
    l->count.messages += messages;
    for (int i = 0; i < l->levels; i++) {
        if (l->topo.leader[i][a] == l->topo.leader[i][b])
            continue;
        l->count.beyond[i] += messages;
        l->count.bytes[i] += messages * bytes;
    }
}

/* ---- by ranks ---- */

static void go_tree(struct ledger *l, enum nc_tree_kind kind)
{
    for (int rank = 1; rank < l->topo.ranks; rank++)
        send(l, nc_tree_parent(kind, 2, rank), rank, 1, l->bytes);
}

/* Of the first ranks, as many pairs as there are ranks beyond the largest power of two hand their
 * data on, from the even rank to the odd one, and get the result the same way. The ranks that stay
 * have the numbers 0, 1, .. */
static int kept(int number, int pairs)
{
    return number < pairs ? 2 * number + 1 : number + pairs;
}

static int hand_on(struct ledger *l, const int *rank, int n)
{
    int most = 1;

    while (2 * most <= n)
        most *= 2;
    for (int i = 0; i < n - most; i++)
        send(l, rank[2 * i], rank[2 * i + 1], 2, l->bytes);
    return most;
}

/* Recursive doubling of n ranks: the whole message in each step. */
static void go_doubling(struct ledger *l, const int *rank, int n)
{
    int most = hand_on(l, rank, n), pairs = n - most;

    for (int distance = 1; distance < most; distance *= 2) {
        for (int i = 0; i < most; i++)
            send(l, rank[kept(i, pairs)], rank[kept(i ^ distance, pairs)], 1, l->bytes);
    }
}

/* Rabenseifner's: there by halves, quarters, .., the longest between neighbours; and back. */
static void go_halves(struct ledger *l, const int *rank, int n)
{
    int most = hand_on(l, rank, n), pairs = n - most;

    for (int distance = 1; distance < most; distance *= 2) {
        for (int i = 0; i < most; i++)
            send(l, rank[kept(i, pairs)], rank[kept(i ^ distance, pairs)], 2,
                 l->bytes / (2 * distance));
    }
}

static void go_ring(struct ledger *l, const int *rank, int n)
{
    for (int i = 0; i < n && n > 1; i++)
        send(l, rank[i], rank[(i + 1) % n], 2 * (n - 1), l->bytes / n);
}

/* ---- by groups ---- */

/* In the groups of so many levels each member but the leader sends or gets the message. From whom
 * does not matter: any two members are in different units of all levels below. */
static void go_groups(struct ledger *l, int levels, double messages)
{
    for (int level = 0; level < levels; level++) {
        for (int rank = 0; rank < l->topo.ranks; rank++) {
            struct nc_group group = nc_group_at(&l->groups, level, rank, 0);
            if (group.index > 0)
                send(l, group.leader, rank, messages, l->bytes);
        }
    }
}

/* Up the groups, recursive doubling in the highest one, down. */
static void go_groups_exchange(struct ledger *l)
{
    struct nc_group top = nc_group_at(&l->groups, l->levels, 0, 0);

    go_groups(l, l->levels, 2);
    go_doubling(l, top.member, top.size);
}

/* ---- rows ---- */

static void add_row(struct ledger *l, struct table *t, const char *by, const char *algorithm)
{
    table_text(t, by);
    table_text(t, algorithm);
    table_number(t, l->count.messages);
    for (int i = 0; i < l->levels; i++) {
        table_number(t, l->count.beyond[i]);
        if (l->bytes > 0)
            table_number(t, l->count.bytes[i]);
    }
    l->count = (struct count){0};
}

/* Bcast, and Reduce, whose messages go the other way. */
static void add_trees(struct ledger *l, struct table *t)
{
    static const struct {
        const char *name;
        enum nc_tree_kind kind;
    } trees[] = {{"linear", NC_TREE_FLAT},
                 {"kary/2", NC_TREE_KARY},
                 {"knomial/2", NC_TREE_KNOMIAL},
                 {"chain", NC_TREE_CHAIN}};

    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        go_tree(l, trees[i].kind);
        add_row(l, t, "ranks", trees[i].name);
    }
    go_groups(l, l->levels + 1, 1);
    add_row(l, t, "groups", "any tree");
}

/* By ranks as ALLREDUCE_GROUP calls it, by groups as ALLREDUCE_VERSION does. */
static void add_allreduce(struct ledger *l, struct table *t)
{
    int n = l->topo.ranks, *rank = allocate(sizeof *rank * (size_t) n);

    for (int i = 0; i < n; i++)
        rank[i] = i;
    go_doubling(l, rank, n);
    add_row(l, t, "ranks", "rd");
    go_halves(l, rank, n);
    add_row(l, t, "ranks", "rsag");
    go_ring(l, rank, n);
    add_row(l, t, "ranks", "ring");
    go_groups_exchange(l);
    add_row(l, t, "groups", "rab");
    go_groups(l, l->levels + 1, 2);
    add_row(l, t, "groups", "rb");
    free(rank);
}

/* ---- columns ---- */

static const char *name_of(const struct ledger *l, int level, const char *what)
{
    char *name;

    if (asprintf(&name, "beyond_%s%s", nc_level_name(l->topo.name[level]), what) < 0)
        errx(EXIT_FAILURE, "no memory");
    return name;
}

/* A picture shows the messages beyond the largest units. */
static void add_columns(const struct ledger *l, struct table *t)
{
    table_column(t, "by", false);
    table_column(t, "algorithm", false);
    table_column(t, "messages", l->levels == 0);
    for (int i = 0; i < l->levels; i++) {
        table_column(t, name_of(l, i, ""), i == l->levels - 1);
        if (l->bytes > 0)
            table_column(t, name_of(l, i, "_bytes"), false);
    }
}

static void make_ledger(struct ledger *l, const struct job *j, const struct options *o)
{
    unsigned levels = o->cluster.levels;

    *l = (struct ledger){.bytes = (double) o->message};
    l->topo = cluster_levels(&j->cluster, nc_route_by(levels) | (levels & ~NC_LEVELS_INSIDE));
    l->levels = l->topo.levels - 1;
    nc_groups_make(&l->groups, allocate(nc_groups_bytes(&l->topo)), &l->topo);
}

void messages_fill(const struct options *o, struct table *t)
{
    struct ledger l;
    struct job j;

    job_make(&j, o);
    make_ledger(&l, &j, o);
    table_fact(t, "collective", "%s", collective_names[o->collective]);
    table_fact_number(t, "bytes", (double) o->message);
    job_describe(&j, t);
    add_columns(&l, t);
    if (o->collective == ALLREDUCE)
        add_allreduce(&l, t);
    else
        add_trees(&l, t);
    table_draw_as(t, &(struct table_picture){.bars = true,
                                             .title = "Messages that leave the largest units",
                                             .y = table_name(t, l.bytes > 0 && l.levels
                                                                    ? table_columns(t) - 2
                                                                    : table_columns(t) - 1)});
}
