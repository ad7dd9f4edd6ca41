#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_model.h"
#include "core/nc_tree.h"

#define PROCESSES 300
#define SEGMENTS  40
#define ALL \
    (1u << NC_MODEL_CHAIN | 1u << NC_MODEL_PIPELINED_BINARY | 1u << NC_MODEL_PIPELINED_BINOMIAL)
#define ONE_PORT (1u << NC_MODEL_CHAIN | 1u << NC_MODEL_PIPELINED_BINARY)

static const uint64_t mib = 1 << 20;

/* the constants of the papers: a cluster; the figures over f */
static const struct nc_model_link cluster = {.alpha = 5e-5, .beta = 4.7e-8};
static const struct nc_model_costs figures = {
    .set = 100e-9, .leave = 10e-9, .notice = 50e-9, .byte = 1e-9};

/* a message is one step, whatever its length */
static const struct nc_model_link steps = {.alpha = 1, .beta = 0};

static const struct nc_model_limits any = {
    .element = 1, .lowest = 0, .highest = UINT64_MAX, .trees = ALL};
static const struct nc_model_limits one_port = {
    .element = 1, .lowest = 0, .highest = UINT64_MAX, .trees = ONE_PORT};

static void near(double value, double expected, double tolerance)
{
    double difference = value > expected ? value - expected : expected - value;

    if (!(difference <= tolerance * expected))
        fail_msg("%.9g instead of %.9g", value, expected);
}

/* equal but for rounding */
static void same(double value, double expected)
{
    near(value, expected, 1e-12);
}

/* ---- trees: by hand ---- */

static void numbers_of_the_paper(void **state)
{
    double s = nc_model_segment(cluster, NC_MODEL_PIPELINED_BINARY, 128, mib);

    (void) state;
    /* by the formula, as printed, and as measured */
    near(s, 13635, 1e-4);
    near(s, 13632, 1e-3);
    near(s, 13312, 0.03);
    assert_true(nc_model_segment(cluster, NC_MODEL_PIPELINED_BINOMIAL, 128, mib) == s);
    /* the range of segments that was good for the chain */
    s = nc_model_segment(cluster, NC_MODEL_CHAIN, 128, mib);
    near(s, 2975.5, 1e-4);
    assert_true(s >= 1536 && s <= 3072);
}

static void times_by_hand(void **state)
{
    const struct nc_model_link link = {.alpha = 2, .beta = 0.5};

    (void) state;
    same(nc_model_linear(link, 9, 8), 8 * 6);
    same(nc_model_kary(link, 3, 9, 8), 3 * 2 * 6);
    same(nc_model_kary(link, 3, 10, 8), 3 * 3 * 6);
    same(nc_model_knomial(link, 3, 9, 8), 2 * 2 * 6);
    same(nc_model_knomial(link, 2, 9, 8), 4 * 6);
    same(nc_model_lower_bound(link, 9, 8), 4 * 2);
    same(nc_model_lower_bound(link, 9, 100), 50);
    /* 9 processes, 3 segments of 4 bytes and less */
    same(nc_model_segmented(link, NC_MODEL_CHAIN, 9, 10, 4), (9 - 2 + 3) * 4);
    same(nc_model_segmented(link, NC_MODEL_PIPELINED_BINARY, 9, 10, 4), 2 * (4 + 3 - 1) * 4);
    same(nc_model_segmented(link, NC_MODEL_PIPELINED_BINOMIAL, 9, 10, 4), (4 + 3 - 1) * 4);
    /* one segment has the message's bytes, not its own limit */
    same(nc_model_segmented(link, NC_MODEL_CHAIN, 9, 10, 4096), (9 - 1) * 7);
    same(nc_model_segmented(link, NC_MODEL_BINOMIAL, 9, 10, 4), nc_model_knomial(link, 2, 9, 10));
}

static void best_degrees(void **state)
{
    (void) state;
    for (int k = 2; k < 30; k++) {
        if (k != 3)
            assert_true(nc_model_kary(steps, 3, 43046721, 0) <
                        nc_model_kary(steps, k, 43046721, 0));
        for (int p = 1; p < 2000; p++)
            assert_true(nc_model_knomial(steps, 2, p, 0) <= nc_model_knomial(steps, k, p, 0));
    }
}

/* ---- trees: the formulas against trees gone through send by send ---- */

static struct nc_tree tree_of(enum nc_tree_kind kind, int k, int p)
{
    static int memory[3 * PROCESSES + 1];
    struct nc_tree tree;

    assert_true(nc_tree_bytes(p) <= sizeof memory);
    nc_tree_make(&tree, memory, kind, k, p);
    return tree;
}

/* Steps until each process has each of n segments, if it sends them in turn to each child in turn.
 */
static void go_through(const struct nc_tree *tree, int n, int has[][SEGMENTS])
{
    for (int j = 0; j < n; j++)
        has[0][j] = 0;
    for (int i = 0; i < tree->size; i++) {
        int at = 0;
        for (int j = 0; j < n; j++) {
            for (int c = tree->first[i]; c < tree->first[i + 1]; c++) {
                at = (at > has[i][j] ? at : has[i][j]) + 1;
                has[tree->child[c]][j] = at;
            }
        }
    }
}

static int last_of(const struct nc_tree *tree, int n, int has[][SEGMENTS])
{
    int last = 0;

    go_through(tree, n, has);
    for (int i = 0; i < tree->size; i++)
        last = has[i][n - 1] > last ? has[i][n - 1] : last;
    return last;
}

static int has[PROCESSES][SEGMENTS];

static void trees_take_their_modelled_time(void **state)
{
    (void) state;
    for (int p = 1; p < PROCESSES; p++) {
        struct nc_tree tree = tree_of(NC_TREE_FLAT, 2, p);
        same(nc_model_linear(steps, p, 0), last_of(&tree, 1, has));
        tree = tree_of(NC_TREE_KNOMIAL, 2, p);
        same(nc_model_knomial(steps, 2, p, 0), last_of(&tree, 1, has));
        for (int k = 2; k < 9; k++) {
            tree = tree_of(NC_TREE_KNOMIAL, k, p);
            assert_true(last_of(&tree, 1, has) <= nc_model_knomial(steps, k, p, 0));
            tree = tree_of(NC_TREE_KARY, k, p);
            assert_true(last_of(&tree, 1, has) <= nc_model_kary(steps, k, p, 0));
        }
    }
    same(nc_model_knomial(steps, 4, 256, 0), 12);
    struct nc_tree tree = tree_of(NC_TREE_KNOMIAL, 4, 256);
    assert_int_equal(last_of(&tree, 1, has), 12);
}

/* Of a complete tree: its last process is on the last level, and the first of that level is the
 * first leaf there. */
static void spans(void **state)
{
    (void) state;
    for (int k = 1; k < 9; k++) {
        for (int p = 1; p < PROCESSES; p++) {
            struct nc_tree tree = tree_of(NC_TREE_KARY, k, p);
            struct nc_model_span span = nc_model_kary_span(steps, k, p, 0);
            int last = last_of(&tree, 1, has), i = 0;
            assert_true(span.last_least <= last && last <= span.last_most);
            assert_true(k == 1 || span.last_most <= nc_model_kary(steps, k, p, 0));
            while (tree.first[i] < tree.first[i + 1])
                i = tree.child[tree.first[i]];
            same(span.first, has[i][0]);
        }
    }
    /* full: root, 3, 9 */
    same(nc_model_kary_span(cluster, 3, 13, 1000).last_most, 3 * 2 * (5e-5 + 4.7e-5));
    same(nc_model_kary_span(cluster, 3, 13, 1000).last_least, 3 * (5e-5 + 4.7e-5));
    same(nc_model_kary_span(cluster, 3, 14, 1000).first, 3 * (5e-5 + 4.7e-5));
    /* linear: the first has it after one message, the last after all */
    same(nc_model_kary_span(cluster, 8, 9, 1000).first, 5e-5 + 4.7e-5);
    same(nc_model_kary_span(cluster, 8, 9, 1000).last_most, nc_model_linear(cluster, 9, 1000));
}

static void pipelines_take_their_modelled_time(void **state)
{
    (void) state;
    for (int p = 2; p < PROCESSES; p += p < 40 ? 1 : 31) {
        for (int n = 1; n <= SEGMENTS; n++) {
            struct nc_tree tree = tree_of(NC_TREE_CHAIN, 2, p);
            double seconds = nc_model_segmented(steps, NC_MODEL_CHAIN, p, (uint64_t) n * 10, 10);
            same(seconds, last_of(&tree, n, has));
            /* ceil(log2 p) is the tree's height, or one more */
            tree = tree_of(NC_TREE_KARY, 2, p);
            seconds = nc_model_segmented(steps, NC_MODEL_PIPELINED_BINARY, p, (uint64_t) n * 10,
                                         10);
            assert_true(last_of(&tree, n, has) <= seconds &&
                        seconds <= last_of(&tree, n, has) + n + 3);
        }
    }
}

/* What the header says of segments in a binomial tree. */
static void one_port_makes_segments_useless_in_a_binomial_tree(void **state)
{
    struct nc_tree tree = tree_of(NC_TREE_KNOMIAL, 2, 128);

    (void) state;
    for (int n = 1; n <= SEGMENTS; n++)
        assert_int_equal(last_of(&tree, n, has), n * 7);
}

/* ---- segments ---- */

/* The time as a function of a number of segments that need not be whole, where segments are equal.
 */
static double smooth(double sends, double ahead, double m, double s)
{
    return sends * (ahead + m / s) * (cluster.alpha + s * cluster.beta);
}

static void s_opt_is_a_minimum(void **state)
{
    (void) state;
    for (int p = 3; p < 3000; p = p * 3 / 2 + 1) {
        for (uint64_t m = 100000; m < (uint64_t) 1 << 40; m *= 7) {
            double chain = nc_model_segment(cluster, NC_MODEL_CHAIN, p, m),
                   best = smooth(1, p - 2, m, chain);
            assert_true(best < smooth(1, p - 2, m, chain * 1.01) &&
                        best < smooth(1, p - 2, m, chain / 1.01));
        }
    }
}

static void s_opt_without_a_pipeline(void **state)
{
    const struct nc_model_link free_bytes = {.alpha = 1e-6, .beta = 0},
                               free_messages = {.alpha = 0, .beta = 1e-9};

    (void) state;
    for (enum nc_model_tree tree = 0; tree < NC_MODEL_TREES; tree++) {
        for (int p = 1; p <= 2; p++)
            same(nc_model_segment(cluster, tree, p, 1000), 1000);
        for (int p = 1; p < 100; p++) {
            same(nc_model_segment(cluster, tree, p, 0), 1);
            same(nc_model_segment(free_bytes, tree, p, 1000), 1000);
        }
    }
    same(nc_model_segment(cluster, NC_MODEL_BINOMIAL, 128, mib), mib);
    same(nc_model_segment(free_messages, NC_MODEL_CHAIN, 128, mib), 1);
    same(nc_model_segment(cluster, NC_MODEL_CHAIN, 3, 100), 100);
}

/* ---- the choice ---- */

static void recommendations(void **state)
{
    struct nc_model_choice c;

    (void) state;
    /* small, medium, large and many processes */
    c = nc_model_choose(cluster, 128, 64, &one_port);
    assert_true(c.tree == NC_MODEL_BINOMIAL && c.k == 2 && c.segment == 64);
    c = nc_model_choose(cluster, 128, 65536, &one_port);
    assert_true(c.tree == NC_MODEL_PIPELINED_BINARY && c.k == 2);
    near(c.segment, 3409, 0.05); /* s_opt; 19.2 such segments */
    c = nc_model_choose(cluster, 128, 64 * mib, &one_port);
    assert_true(c.tree == NC_MODEL_CHAIN && c.k == 1);
    /* few processes */
    c = nc_model_choose(cluster, 6, mib, &one_port);
    assert_true(c.tree == NC_MODEL_CHAIN);
    /* sends that overlap */
    c = nc_model_choose(cluster, 128, mib, &any);
    assert_true(c.tree == NC_MODEL_PIPELINED_BINOMIAL && c.k == 2);
    near(c.segment, 13635, 0.02); /* s_opt */
    same(c.seconds, nc_model_segmented(cluster, c.tree, 128, mib, c.segment));
}

static void only_what_is_offered(void **state)
{
    struct nc_model_limits none = any;

    (void) state;
    none.trees = 0;
    assert_int_equal(nc_model_choose(cluster, 128, 64 * mib, &none).tree, NC_MODEL_BINOMIAL);
    for (enum nc_model_tree tree = NC_MODEL_CHAIN; tree < NC_MODEL_TREES; tree++) {
        none.trees = 1u << tree;
        assert_int_equal(nc_model_choose(cluster, 128, 64 * mib, &none).tree, tree);
    }
}

static void nothing_to_pipeline(void **state)
{
    (void) state;
    for (uint64_t m = 0; m < 1 << 30; m = m * 5 + 1) {
        struct nc_model_choice c = nc_model_choose(cluster, 1, m, &any);
        assert_true(c.tree == NC_MODEL_BINOMIAL && c.seconds == 0 && c.segment > 0);
        c = nc_model_choose(cluster, 2, m, &any);
        assert_true(c.tree == NC_MODEL_BINOMIAL && c.segment > 0);
        same(c.seconds, cluster.alpha + m * cluster.beta);
    }
    assert_true(nc_model_choose(cluster, 1, 0, &any).segment == 1);
    same(nc_model_choose(cluster, 128, 0, &any).seconds, 7 * cluster.alpha);
    assert_true(nc_model_lower_bound(cluster, 1, mib) == 0 &&
                nc_model_linear(cluster, 1, mib) == 0);
    assert_true(nc_model_kary(cluster, 3, 1, mib) == 0 &&
                nc_model_knomial(cluster, 3, 1, mib) == 0);
    for (enum nc_model_tree tree = 0; tree < NC_MODEL_TREES; tree++) {
        assert_true(nc_model_segmented(cluster, tree, 1, mib, 1024) == 0);
        same(nc_model_segmented(cluster, tree, 7, 0, 1024),
             (tree == NC_MODEL_CHAIN ? 6 : 3) * (tree == NC_MODEL_PIPELINED_BINARY ? 2 : 1) *
                 cluster.alpha);
    }
}

/* The least time over all segments that the limits allow, looked for one by one. */
static double least(int p, uint64_t m, const struct nc_model_limits *limits)
{
    double best = nc_model_knomial(cluster, 2, p, m);

    for (enum nc_model_tree tree = NC_MODEL_CHAIN; tree < NC_MODEL_TREES; tree++) {
        for (uint64_t s = limits->element; s < m + limits->element && s <= limits->highest;
             s += limits->element) {
            double seconds = nc_model_segmented(cluster, tree, p, m, s);
            if (limits->trees >> tree & 1 && s >= limits->lowest && seconds < best)
                best = seconds;
        }
    }
    return best;
}

static void choice_is_the_least(void **state)
{
    struct nc_model_limits limits = one_port;

    (void) state;
    for (int p = 2; p < 300; p = p * 2 + 1) {
        for (uint64_t elements = 1; elements < 3000; elements = elements * 3 / 2 + 1) {
            for (limits.element = 1; limits.element < 1000000; limits.element *= 16) {
                uint64_t m = elements * limits.element;
                for (limits.lowest = 0; limits.lowest < 100000;
                     limits.lowest = limits.lowest * 300 + 40) {
                    limits.highest = limits.lowest ? limits.lowest * 8 + limits.element
                                                   : UINT64_MAX;
                    near(nc_model_choose(cluster, p, m, &limits).seconds, least(p, m, &limits),
                         1e-3);
                }
            }
        }
    }
}

static void choice_is_monotonous(void **state)
{
    (void) state;
    for (int p = 2; p < 1000; p = p * 2 + 1) {
        for (uint64_t m = 1; m < (uint64_t) 1 << 40; m = m * 5 / 4 + 1) {
            double seconds = nc_model_choose(cluster, p, m, &one_port).seconds;
            assert_true(seconds <= nc_model_choose(cluster, p, m * 5 / 4 + 1, &one_port).seconds);
            assert_true(seconds <= nc_model_choose(cluster, p + 1, m, &one_port).seconds);
            assert_true(seconds >= nc_model_choose(cluster, p, m, &any).seconds);
            assert_true(seconds >= nc_model_lower_bound(cluster, p, m));
            assert_true(nc_model_choose(cluster, p, m, &any).seconds >=
                        nc_model_lower_bound(cluster, p, m));
        }
    }
}

static void segments_are_within_the_limits(void **state)
{
    static const uint64_t value[] = {
        0, 1, 7, 24, 4096, 100000, (uint64_t) 1 << 40, UINT64_MAX - 1, UINT64_MAX};
    enum { N = sizeof value / sizeof *value };

    (void) state;
    for (int i = 0; i < N * N * N * N; i++) {
        struct nc_model_limits l = {.element = value[i % N],
                                    .lowest = value[i / N % N],
                                    .highest = value[i / N / N % N],
                                    .trees = ALL};
        uint64_t m = value[i / N / N / N], element = l.element ? l.element : 1;
        for (int p = 1; p < 2000; p = p * 4 + 1) {
            struct nc_model_choice c = nc_model_choose(cluster, p, m, &l);
            assert_true(c.segment > 0 && c.seconds >= 0 && c.seconds < 1e300);
            if (c.tree == NC_MODEL_BINOMIAL)
                continue;
            assert_true(c.segment % element == 0);
            assert_true(c.segment <= l.highest || c.segment == element);
            assert_true(c.segment >= l.lowest || c.segment > l.highest - element ||
                        c.segment == element);
        }
    }
}

static void links_out_of_the_ordinary(void **state)
{
    const struct nc_model_link link[] = {
        {0, 0},   {1, 0},  {0, 1},  {1e-300, 1e300},        {1e300, 1e-300},
        {-1, -1}, {-1, 1}, {1, -1}, {__builtin_nan(""), 1}, {1, __builtin_nan("")}};

    (void) state;
    for (int i = 0; i < 10; i++) {
        for (int p = 1; p < 100; p += 9) {
            assert_true(nc_model_choose(link[i], p, UINT64_MAX, &any).segment > 0);
            assert_true(nc_model_choose(link[i], p, 0, &any).segment > 0);
        }
    }
}

/* ---- a queue ---- */

static void regimes(void **state)
{
    struct nc_model_costs c = {.set = 1000, .leave = 200, .notice = 30, .byte = 0.5};

    (void) state;
    assert_int_equal(nc_model_regime(0, 8, 4), NC_MODEL_ONE_FRAGMENT);
    assert_int_equal(nc_model_regime(8, 8, 4), NC_MODEL_ONE_FRAGMENT);
    assert_int_equal(nc_model_regime(9, 8, 4), NC_MODEL_ONE_QUEUE);
    assert_int_equal(nc_model_regime(32, 8, 4), NC_MODEL_ONE_QUEUE);
    assert_int_equal(nc_model_regime(33, 8, 4), NC_MODEL_MANY_QUEUES);
    assert_int_equal(nc_model_regime(9, 8, 1), NC_MODEL_MANY_QUEUES);
    same(nc_model_queue(c, 0, 8, 4), 1000 + 200 + 30);
    same(nc_model_queue(c, 6, 8, 4), 1000 + 200 + 30 + 2 * 6 * 0.5);
    same(nc_model_queue(c, 30, 8, 4), 1000 + 200 + 8 * 0.5 + 4 * 30 + 30 * 0.5);
    same(nc_model_queue(c, 70, 8, 4), 3 * (1000 + 200 + 8 * 0.5) + 9 * 30 + 70 * 0.5);
    same(nc_model_slot(c, 70, 8), 9 * (1000 + 200) + 9 * 30 + 2 * 70 * 0.5);
    same(nc_model_sets(c, 70, 8, 4, 2), 2 * 3 * (1000 + 8 * 0.5) + 200 + 9 * 30 + 70 * 0.5);
}

static void forms_meet(void **state)
{
    (void) state;
    for (uint64_t m = 0; m < 100 * mib; m = m * 3 + 1000) {
        for (uint64_t f = 4096; f <= 65536; f += 4096) {
            same(nc_model_queue(figures, m, f, 1), nc_model_slot(figures, m, f));
            for (uint64_t s = 1; s < 1000; s = s * 3 + 1)
                assert_true(nc_model_sets(figures, m, f, s, 1) == nc_model_queue(figures, m, f, s));
        }
    }
    /* whole fragments: t(m) is what t(m, s) would be with s = 1 */
    same(nc_model_slot(figures, 10 * 8192, 8192), 10 * (110e-9 + 8192e-9) + 10 * 50e-9 + 81920e-9);
}

static void longer_messages_take_longer(void **state)
{
    (void) state;
    for (uint64_t s = 1; s <= 64; s *= 4) {
        for (uint64_t m = 0; m < 2 * mib; m += 1000) {
            assert_true(nc_model_queue(figures, m, 8192, s) <
                        nc_model_queue(figures, m + 1000, 8192, s));
            assert_true(nc_model_sets(figures, m, 8192, s, 2) <
                        nc_model_sets(figures, m + 1000, 8192, s, 2));
            assert_true(nc_model_queue(figures, m, 8192, s) >=
                        nc_model_queue(figures, m, 8192, s * 2));
        }
    }
}

/* t(m, s) over f with s = 32: it rises while the message fills the queue equally often, and drops
 * where once less is enough. */
static void saw_tooth_over_fragments(void **state)
{
    uint64_t m = 16 * mib, s = 32;
    double tooth = nc_model_queue(figures, m, 4096, s);
    int teeth = 0;

    (void) state;
    for (uint64_t f = 4096; f < 65536; f++) {
        double before = nc_model_queue(figures, m, f, s),
               after = nc_model_queue(figures, m, f + 1, s);
        if ((m - 1) / ((f + 1) * s) < (m - 1) / (f * s)) {
            assert_true(after < before);
            assert_true(teeth == 0 || before > tooth);
            tooth = after;
            teeth++;
        }
    }
    assert_int_equal(teeth, 128 - 8);
}

static double queue_of_4_mib(uint64_t f)
{
    return nc_model_queue(figures, 16 * mib, f, 4 * mib / f);
}

static void minimum_over_fragments(void **state)
{
    struct nc_model_slots best = nc_model_best(figures, 16 * mib, 4 * mib);
    uint64_t at = 1024;

    (void) state;
    near(best.f, 14481.55, 1e-4); /* sqrt(4 MiB * 50) */
    assert_int_equal(best.s, 4 * mib / best.f);
    /* powers of 2 divide the queue: the least of them is a neighbour of f*, and the time rises to
     * either side */
    for (uint64_t f = 1024; f <= mib; f *= 2)
        at = queue_of_4_mib(f) < queue_of_4_mib(at) ? f : at;
    assert_true(at == 8192 || at == 16384);
    for (uint64_t f = 16384; f <= mib; f *= 2)
        assert_true(queue_of_4_mib(f) < queue_of_4_mib(f * 2));
    for (uint64_t f = 8192; f >= 128; f /= 2)
        assert_true(queue_of_4_mib(f) < queue_of_4_mib(f / 2));
}

static void best_fragment_of_any_queue(void **state)
{
    struct nc_model_costs c = figures;
    const struct nc_model_costs nothing = {0, 0, 0, 0};

    (void) state;
    for (uint64_t b = 1; b < (uint64_t) 1 << 40; b *= 3) {
        for (uint64_t m = 0; m < (uint64_t) 1 << 44; m = m * 5 + 1) {
            struct nc_model_slots best = nc_model_best(figures, m, b);
            assert_true(best.f >= 1 && best.s >= 1 && best.f <= b && best.f * best.s <= b);
        }
    }
    /* a message of one queue and one of many whole queues have the same f* */
    assert_int_equal(nc_model_best(figures, 4 * mib, 4 * mib).f,
                     nc_model_best(figures, 40 * mib, 4 * mib).f);
    c.notice = 0;
    assert_int_equal(nc_model_best(c, mib, mib).f, 1);
    c.notice = 1;
    c.byte = 0;
    assert_int_equal(nc_model_best(c, mib, mib).f, mib);
    assert_int_equal(nc_model_best(nothing, mib, mib).f, 1);
    assert_int_equal(nc_model_best(figures, UINT64_MAX, UINT64_MAX).f, 30370004999);
}

static void practical_rules(void **state)
{
    struct nc_model_slots q = nc_model_slots_of_queue(4 * mib);

    (void) state;
    assert_true(q.f == 4096 && q.s == 1024);
    q = nc_model_slots_of_queue(100 * mib);
    assert_true(q.f == 12288 && q.s == 8533);
    q = nc_model_slots_of_queue(1);
    assert_true(q.f == 4096 && q.s == 1);
    q = nc_model_slots_of_message(0);
    assert_true(q.f == 4096 && q.s == 1);
    q = nc_model_slots_of_message(100 * mib);
    assert_true(q.f == 12288 && q.s == 8534);
    assert_int_equal(nc_model_fragment_to_fit(0, 8), 4096);
    assert_int_equal(nc_model_fragment_to_fit(65536, 8), 8192);
    assert_int_equal(nc_model_fragment_to_fit(65537, 8), 12288);
    assert_int_equal(nc_model_budget((uint64_t) 64 << 30, 16), ((uint64_t) 4 << 30) / 100);
    for (uint64_t m = 1; m < (uint64_t) 1 << 50; m = m * 2 + 77) {
        q = nc_model_slots_of_message(m);
        assert_true(nc_model_regime(m, q.f, q.s) != NC_MODEL_MANY_QUEUES);
        for (uint64_t s = 1; s <= 4096; s *= 2)
            assert_true(nc_model_regime(m, nc_model_fragment_to_fit(m, s), s) !=
                        NC_MODEL_MANY_QUEUES);
    }
}

/* Rows f, columns s = f / 2, f / 4, .. f / 512; KiB. */
static void table_of_queues(void **state)
{
    static const uint64_t table[][9] = {
        {8192, 4096, 2048, 1024, 512, 256, 128, 64, 32},           /* f = 4096 */
        {32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128},     /* 8192 */
        {73728, 36864, 18432, 9216, 4608, 2304, 1152, 576, 288},   /* 12288 */
        {131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512} /* 16384 */
    };

    (void) state;
    for (uint64_t row = 0; row < 4; row++) {
        for (uint64_t column = 0; column < 9; column++) {
            uint64_t f = (row + 1) * 4096, s = f >> (column + 1);
            assert_int_equal(nc_model_queue_bytes(f, s), table[row][column] << 10);
        }
    }
    assert_int_equal(nc_model_queue_bytes(65536, 65536 / 2), 2048 * mib);
    assert_int_equal(nc_model_queue_bytes(65536, 65536 / 512), 8 * mib);
    assert_int_equal(nc_model_size(nc_model_queue_bytes(8192, 1024)), NC_MODEL_SMALL);
    assert_int_equal(nc_model_size(10 * mib - 1), NC_MODEL_SMALL);
    assert_int_equal(nc_model_size(10 * mib), NC_MODEL_MIDDLING);
    assert_int_equal(nc_model_size(100 * mib), NC_MODEL_MIDDLING);
    assert_int_equal(nc_model_size(100 * mib + 1), NC_MODEL_LARGE);
}

static void huge(void **state)
{
    (void) state;
    assert_true(nc_model_queue_bytes(UINT64_MAX, 2) == UINT64_MAX &&
                nc_model_queue_bytes(0, 7) == 0);
    assert_true(nc_model_fragment_to_fit(UINT64_MAX, 1) >= UINT64_MAX - NC_PAGE);
    assert_true(nc_model_slots_of_message(UINT64_MAX).s ==
                nc_frag_count(UINT64_MAX, (uint64_t) 1 << 32));
    assert_true(nc_model_slots_of_queue(UINT64_MAX).s == UINT32_MAX);
    for (uint64_t m = UINT64_MAX - 5; m; m += m == UINT64_MAX ? 1 : 5) {
        same(nc_model_slot(figures, m, 8192), 0x1p51 * 160e-9 + 0x1p65 * 1e-9);
        same(nc_model_queue(figures, m, 8192, 16),
             0x1p47 * (110e-9 + 8192e-9) + 0x1p51 * 50e-9 + 0x1p64 * 1e-9);
        same(nc_model_queue(figures, m, m, UINT64_MAX), 110e-9 + 50e-9 + 0x1p65 * 1e-9);
        same(nc_model_sets(figures, m, 8192, 16, 2),
             0x1p48 * (100e-9 + 8192e-9) + 10e-9 + 0x1p51 * 50e-9 + 0x1p64 * 1e-9);
        same(nc_model_linear(cluster, INT32_MAX, m), 2147483646. * (5e-5 + 0x1p64 * 4.7e-8));
        same(nc_model_segmented(cluster, NC_MODEL_CHAIN, INT32_MAX, m, 4096),
             (2147483645. + 0x1p52) * (5e-5 + 4096 * 4.7e-8));
        near(nc_model_segment(cluster, NC_MODEL_CHAIN, 18, m), 0x1p30 * 32.6164, 1e-3);
    }
}

/* What a schedule's rounds cost, counted: 1 s a message, 1 s a byte. */
static void exchanges(void **state)
{
    struct nc_model_link link = {1, 1};

    (void) state;
    same(nc_model_doubling(link, 1, 8), 0);
    same(nc_model_rabenseifner(link, 1, 8), 0);
    same(nc_model_doubling(link, 2, 8), 9);
    same(nc_model_doubling(link, 8, 8), 3 * 9);
    same(nc_model_doubling(link, 9, 8), 3 * 9 + 2 * 9);
    /* halves of 4, 2 and 1 bytes, and back */
    same(nc_model_rabenseifner(link, 8, 8), 2 * (5 + 3 + 2));
    same(nc_model_rabenseifner(link, 15, 8), 2 * (5 + 3 + 2) + 2 * 9);
    /* short messages by fewer, long ones by smaller messages */
    assert_true(nc_model_doubling(cluster, 8, 64) < nc_model_rabenseifner(cluster, 8, 64));
    assert_true(nc_model_doubling(cluster, 8, 1 << 20) >
                nc_model_rabenseifner(cluster, 8, 1 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_paper),
        cmocka_unit_test(times_by_hand),
        cmocka_unit_test(best_degrees),
        cmocka_unit_test(trees_take_their_modelled_time),
        cmocka_unit_test(spans),
        cmocka_unit_test(pipelines_take_their_modelled_time),
        cmocka_unit_test(one_port_makes_segments_useless_in_a_binomial_tree),
        cmocka_unit_test(s_opt_is_a_minimum),
        cmocka_unit_test(s_opt_without_a_pipeline),
        cmocka_unit_test(recommendations),
        cmocka_unit_test(only_what_is_offered),
        cmocka_unit_test(nothing_to_pipeline),
        cmocka_unit_test(choice_is_the_least),
        cmocka_unit_test(choice_is_monotonous),
        cmocka_unit_test(segments_are_within_the_limits),
        cmocka_unit_test(links_out_of_the_ordinary),
        cmocka_unit_test(regimes),
        cmocka_unit_test(forms_meet),
        cmocka_unit_test(longer_messages_take_longer),
        cmocka_unit_test(saw_tooth_over_fragments),
        cmocka_unit_test(minimum_over_fragments),
        cmocka_unit_test(best_fragment_of_any_queue),
        cmocka_unit_test(exchanges),
        cmocka_unit_test(practical_rules),
        cmocka_unit_test(table_of_queues),
        cmocka_unit_test(huge)};
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
