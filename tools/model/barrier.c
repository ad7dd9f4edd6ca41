/* The command barrier: goes through each barrier signal by signal, on the machine that the options
 * describe, and counts signals, crossings and time. See model.h.
 *
 * The trees are those that shm/nc_barrier.c makes. What the other three barriers do (central,
 * combining, dissemination) is repeated here; PROTOCOLS.md, section 8, has it, and its table of
 * crossings, which the code itself has counted (test/shm/crossings), is the test. All ranks arrive
 * at once; where they are counted at a counter, in the order of ranks.
 *
 * Time passes where a rank reads a line that another one has written, as in test/sim: until it is
 * here, and while other ranks fetch the same line. A rank that need not wait asks for the next line
 * before the one before is here. */

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arguments.h"
#include "model.h"
#include "shm/nc_barrier.h"

enum {
    OUTSTANDING = 10, /* lines that a core fetches at a time, as in test/sim */
    MOST_RANKS = 4096 /* the trees are made for each rank anew */
};

struct line {
    int writer;
    double written, free; /* seconds: since when it is there, and can be fetched */
    int chain;            /* crossings in a row before it was written */
};

struct rank {
    double now, asks; /* seconds: its time, and when it can ask for another line */
    int chain;        /* crossings in a row, each of which waited for the one before */
};

struct count {
    long signals;            /* lines read */
    long crossings, between; /* of NUMA nodes; of packages */
};

struct course {
    const struct job *job;
    int ranks;
    struct rank *rank; /* [ranks] */
    struct count count;
};

/* ---- lines ---- */

static int unit_of(const struct course *c, int rank, int level)
{
    return c->job->here.unit[(size_t) rank * NC_ROUTE_LEVELS + (size_t) level];
}

/* The lowest level with both ranks in one unit. */
static enum nc_level between(const struct course *c, int a, int b)
{
    for (int level = NC_LEVEL_L2; level < NC_LEVEL_NODE; level++) {
        if (unit_of(c, a, level) >= 0 && unit_of(c, a, level) == unit_of(c, b, level))
            return (enum nc_level) level;
    }
    return NC_LEVEL_NODE;
}

/* Whether two ranks are in different units of a level that both are known to be in. */
static bool apart(const struct course *c, int a, int b, enum nc_level level)
{
    return unit_of(c, a, level) >= 0 && unit_of(c, b, level) >= 0 &&
           unit_of(c, a, level) != unit_of(c, b, level);
}

static struct line written_by(const struct course *c, int rank)
{
    const struct rank *r = &c->rank[rank];

    return (struct line){.writer = rank, .written = r->now, .chain = r->chain};
}

static void read_line(struct course *c, int rank, struct line *line)
{
    const struct options *o = c->job->options;
    struct rank *r = &c->rank[rank];
    double far = o->lines.link[between(c, rank, line->writer)].alpha;
    double asked = fmax(r->asks, fmax(line->written, line->free));
    bool waits = line->written > r->now, crosses = apart(c, rank, line->writer, NC_LEVEL_NUMA);

    r->now = fmax(r->now, asked + far);
    r->asks = waits ? r->now : asked + far / OUTSTANDING;
    line->free = asked + o->turn;
    r->chain = line->chain + crosses > r->chain ? line->chain + crosses : r->chain;
    c->count.signals++;
    c->count.crossings += crosses;
    c->count.between += apart(c, rank, line->writer, NC_LEVEL_PACKAGE);
}

/* All ranks but the writer read a line. */
static void read_by_all(struct course *c, struct line line)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        if (rank != line.writer)
            read_line(c, rank, &line);
    }
}

/* ---- the barriers ---- */

/* Those on trees. A parent has a lower rank than its children (nc_tree.h). */
static void go_along_trees(struct course *c, const struct nc_barrier_algorithm *algorithm,
                           const struct nc_barrier_levels *levels)
{
    void *memory = allocate(nc_barrier_private_bytes(c->ranks));
    struct nc_barrier b = {.ranks = c->ranks};

    for (b.rank = c->ranks - 1; b.rank >= 0; b.rank--) {
        nc_barrier_shape(&b, memory, algorithm, levels);
        for (int i = b.arrival.children - 1; i >= 0; i--) {
            struct line line = written_by(c, b.arrival.child[i]);
            read_line(c, b.rank, &line);
        }
    }
    if (b.gate)
        read_by_all(c, written_by(c, 0));
    for (b.rank = 0; b.rank < c->ranks && !b.gate; b.rank++) {
        nc_barrier_shape(&b, memory, algorithm, levels);
        for (int i = 0; i < b.release.children; i++) {
            struct line line = written_by(c, b.rank);
            read_line(c, b.release.child[i], &line);
        }
    }
    free(memory);
}

/* The counter goes from rank to rank; the last one opens the gate. */
static void go_central(struct course *c)
{
    struct line counter = {.writer = c->ranks - 1};

    for (int rank = 0; rank < c->ranks; rank++) {
        read_line(c, rank, &counter);
        counter = written_by(c, rank);
    }
    read_by_all(c, written_by(c, c->ranks - 1));
}

/* A node of the tree of counters: who arrives there first, and who second and climbs on. */
struct meeting {
    int first, second;
};

/* Two ranks meet at a node's counter. Returns who climbs on. */
static int meet(struct course *c, struct meeting *m, int left, int right)
{
    bool later = c->rank[left].now > c->rank[right].now;
    struct line counter;

    *m = later ? (struct meeting){right, left} : (struct meeting){left, right};
    counter = (struct line){.writer = m->second}; /* of the barrier before */
    read_line(c, m->first, &counter);
    counter = written_by(c, m->first);
    read_line(c, m->second, &counter);
    return m->second;
}

/* Node low + half joins `half` ranks to as many, as far as there are any. Up the nodes; then down,
 * where the second opens the gate for the first. */
static void go_combining(struct course *c)
{
    struct meeting *node = allocate(sizeof *node * (size_t) c->ranks);
    int *climber = allocate(sizeof *climber * (size_t) c->ranks), half = 1;

    for (int rank = 0; rank < c->ranks; rank++)
        climber[rank] = rank;
    for (; half < c->ranks; half *= 2) {
        for (int low = 0; low + half < c->ranks; low += 2 * half)
            climber[low] = meet(c, &node[low + half], climber[low], climber[low + half]);
    }
    while ((half /= 2) > 0) {
        for (int at = half; at < c->ranks; at += 2 * half) {
            struct line gate = written_by(c, node[at].second);
            read_line(c, node[at].first, &gate);
        }
    }
    free(climber);
    free(node);
}

static void go_dissemination(struct course *c)
{
    struct line *line = allocate(sizeof *line * (size_t) c->ranks);

    for (int distance = 1; distance < c->ranks; distance *= 2) {
        for (int rank = 0; rank < c->ranks; rank++)
            line[rank] = written_by(c, rank);
        for (int rank = 0; rank < c->ranks; rank++)
            read_line(c, rank, &line[(rank - distance + c->ranks) % c->ranks]);
    }
    free(line);
}

/* ---- rows ---- */

struct variant {
    const char *name;
    enum nc_barrier_kind kind;
    unsigned levels; /* of hierarchical; 0: as the library does by itself */
    bool flag;
};

enum { NUMA = 1 << NC_LEVEL_NUMA, PACKAGE = 1 << NC_LEVEL_PACKAGE };

static const struct variant variants[] = {
#define ROW(NAME, name) {#name, NC_BARRIER_##NAME, 0, false},
    NC_BARRIERS(ROW)
#undef ROW
    /* those of Kurnosov, Tokmasheva 2022, down the groups or, as there, by one flag */
    {"topo-numa", NC_BARRIER_HIERARCHICAL, NUMA, false},
    {"topo-numa-package", NC_BARRIER_HIERARCHICAL, NUMA | PACKAGE, false},
    {"topo-package", NC_BARRIER_HIERARCHICAL, PACKAGE, false},
    {"topo-numa, flag", NC_BARRIER_HIERARCHICAL, NUMA, true},
    {"topo-numa-package, flag", NC_BARRIER_HIERARCHICAL, NUMA | PACKAGE, true},
    {"topo-package, flag", NC_BARRIER_HIERARCHICAL, PACKAGE, true}};

static void go(struct course *c, const struct variant *v)
{
    static const struct nc_tree_spec inside[NC_ROUTE_LEVELS] = {{NC_TREE_FLAT, 2},
                                                                {NC_TREE_FLAT, 2},
                                                                {NC_TREE_FLAT, 2},
                                                                {NC_TREE_FLAT, 2},
                                                                {NC_TREE_FLAT, 2}};
    struct nc_levels groups = c->job->signals;
    struct nc_barrier_levels levels = {.groups = &groups.groups, .inside = inside, .flag = v->flag};

    if (v->levels)
        job_group(c->job, v->levels, &groups);
    if (v->kind == NC_BARRIER_CENTRAL)
        go_central(c);
    else if (v->kind == NC_BARRIER_COMBINING)
        go_combining(c);
    else if (v->kind == NC_BARRIER_DISSEMINATION)
        go_dissemination(c);
    else
        go_along_trees(c, &nc_barrier_algorithms[v->kind], &levels);
}

/* Rounds of the dissemination among the leaders of the nodes. */
static int rounds_between(const struct job *j)
{
    int rounds = 0;

    while (j->nodes.count > 1 << rounds)
        rounds++;
    return rounds;
}

static void add_row(struct course *c, const struct variant *v, struct table *t)
{
    const struct job *j = c->job;
    int rounds = rounds_between(j), chain = 0;
    double seconds = 0;

    for (int rank = 0; rank < c->ranks; rank++)
        c->rank[rank] = (struct rank){0};
    c->count = (struct count){0};
    go(c, v);
    for (int rank = 0; rank < c->ranks; rank++) {
        seconds = fmax(seconds, c->rank[rank].now);
        chain = c->rank[rank].chain > chain ? c->rank[rank].chain : chain;
    }
    if (rounds)
        seconds += rounds * job_link(j, j->nodes.groups.levels - 1).alpha;
    table_text(t, v->name);
    table_number(t, (double) c->count.signals);
    table_number(t, (double) c->count.crossings);
    table_number(t, (double) c->count.between);
    table_number(t, chain);
    table_number(t, 1e6 * seconds);
    table_text(t,
               v->levels == 0 && v->kind == nc_select_barrier(&j->situation, NULL) ? "auto" : "");
}

void barrier_fill(const struct options *o, struct table *t)
{
    static const char *const columns[] = {"barrier", "signals", "crossings", "package_crossings",
                                          "chain",   "us",      "choice"};
    struct course c;
    struct job j;

    job_make(&j, o);
    if (j.here.ranks > MOST_RANKS)
        errx(WRONG_ARGUMENTS, "-n: must be at most %d on a node, there are %d", MOST_RANKS,
             j.here.ranks);
    c = (struct course){.job = &j, .ranks = j.here.ranks};
    c.rank = allocate(sizeof *c.rank * (size_t) c.ranks);
    job_describe(&j, t);
    table_fact_number(t, "messages_between_nodes", (double) j.nodes.count * rounds_between(&j));
    for (int i = 0; i < 7; i++)
        table_column(t, columns[i], i == 5);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        add_row(&c, &variants[i], t);
    table_draw_as(t, &(struct table_picture){
                         .bars = true, .title = "Barriers, signal by signal", .y = "microseconds"});
}
