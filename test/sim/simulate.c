/* Simulates collectives inside a node on a machine that is described (machine.h).
 *
 *   simulate [OPTION ..] [COLLECTIVE ..]   tables: time, crossings, busiest rank
 *   simulate --ranking    what is fastest where, and what the rules of `auto` choose
 *   simulate --check      TAP: what the rules and doc/design-notes.md promise
 *
 *     COLLECTIVE                            bcast, reduce, allreduce, allgather, alltoall,
 *                                           reduce_scatter, scan, exscan, barrier
 *
 *     --machine=PACKAGES:NUMA_NODES:CORES   2:2:16
 *     --ranks=N                             all cores
 *     --bytes=N                             1048576
 *     --mapping=core|numa                   ranks fill NUMA nodes, or are dealt out over them
 *     --farther=FACTOR                      what is beyond a NUMA node takes so many times as long
 *
 *     --memory=GB/S                         bandwidth of a NUMA node's memory, 80
 *
 * doc/design-notes.md, "Rules of auto", says where the constants are from, and which are assumed. A
 * ranking counts only if it is the same with half and with twice of what is beyond a NUMA node
 * (--farther). */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "core/nc_select.h"
#include "shm/nc_reduce.h"
#include "../tap.h"

static struct sim_machine usual = {.line = {100e-9, 200e-9, 400e-9},
                                   .turn = 20e-9,
                                   .copy = 10e9,
                                   .memory = 80e9,
                                   .link = {40e9, 20e9}};

static struct sim_setting setting_of(int packages, int numa_nodes, int cores, size_t bytes,
                                     double farther)
{
    struct sim_setting s = {
        .machine = usual, .ranks = packages * numa_nodes * cores, .bytes = bytes};

    s.machine.packages = packages;
    s.machine.numa_nodes = numa_nodes;
    s.machine.cores = cores;
    for (int i = 0; i < 2; i++) {
        s.machine.line[1 + i] *= farther;
        s.machine.link[i] /= farther;
    }
    return s;
}

static struct sim_cost cost_of(const struct sim_setting *s, const struct sim_algorithm *a)
{
    struct sim_cost cost;

    if (!sim_algorithm_run(s, a, &cost)) {
        fprintf(stderr, "simulate: %s, %s, %d ranks, %zu bytes: does not end\n",
                sim_collective_names[a->collective], a->name, s->ranks, s->bytes);
        exit(1);
    }
    return cost;
}

/* ---- tables ---- */

static void print_table(const struct sim_setting *s, enum sim_collective collective)
{
    printf("%s, %d ranks, %zu bytes\n", sim_collective_names[collective], s->ranks,
           collective == SIM_BARRIER ? 0 : s->bytes);
    printf("  %-24s %10s %8s %6s %12s %8s\n", "", "us", "lines", "chain", "bytes across",
           "busiest");
    for (const struct sim_algorithm *a = sim_algorithms; a->name; a++) {
        struct sim_cost c;
        if (a->collective != collective)
            continue;
        c = cost_of(s, a);
        printf("  %-24s %10.2f %8lu %6d %12.2f %8.2f\n", a->name, c.seconds * 1e6,
               (unsigned long) c.lines_crossed, c.chain,
               (double) c.bytes_crossed / (double) s->bytes,
               (double) c.busiest / (double) s->bytes);
        fflush(stdout);
    }
}

/* ---- what is fastest, and what the rules choose ---- */

/* The algorithm that the library takes by itself: of Bcast and Allgather the first. */
static const struct sim_algorithm *chosen(const struct sim_setting *s,
                                          enum sim_collective collective)
{
    int numa_nodes = s->machine.packages * s->machine.numa_nodes;
    const struct nc_situation here = {.ranks = s->ranks, .numa_nodes = numa_nodes > 1};
    bool inlined = s->bytes <= NC_INLINE_BYTES;
    int version = collective == SIM_REDUCE ? (int) nc_select_reduce(&here, s->bytes, inlined, NULL)
                  : collective == SIM_ALLREDUCE
                      ? (int) nc_select_allreduce(&here, s->bytes, inlined, true, NULL)
                  : collective == SIM_SCAN || collective == SIM_EXSCAN
                      ? (int) nc_select_scan(&here, s->bytes, inlined, NULL)
                  : collective == SIM_BARRIER ? (int) nc_select_barrier(&here, NULL)
                  : collective == SIM_ALLTOALL
                      ? nc_select_alltoall_rows(numa_nodes, s->ranks / numa_nodes, s->bytes, NULL)
                  : collective == SIM_REDUCE_SCATTER ? here.numa_nodes
                                                     : 0;
    const struct sim_algorithm *a = sim_algorithms;

    while (a->collective != collective || a->version != version)
        a++;
    return a;
}

struct ranking {
    const struct sim_algorithm *best, *rule;
    double best_seconds, rule_seconds;
};

/* What takes long to simulate, and to make: long messages of which every rank reads all ranks'. */
static bool is_hopeless(const struct sim_setting *s, const struct sim_algorithm *a)
{
    size_t all = s->bytes * (size_t) s->ranks;

    switch (a->collective) {
        case SIM_BCAST:
            return a->version > 0 && all > 4 << 20;
        case SIM_ALLREDUCE:
            return a->version == NC_ALLREDUCE_SYMMETRIC && all > 1 << 20;
        case SIM_ALLGATHER:
            return all > 4 << 20;
        case SIM_ALLTOALL:
        case SIM_REDUCE_SCATTER:
            return all > 1 << 20;
        default:
            return false;
    }
}

static struct ranking rank(const struct sim_setting *s, enum sim_collective collective)
{
    struct ranking r = {.rule = chosen(s, collective)};

    for (const struct sim_algorithm *a = sim_algorithms; a->name; a++) {
        double seconds;
        if (a->collective != collective || is_hopeless(s, a))
            continue;
        seconds = cost_of(s, a).seconds;
        if (a == r.rule)
            r.rule_seconds = seconds;
        if (!r.best || seconds < r.best_seconds) {
            r.best = a;
            r.best_seconds = seconds;
        }
    }
    return r;
}

static const struct {
    int packages, numa_nodes, cores;
} machines[] = {{1, 1, 4}, {1, 1, 8}, {1, 1, 16}, {1, 1, 32}, {2, 1, 8}, {2, 2, 4}, {2, 2, 16}};
static const size_t sizes[] = {8, 64, 1024, 16384, 131072, 1048576};
static const double farther[] = {0.5, 1, 2};
enum {
    MACHINES = sizeof machines / sizeof *machines,
    SIZES = sizeof sizes / sizeof *sizes,
    FACTORS = 3
};

/* One line: the best algorithm, or `undecided` if that depends on how far things are; and the time
 * of what the rules choose over the best, the worst of the factors. Returns that. */
static double print_ranking(int m, size_t bytes, enum sim_collective collective)
{
    struct ranking r[FACTORS];
    bool decided = true;
    double worst = 0;

    for (int f = 0; f < FACTORS; f++) {
        struct sim_setting s = setting_of(machines[m].packages, machines[m].numa_nodes,
                                          machines[m].cores, bytes, farther[f]);
        r[f] = rank(&s, collective);
        decided = decided && r[f].best == r[0].best;
        if (worst < r[f].rule_seconds / r[f].best_seconds)
            worst = r[f].rule_seconds / r[f].best_seconds;
    }
    printf("# %-10s %d:%d:%-3d %8zu  best %-24s rule %-24s %6.2f\n",
           sim_collective_names[collective], machines[m].packages, machines[m].numa_nodes,
           machines[m].cores, collective == SIM_BARRIER ? 0 : bytes,
           decided ? r[0].best->name : "undecided", r[0].rule->name, worst);
    fflush(stdout);
    return worst;
}

/* All of them. Returns the worst ratio of a collective's rule. */
static double print_rankings(enum sim_collective collective)
{
    double worst = 0;

    for (int m = 0; m < MACHINES; m++) {
        for (int i = 0; i < (collective == SIM_BARRIER ? 1 : SIZES); i++) {
            struct sim_setting s = setting_of(machines[m].packages, machines[m].numa_nodes,
                                              machines[m].cores, sizes[i], 1);
            double one;
            if (is_hopeless(&s, chosen(&s, collective)))
                continue;
            one = print_ranking(m, sizes[i], collective);
            worst = one > worst ? one : worst;
        }
    }
    return worst;
}

/* ---- what is asserted ---- */

static const struct sim_algorithm *find(enum sim_collective collective, const char *name)
{
    const struct sim_algorithm *a = sim_algorithms;

    while (a->name && (a->collective != collective || strcmp(a->name, name) != 0))
        a++;
    if (!a->name)
        abort();
    return a;
}

/* Messages of 1 MiB of 64 ranks on 4 NUMA nodes: what the busiest rank reads. */
static void check_busiest(void)
{
    struct sim_setting s = setting_of(2, 2, 16, 1 << 20, 1);
    struct ranking r = rank(&s, SIM_REDUCE);
    double m = (double) s.bytes, all = (double) cost_of(&s, chosen(&s, SIM_ALLREDUCE)).busiest / m,
           one = (double) cost_of(&s, r.rule).busiest / m;

    tap_check(all <= 2.2, "allreduce, 64 ranks: the busiest rank reads %.2f messages", all);
    tap_check(one <= 1.3, "reduce, 64 ranks: the busiest rank reads %.2f messages", one);
    tap_check(r.rule_seconds <= 1.5 * r.best_seconds, "... in %.2f of the time of the best, %s",
              r.rule_seconds / r.best_seconds, r.best->name);
}

/* Short scans of 64 ranks on 4 NUMA nodes: what crosses. */
static void check_scans(void)
{
    struct sim_setting s = setting_of(2, 2, 16, 32, 1);

    for (int c = SIM_SCAN; c <= SIM_EXSCAN; c++) {
        struct sim_cost cost = cost_of(&s, chosen(&s, (enum sim_collective) c));
        tap_check(cost.lines_crossed == 6 && cost.chain == 1,
                  "%s, 64 ranks: %lu lines cross, in a chain of %d", sim_collective_names[c],
                  (unsigned long) cost.lines_crossed, cost.chain);
    }
}

/* Blocks of 8 bytes between 64 ranks on 4 NUMA nodes: a quarter of the lines that would cross if
 * each pair of ranks on two of them had one. */
static void check_short_alltoall(void)
{
    struct sim_setting s = setting_of(2, 2, 16, 8, 1);
    struct sim_cost cost = cost_of(&s, chosen(&s, SIM_ALLTOALL));

    tap_check(cost.lines_crossed <= 768, "alltoall, 64 ranks: %lu lines cross",
              (unsigned long) cost.lines_crossed);
}

/* The barriers of 128 ranks, as in Kurnosov, Tokmasheva 2022: topo-NUMA (`hierarchical`) is among
 * the fastest, faster than with packages or with one flag; linear ones are the slowest. */
static void check_barriers(void)
{
    for (int f = 0; f < FACTORS; f++) {
        struct sim_setting s = setting_of(2, 2, 32, 8, farther[f]);
        struct sim_cost c = cost_of(&s, find(SIM_BARRIER, "hierarchical"));
        struct ranking r = rank(&s, SIM_BARRIER);
        double others[] = {cost_of(&s, find(SIM_BARRIER, "hierarchical, package")).seconds,
                           cost_of(&s, find(SIM_BARRIER, "hierarchical, flag")).seconds,
                           cost_of(&s, find(SIM_BARRIER, "central")).seconds,
                           cost_of(&s, find(SIM_BARRIER, "flat")).seconds};
        bool fastest = true;

        for (int i = 0; i < 4; i++)
            fastest = fastest && c.seconds < others[i];
        tap_check(c.chain == 2,
                  "barrier, 128 ranks, %g times as far: the longest chain has %d crossings",
                  farther[f], c.chain);
        tap_check(
            fastest && c.seconds <= 1.5 * r.best_seconds,
            "... it is faster than with packages, with a flag, central and flat, and takes %.2f of "
            "the best, %s",
            c.seconds / r.best_seconds, r.best->name);
    }
}

/* 256 and 512 ranks on 8 NUMA nodes: what crosses is counted by NUMA nodes, whatever the number of
 * ranks. All but one of them arrive and are released, each by a line; of a message that is one line
 * each gets one. */
static void check_many(void)
{
    enum { NUMA_NODES = 8 };
    static const int cores[] = {32, 64};

    for (int i = 0; i < 2; i++) {
        struct sim_setting s = setting_of(2, NUMA_NODES / 2, cores[i], 8, 1);
        struct sim_cost barrier = cost_of(&s, chosen(&s, SIM_BARRIER)),
                        bcast = cost_of(&s, chosen(&s, SIM_BCAST));

        tap_check(barrier.lines_crossed == 2 * (NUMA_NODES - 1) && barrier.chain == 2,
                  "barrier, %d ranks: %lu lines cross, in a chain of %d", s.ranks,
                  (unsigned long) barrier.lines_crossed, barrier.chain);
        tap_check(bcast.lines_crossed == NUMA_NODES - 1 && bcast.chain == 1,
                  "bcast, %d ranks, 8 bytes: %lu lines cross, in a chain of %d", s.ranks,
                  (unsigned long) bcast.lines_crossed, bcast.chain);
    }
}

/* What the rules may lose by the model, on any of the machines, whatever is how far. */
static void check_rules(void)
{
    static const double most[] = {
        [SIM_BCAST] = 1.5,
        [SIM_REDUCE] = 1.5,
        [SIM_ALLREDUCE] = 1.5,
        [SIM_ALLGATHER] = 1.1,
        /* near the sizes where the faster way changes, which depends on how far things are */
        [SIM_ALLTOALL] = 1.2,
        [SIM_REDUCE_SCATTER] = 1.3,
        /* a radix of 2 gains what it gains here only if an operation costs nothing, and if lines
         * that are read side by side come one after the other */
        [SIM_SCAN] = 1.6,
        [SIM_EXSCAN] = 1.6,
        /* on one NUMA node of many cores the rule is by what the paper has measured there, where
         * lines of all pairs get into each other's way, which is not simulated */
        [SIM_BARRIER] = 2.5};

    for (int c = 0; c < SIM_COLLECTIVES; c++) {
        double worst = print_rankings((enum sim_collective) c);
        tap_check(worst <= most[c], "the rules of %s choose what takes at most %.2f of the best",
                  sim_collective_names[c], worst);
    }
}

/* ---- the command line ---- */

static void usage(const char *what)
{
    fprintf(stderr,
            "simulate: %s; usage: simulate [--ranking | --check] [--machine=P:N:C] "
            "[--ranks=N] [--bytes=N] [--mapping=core|numa] [--farther=FACTOR] "
            "[--memory=GB/S] [COLLECTIVE ..]\n",
            what);
    exit(2);
}

static enum sim_collective collective_named(const char *name)
{
    int c = 0;

    while (c < SIM_COLLECTIVES && strcmp(name, sim_collective_names[c]) != 0)
        c++;
    return (enum sim_collective) c;
}

/* Of the collectives with these names; without names of all. */
static void tables(const struct sim_setting *s, int names, char **name)
{
    for (int c = 0; c < SIM_COLLECTIVES && names == 0; c++)
        print_table(s, (enum sim_collective) c);
    for (int i = 0; i < names; i++)
        print_table(s, collective_named(name[i]));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"machine", required_argument, NULL, 'm'},
                                            {"ranks", required_argument, NULL, 'n'},
                                            {"bytes", required_argument, NULL, 'b'},
                                            {"mapping", required_argument, NULL, 'p'},
                                            {"farther", required_argument, NULL, 'f'},
                                            {"memory", required_argument, NULL, 'y'},
                                            {"ranking", no_argument, NULL, 'r'},
                                            {"check", no_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    int packages = 2, numa_nodes = 2, cores = 16, ranks = 0, by_node = 0, mode = 0;
    size_t bytes = 1 << 20;
    double factor = 1;
    struct sim_setting s;

    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'm' && sscanf(optarg, "%d:%d:%d", &packages, &numa_nodes, &cores) != 3)
            usage("--machine: must be three numbers");
        else if (option == 'n' && (ranks = atoi(optarg)) < 2)
            usage("--ranks: must be 2 or more");
        else if (option == 'b' && (bytes = strtoul(optarg, NULL, 10)) < sizeof(double))
            usage("--bytes: must be 8 or more");
        else if (option == 'f' && (factor = atof(optarg)) <= 0)
            usage("--farther: must be positive");
        else if (option == 'y' && (usual.memory = atof(optarg) * 1e9) <= 0)
            usage("--memory: must be positive");
        else if (option == 'p' && !(by_node = !strcmp(optarg, "numa")) && strcmp(optarg, "core"))
            usage("--mapping: must be core or numa");
        else if (option == 'r' || option == 'c')
            mode = option;
        else if (option == '?')
            usage("no such option");
    }
    for (int i = optind; i < argc; i++) {
        if (collective_named(argv[i]) == SIM_COLLECTIVES)
            usage("COLLECTIVE: must be bcast, reduce, allreduce, allgather, alltoall, "
                  "reduce_scatter, scan, exscan or barrier");
    }
    if (packages < 1 || numa_nodes < 1 || cores < 1 || ranks > packages * numa_nodes * cores)
        usage("--machine: must have a core for each rank");
    s = setting_of(packages, numa_nodes, cores, bytes, factor);
    s.ranks = ranks ? ranks : s.ranks;
    s.by_node = by_node;
    if (mode == 0) {
        tables(&s, argc - optind, argv + optind);
    } else if (mode == 'r') {
        for (int c = 0; c < SIM_COLLECTIVES; c++)
            print_rankings((enum sim_collective) c);
    } else {
        check_busiest();
        check_scans();
        check_short_alltoall();
        check_barriers();
        check_many();
        check_rules();
        return tap_end();
    }
    return 0;
}
