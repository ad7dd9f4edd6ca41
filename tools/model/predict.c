/* The command predict: the time of the algorithms of a collective on a machine and network, by
 * formulas of pipelines (nc_pipeline.h). A message between nodes goes in chunks through the levels
 * of switches, and each chunk inside a node in fragments through the groups of its ranks. What the
 * library chooses by itself is asked of its own functions (core/nc_select.h). See model.h.
 *
 * Of contention the formulas of Bcast, Reduce, rb and rab know that of a NUMA node's memory; none
 * that of the links between NUMA nodes or of a node's adapters. test/sim runs the code itself on a
 * machine that has the first two. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "predict.h"
#include "shm/nc_queue.h"

/* An algorithm: how each group inside a node and each group of nodes works. */
struct algorithm {
    struct nc_group_algorithm between; /* k 0: as the library chooses */
    struct nc_tree_spec tree;
    struct nc_tree_spec notice; /* of bcast, where `tree` is flat */
    bool chain_all;             /* of reduce: along one chain of all ranks of a node */
    enum nc_allreduce_version version;
};

enum {
    NOTICE_DEGREE = 8, /* BCAST_TREE_K by default */
    NAME = 40          /* bytes of the name of an algorithm */
};

/* ---- trees ---- */

/* A tree of p members, gone through. */
static struct nc_pipeline_tree tree_of(const struct nc_tree_spec *spec, int p)
{
    size_t bytes = nc_tree_bytes(p);
    int *memory = allocate(bytes + 2 * sizeof *memory * (size_t) p);
    struct nc_pipeline_tree through;
    struct nc_tree tree;

    nc_tree_make(&tree, memory, spec->kind, spec->k, p);
    through = nc_pipeline_go_through(&tree, memory + bytes / sizeof *memory);
    free(memory);
    return through;
}

/* Adds a tree of p members in which a member sends to, or receives from, its children in turn. */
static void add_tree(stages *s, struct nc_model_link step, const struct nc_tree_spec *spec, int p)
{
    struct nc_pipeline_tree tree = tree_of(spec, p);

    if (p > 1)
        nc_pipeline_add(s, step, tree.steps, tree.busiest);
}

/* ---- inside a node ---- */

/* Of a message of so many bytes. */
static struct nc_model_link line_of(const struct job *j, int level, uint64_t bytes)
{
    const struct options *o = j->options;
    struct nc_model_link line = o->lines.link[j->data.name[level]];

    if (!o->streaming || bytes <= o->streaming) /* written by ordinary stores */
        line.beta += o->cached;
    return line;
}

struct nc_model_link predict_line(const struct job *j, int level)
{
    return line_of(j, level, j->options->message);
}

struct nc_model_link predict_own_copy(const struct job *j)
{
    return (struct nc_model_link){0, j->options->lines.link[NC_LEVEL_L2].beta};
}

static int largest_group(const struct nc_groups *g, int level)
{
    int most = 1;

    for (int i = g->level[level]; i < g->level[level + 1]; i++)
        most = g->first[i + 1] - g->first[i] > most ? g->first[i + 1] - g->first[i] : most;
    return most;
}

/* The memory of a NUMA node: each of its ranks reads and writes so many bytes for each byte of the
 * message. at_once: all ranks at the same time, so that already the first fragment waits. */
static void add_memory(stages *s, const struct job *j, int bytes, bool at_once)
{
    double beta = bytes * largest_group(&j->numa.groups, 0) * j->options->memory,
           waits = beta - predict_own_copy(j).beta;

    nc_pipeline_push(s, (struct nc_model_link){0, at_once && waits > 0 ? waits : 0},
                     (struct nc_model_link){0, beta});
}

static struct nc_model_link of_times(struct nc_model_link link, double times)
{
    return (struct nc_model_link){times * link.alpha, times * link.beta};
}

/* The way down of a fragment, on `levels` levels of groups: into shared memory, then from each
 * leader to its members. In flat groups all copy at once what the leader has, once the
 * notification has come; a rank that leads a group below copies twice. */
static void add_down(stages *s, const struct job *j, const struct algorithm *a, int levels)
{
    nc_pipeline_add(s, predict_own_copy(j), 1, 1);
    for (int l = levels - 1; l >= 0; l--) {
        struct nc_model_link line = predict_line(j, l);
        int p = largest_group(&j->data.groups, l);
        double again = l > 0 ? predict_own_copy(j).beta : 0;

        if (p == 1)
            continue;
        if (a->tree.kind == NC_TREE_FLAT)
            nc_pipeline_push(s,
                             (struct nc_model_link){tree_of(&a->notice, p).height * line.alpha,
                                                    line.beta + again},
                             (struct nc_model_link){line.alpha, line.beta + again});
        else
            nc_pipeline_push(
                s, of_times(line, tree_of(&a->tree, p).height),
                (struct nc_model_link){line.alpha, line.beta + predict_own_copy(j).beta});
    }
    add_memory(s, j, 2, a->tree.kind == NC_TREE_FLAT);
}

struct nc_model_link predict_combining(const struct job *j, struct nc_model_link link)
{
    return (struct nc_model_link){link.alpha, link.beta + j->options->combine};
}

/* A chain of all ranks, NUMA node by NUMA node: a step for each rank, by the level that its line
 * crosses. */
static void add_chain_of_all(stages *s, const struct job *j)
{
    int left = j->here.ranks - 1;

    for (int l = 0; l < j->data.groups.levels; l++) {
        int units = j->data.groups.level[l + 1] - j->data.groups.level[l];
        int steps = left - (units - 1);

        if (steps > 0)
            nc_pipeline_add(s, predict_combining(j, predict_line(j, l)), steps, 1);
        left = units - 1;
    }
}

/* The way up. */
static void add_up(stages *s, const struct job *j, const struct algorithm *a, int levels)
{
    nc_pipeline_add(s, predict_own_copy(j), 1, 1);
    add_memory(s, j, 4, false); /* in, the operand of another rank, twice to combine them */
    if (a->chain_all) {
        add_chain_of_all(s, j);
        return;
    }
    for (int l = 0; l < levels; l++)
        add_tree(s, predict_combining(j, predict_line(j, l)), &a->tree,
                 largest_group(&j->data.groups, l));
}

/* ---- between nodes ---- */

struct nc_model_link predict_linear(double none, double mib)
{
    return (struct nc_model_link){none, (mib - none) / (1 << 20)};
}

/* An exchange, or a scatter or gather with one, whose steps a member makes one after the other. */
static struct nc_model_link exchange(const struct job *j, enum nc_algorithm algorithm,
                                     struct nc_model_link link, int p)
{
    uint64_t mib = 1 << 20;
    struct nc_model_link both = predict_combining(j, link);

    switch (algorithm) {
        case NC_SAG:
            return predict_linear(nc_model_scatter_allgather(link, p, 0),
                                  nc_model_scatter_allgather(link, p, mib));
        case NC_RD:
            return predict_linear(nc_model_doubling(both, p, 0), nc_model_doubling(both, p, mib));
        case NC_RING:
            return (struct nc_model_link){2 * (p - 1) * link.alpha,
                                          (p - 1) * (link.beta + both.beta) / p};
        default: /* by halves, and back */
            link.beta = (link.beta + both.beta) / 2;
            return predict_linear(nc_model_rabenseifner(link, p, 0),
                                  nc_model_rabenseifner(link, p, mib));
    }
}

static struct nc_group_algorithm chosen(const struct job *j, int level, uint64_t m, bool exchanges,
                                        const struct nc_group_algorithm *wanted)
{
    struct nc_model_link link = job_link(j, level);
    int p = j->nodes.largest[level];

    if (wanted->k)
        return *wanted;
    return exchanges ? nc_select_exchange(link, p, m) : nc_select_tree(link, p, m, 1);
}

static void add_level(stages *s, const struct job *j, int level, struct nc_group_algorithm by,
                      bool combines)
{
    struct nc_model_link link = job_link(j, level);
    int p = j->nodes.largest[level];

    if (by.algorithm <= NC_CHAIN)
        add_tree(s, combines ? predict_combining(j, link) : link,
                 &(struct nc_tree_spec){(enum nc_tree_kind) by.algorithm, by.k}, p);
    else if (p > 1)
        nc_pipeline_add(s, exchange(j, by.algorithm, link, p), 1, 1);
}

/* The levels of switches but the `but` highest. */
static void add_levels(stages *s, const struct job *j, const struct nc_group_algorithm *by,
                       uint64_t m, int but, bool combines)
{
    for (int l = 0; l < j->nodes.groups.levels - but; l++)
        add_level(s, j, l, chosen(j, l, m, false, by), combines);
}

/* Bytes of a chunk, by the trees of all levels. */
static uint64_t chunk_of(const struct job *j, const struct nc_group_algorithm *by, uint64_t m)
{
    struct nc_select_level level[NC_LEVELS + 1];

    for (int l = 0; l < j->nodes.groups.levels; l++)
        level[l] = (struct nc_select_level){.link = job_link(j, l),
                                            .members = j->nodes.largest[l],
                                            .by = chosen(j, l, m, false, by)};
    return nc_select_chunk(level, j->nodes.groups.levels, m, 1);
}

/* ---- the algorithms of Bcast and Reduce ---- */

static const struct algorithm bcasts[] = {
    {.between = {NC_KNOMIAL, 0},
     .tree = {NC_TREE_FLAT, 2},
     .notice = {NC_TREE_KNOMIAL, NOTICE_DEGREE}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}, .notice = {NC_TREE_FLAT, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}, .notice = {NC_TREE_KARY, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}, .notice = {NC_TREE_BALANCED, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}, .notice = {NC_TREE_CHAIN, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_KARY, 2}, .notice = {NC_TREE_FLAT, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_BALANCED, 2}, .notice = {NC_TREE_FLAT, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_KNOMIAL, 2}, .notice = {NC_TREE_FLAT, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_CHAIN, 2}, .notice = {NC_TREE_FLAT, 2}}};

/* Those that the rules choose have their numbers; then others. */
static const struct algorithm reduces[] = {
    [NC_REDUCE_FLAT] = {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}},
    [NC_REDUCE_BINOMIAL] = {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_KNOMIAL, 2}},
    [NC_REDUCE_BINARY] = {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_KARY, 2}},
    [NC_REDUCE_CHAIN_ALL] = {.between = {NC_KNOMIAL, 0},
                             .tree = {NC_TREE_CHAIN, 2},
                             .chain_all = true},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_BALANCED, 2}},
    {.between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_CHAIN, 2}}};

/* Which of them the library takes inside a node. */
static int own_bcast(const struct job *j)
{
    return nc_select_notice(&j->situation, NULL) == NC_TREE_FLAT ? 1 : 0;
}

static int own_reduce(const struct job *j, uint64_t m)
{
    return (int) nc_select_reduce(&j->situation, m, m <= NC_INLINE_BYTES, NULL);
}

/* ---- a call ---- */

/* Adds the work inside a node on a chunk of m bytes, in fragments of f, as one stage. */
static void add_node(stages *s, const stages *inside, uint64_t m, uint64_t f)
{
    nc_pipeline_push(s, (struct nc_model_link){nc_pipeline_seconds(inside, m, f), 0},
                     (struct nc_model_link){nc_pipeline_pace(inside, m, f), 0});
}

static uint64_t fragment_of(const struct job *j, const struct algorithm *a, uint64_t m)
{
    if (m <= NC_INLINE_BYTES)
        return NC_INLINE_BYTES;
    return a->chain_all ? job_chain_fragment(j, m) : job_fragment(j, m);
}

uint64_t predict_fragment(const struct job *j, uint64_t m)
{
    return fragment_of(j, &(struct algorithm){.chain_all = false}, m);
}

void predict_reduce_inside(stages *s, const struct job *j, uint64_t m)
{
    const struct algorithm *a = &reduces[own_reduce(j, m)];
    stages inside = {0};

    add_up(&inside, j, a, j->data.groups.levels);
    add_node(s, &inside, m, fragment_of(j, a, m));
}

void predict_bcast_inside(stages *s, const struct job *j, uint64_t m)
{
    const struct algorithm *a = &bcasts[own_bcast(j)];
    stages inside = {0};

    add_down(&inside, j, a, j->data.groups.levels);
    add_node(s, &inside, m, fragment_of(j, a, m));
}

/* Bcast, down, or Reduce, up. */
static struct predicted one_way(const struct job *j, const struct algorithm *a, uint64_t m, bool up)
{
    struct predicted p = {.chunk = j->nodes.count > 1 ? chunk_of(j, &a->between, m) : 0};
    uint64_t piece = p.chunk && m > p.chunk ? p.chunk : m;
    stages all = {0}, inside = {0};

    p.fragment = fragment_of(j, a, piece);
    if (p.chunk)
        add_levels(&all, j, &a->between, m, 0, up);
    if (j->here.ranks > 1) {
        (up ? add_up : add_down)(&inside, j, a, j->data.groups.levels);
        add_node(&all, &inside, piece, p.fragment);
    }
    p.seconds = nc_pipeline_seconds(&all, m, p.chunk ? p.chunk : m ? m : 1);
    return p;
}

/* All ranks of a team of p, beyond lines of a level, combine a share of the operands of all, then
 * gather the shares: a rank writes its operand and its share, and reads those of the others. */
static double slices(const struct job *j, int level, int p, uint64_t m)
{
    uint64_t share = m / (uint64_t) p;
    struct nc_model_link own = predict_own_copy(j), operand = line_of(j, level, m),
                         result = line_of(j, level, share);

    if (p < 2)
        return 0;
    return nc_model_message(own, m) + nc_model_message(own, share) +
           (p - 1) * (nc_model_message(predict_combining(j, operand), share) +
                      nc_model_message(result, share));
}

static struct predicted sliced(const struct job *j, uint64_t m)
{
    int levels = j->data.groups.levels, rows = largest_group(&j->numa.groups, 0);
    int columns = j->here.ranks / rows;

    return (struct predicted){.fragment = predict_fragment(j, m),
                              .seconds = slices(j, 0, rows, m) +
                                         slices(j, levels - 1, columns, m / (uint64_t) rows)};
}

/* Each of p ranks combines what all have, beyond lines of a level. */
static double combine_all(const struct job *j, int level, int p, uint64_t m)
{
    return nc_model_message(predict_own_copy(j), m) +
           (p - 1) * nc_model_message(predict_combining(j, predict_line(j, level)), m);
}

static struct predicted symmetric(const struct job *j, uint64_t m)
{
    return (struct predicted){
        .fragment = predict_fragment(j, m),
        .seconds = combine_all(j, j->data.groups.levels - 1, j->here.ranks, m)};
}

/* The reduce and the bcast that rb and rab make of a piece of m bytes inside a node, with what goes
 * on between them: on so many levels of its groups. */
struct halves {
    struct algorithm up, down;
    int levels;
};

/* On one node rab leaves the highest level to the leaders; below it the trees are those of any
 * message that is neither inline nor long. */
static struct halves halves_of(const struct job *j, const struct algorithm *a, uint64_t m)
{
    bool below = a->version == NC_ALLREDUCE_RAB && j->nodes.count == 1;
    int way = below ? (int) nc_select_reduce(&j->situation, 1, false, NULL) : own_reduce(j, m);

    return (struct halves){.up = reduces[way],
                           .down = {.tree = {NC_TREE_FLAT, 2}, .notice = a->notice},
                           .levels = j->data.groups.levels - below};
}

/* rab on one node: the leaders all combine what all of them have. */
static void add_leaders(stages *s, const struct job *j, uint64_t m)
{
    int top = j->data.groups.levels - 1;
    double seconds = combine_all(j, top, largest_group(&j->data.groups, top), m);

    nc_pipeline_push(s, (struct nc_model_link){seconds, 0}, (struct nc_model_link){seconds, 0});
}

/* rb and rab on any number of nodes, by chunks: up, among the members of the highest level, down.
 * On one node as one chunk. */
static struct predicted up_and_down(const struct job *j, const struct algorithm *a, uint64_t m)
{
    static const struct nc_group_algorithm by_model = {NC_KNOMIAL, 0};
    bool rab = a->version == NC_ALLREDUCE_RAB;
    int top = j->nodes.groups.levels - 1;
    struct predicted p = {.chunk = j->nodes.count > 1 ? chunk_of(j, &by_model, m) : 0};
    uint64_t chunk = p.chunk ? p.chunk : m ? m : 1, piece = m < chunk ? m : chunk;
    struct halves inside = halves_of(j, a, piece);
    stages all = {0}, up = {0}, down = {0};

    p.fragment = fragment_of(j, &inside.down, piece);
    if (j->here.ranks > 1) {
        add_up(&up, j, &inside.up, inside.levels);
        add_node(&all, &up, piece, fragment_of(j, &inside.up, piece));
        add_down(&down, j, &inside.down, inside.levels);
        add_node(&all, &down, piece, p.fragment);
        if (rab && !p.chunk)
            add_leaders(&all, j, piece);
    }
    if (p.chunk) {
        add_levels(&all, j, &by_model, m, rab, true);
        if (rab)
            add_level(&all, j, top, chosen(j, top, m, true, &a->between), true);
        add_levels(&all, j, &by_model, m, rab, false);
    }
    p.seconds = nc_pipeline_seconds(&all, m, chunk);
    return p;
}

/* Blocks of m bytes: a root writes or reads those of its node in turn, and sends or receives those
 * of each other node together; in an allgather each rank copies all blocks. */
static struct predicted blocks(const struct job *j, uint64_t m, bool all)
{
    struct nc_model_link far = predict_line(j, j->data.groups.levels - 1), link = {0, 0};
    int ranks = j->here.ranks, nodes = j->nodes.count, others = ranks - 1;
    double seconds;

    if (nodes > 1)
        link = job_link(j, j->nodes.groups.levels - 1);
    if (all)
        others = j->cluster.locations.ranks - 1;
    seconds = (nodes - 1) * nc_model_message(link, m * (uint64_t) ranks);
    if (ranks > 1)
        seconds += nc_model_message(predict_own_copy(j), m) + others * nc_model_message(far, m);
    return (struct predicted){.fragment = predict_fragment(j, m), .seconds = seconds};
}

static struct predicted predict(const struct job *j, const struct algorithm *a)
{
    const struct options *o = j->options;

    switch (o->collective) {
        case BCAST:
        case REDUCE:
            return one_way(j, a, o->message, o->collective == REDUCE);
        case ALLREDUCE:
            return a->version == NC_ALLREDUCE_SYMMETRIC ? symmetric(j, o->message)
                   : a->version == NC_ALLREDUCE_SLICED  ? sliced(j, o->message)
                                                        : up_and_down(j, a, o->message);
        default:
            return blocks(j, o->message, o->collective == ALLGATHER || o->collective == ALLGATHERV);
    }
}

/* ---- rows ---- */

void predict_row(const struct job *j, struct table *t, const char *between, const char *inside,
                 const struct predicted *p, bool is_auto)
{
    table_text(t, between);
    table_text(t, inside);
    table_number(t, (double) p->fragment);
    table_number(t, p->chunk ? (double) p->chunk : (double) NAN);
    table_number(t, 1e6 * (j->options->call + p->seconds));
    table_text(t, is_auto ? "auto" : "");
}

static void add_row(const struct job *j, struct table *t, const char *above, const char *inside,
                    const struct algorithm *a, bool is_auto)
{
    struct predicted p = predict(j, a);

    predict_row(j, t, above, inside, &p, is_auto);
}

#define LENGTH(list) ((int) (sizeof(list) / sizeof *(list)))

/* A tree as the settings call it. */
static void append_tree(char name[static NAME], const struct nc_tree_spec *tree)
{
    size_t length = strlen(name);

    snprintf(name + length, NAME - length, job_has_degree(tree->kind) ? "%s/%d" : "%s",
             job_trees[tree->kind], tree->k);
}

/* An algorithm inside a node of Bcast or Reduce. */
static void name_inside(const struct job *j, char name[static NAME], const struct algorithm *a)
{
    bool notices = j->options->collective == BCAST && a->tree.kind == NC_TREE_FLAT;

    strcpy(name, notices ? "flat, notice " : "");
    if (a->chain_all)
        strcpy(name, "chain_all");
    else
        append_tree(name, notices ? &a->notice : &a->tree);
}

static const struct between {
    const char *name;
    struct nc_group_algorithm by;
} scatters = {"sag", {NC_SAG, 2}}, halving = {"rsg", {NC_RSG, 2}},
  exchanges[] = {{"rd", {NC_RD, 2}}, {"rsag", {NC_RSAG, 2}}, {"ring", {NC_RING, 2}}};

static const struct nc_tree_spec trees[] = {{NC_TREE_FLAT, 2},
                                            {NC_TREE_KARY, 2},
                                            {NC_TREE_BALANCED, 2},
                                            {NC_TREE_KNOMIAL, 2},
                                            {NC_TREE_CHAIN, 2}};

static void add_between(const struct job *j, struct table *t, const char *inside,
                        struct algorithm a, const struct between *between)
{
    a.between = between->by;
    add_row(j, t, between->name, inside, &a, false);
}

static void add_tree_between(const struct job *j, struct table *t, const char *inside,
                             struct algorithm a, const struct nc_tree_spec *tree)
{
    char name[NAME] = "";

    append_tree(name, tree);
    a.between = (struct nc_group_algorithm){(enum nc_algorithm) tree->kind, tree->k};
    add_row(j, t, name, inside, &a, false);
}

static void add_inside(const struct job *j, struct table *t, const struct algorithm *a, bool own)
{
    char name[NAME];

    name_inside(j, name, a);
    add_row(j, t, j->nodes.count > 1 ? "auto" : "-", name, a, own);
}

/* The rows that --degree adds inside a node: trees, and those that notify, of that degree. */
static void add_degree_inside(const struct job *j, struct table *t)
{
    for (int i = 0; i < LENGTH(trees); i++) {
        struct nc_tree_spec tree = {trees[i].kind, j->options->degree};

        if (!job_has_degree(tree.kind))
            continue;
        if (j->options->collective == BCAST &&
            !(tree.kind == NC_TREE_KNOMIAL && tree.k == NOTICE_DEGREE)) /* which has a row */
            add_inside(j, t,
                       &(struct algorithm){
                           .between = {NC_KNOMIAL, 0}, .tree = {NC_TREE_FLAT, 2}, .notice = tree},
                       false);
        add_inside(j, t,
                   &(struct algorithm){
                       .between = {NC_KNOMIAL, 0}, .tree = tree, .notice = {NC_TREE_FLAT, 2}},
                   false);
    }
}

/* And between nodes. */
static void add_degree_between(const struct job *j, struct table *t, const char *inside,
                               const struct algorithm *a)
{
    for (int i = 0; i < LENGTH(trees); i++) {
        if (job_has_degree(trees[i].kind))
            add_tree_between(j, t, inside, *a,
                             &(struct nc_tree_spec){trees[i].kind, j->options->degree});
    }
}

/* Inside a node each of n ways, between nodes what the library chooses; then, inside a node what it
 * chooses, and between nodes each way. */
static void add_one_way(const struct job *j, struct table *t, const struct algorithm *list, int n,
                        int own, const struct between *other)
{
    bool degree = j->options->degree > 2;
    char inside[NAME];

    for (int i = 0; i < n; i++)
        add_inside(j, t, &list[i], i == own);
    if (degree)
        add_degree_inside(j, t);
    if (j->nodes.count == 1)
        return;
    name_inside(j, inside, &list[own]);
    for (int i = 0; i < LENGTH(trees); i++)
        add_tree_between(j, t, inside, list[own], &trees[i]);
    if (degree)
        add_degree_between(j, t, inside, &list[own]);
    add_between(j, t, inside, list[own], other);
}

static void add_allreduce(const struct job *j, struct table *t)
{
    static const char *const names[] = {[NC_ALLREDUCE_SYMMETRIC] = "symmetric",
                                        [NC_ALLREDUCE_SLICED] = "sliced",
                                        [NC_ALLREDUCE_RB] = "rb",
                                        [NC_ALLREDUCE_RAB] = "rab"};
    struct algorithm a = {.between = {NC_RD, 0}, .notice = bcasts[own_bcast(j)].notice};
    bool several = j->nodes.count > 1, sliceable = job_rows(j) > 0;
    uint64_t m = j->options->message;
    enum nc_allreduce_version own = nc_select_possible(
        nc_select_allreduce(&j->situation, m, m <= NC_INLINE_BYTES, true, NULL), sliceable, true);

    if (several)
        own = NC_ALLREDUCE_RAB;
    for (enum nc_allreduce_version v = several ? NC_ALLREDUCE_RB : 0; v < NC_ALLREDUCE_VERSIONS;
         v++) {
        a.version = v;
        if (v != NC_ALLREDUCE_SLICED || sliceable)
            add_row(j, t, several ? "auto" : "-", names[v], &a, v == own);
    }
    for (int i = 0; i < LENGTH(exchanges) && several; i++) /* of rab, the last version */
        add_between(j, t, names[NC_ALLREDUCE_RAB], a, &exchanges[i]);
}

static void add_reduce(const struct job *j, struct table *t)
{
    uint64_t m = j->options->message, chunk = m;

    if (j->nodes.count > 1)
        chunk = chunk_of(j, &reduces[0].between, m);
    m = chunk < m ? chunk : m;
    add_one_way(j, t, reduces, LENGTH(reduces), own_reduce(j, m), &halving);
}

static void add_rows(const struct job *j, struct table *t)
{
    switch (j->options->collective) {
        case BCAST:
            add_one_way(j, t, bcasts, LENGTH(bcasts), own_bcast(j), &scatters);
            break;
        case REDUCE:
            add_reduce(j, t);
            break;
        case ALLREDUCE:
            add_allreduce(j, t);
            break;
        case ALLTOALL:
        case ALLTOALLV:
        case ALLTOALLW:
            predict_alltoall(j, t);
            break;
        case REDUCE_SCATTER:
        case REDUCE_SCATTER_BLOCK:
            predict_reduce_scatter(j, t);
            break;
        case SCAN:
        case EXSCAN:
            predict_scan(j, t);
            break;
        default:
            add_row(j, t, "-", "one way", &(struct algorithm){.chain_all = false}, true);
    }
}

void predict_fill(const struct options *o, struct table *t)
{
    static const char *const columns[] = {"between", "inside", "fragment", "chunk", "us", "choice"};
    struct job j;

    if (o->collective == BARRIERS) {
        barrier_fill(o, t);
        return;
    }
    job_make(&j, o);
    table_fact(t, "collective", "%s", collective_names[o->collective]);
    table_fact_number(t, "bytes", (double) o->message);
    job_describe(&j, t);
    for (int i = 0; i < 6; i++)
        table_column(t, columns[i], i == 4);
    add_rows(&j, t);
    table_draw_as(t, &(struct table_picture){.bars = true,
                                             .title = "Times by the formulas of pipelines",
                                             .y = "microseconds"});
}
