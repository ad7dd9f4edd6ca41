/* tools/model/nc_model_papers.c: its formulas, compared with trees that are executed message by
 * message, with figures and tables of the papers, and with the choices of core/nc_model.c. */

#include "model_steps.h"

#include "model/nc_model_papers.h"
#include "model/nc_pipeline.h"

/* the figures over f */
static const struct nc_model_costs figures = {
    .set = 100e-9, .leave = 10e-9, .notice = 50e-9, .byte = 1e-9};

static const struct nc_model_limits any = {.element = 1,
                                           .lowest = 0,
                                           .highest = UINT64_MAX,
                                           .trees = 1u << NC_MODEL_CHAIN |
                                                    1u << NC_MODEL_PIPELINED_BINARY};

/* ---- trees: by hand ---- */

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
    same(nc_model_pipelined_binomial(link, 9, 10, 4), (4 + 3 - 1) * 4);
    /* one segment has the message's bytes, not its own limit */
    same(nc_model_pipelined_binomial(link, 9, 10, 4096), 4 * 7);
    same(nc_model_segmented(link, NC_MODEL_BINOMIAL, 9, 10, 4), nc_model_knomial(link, 2, 9, 10));
    same(nc_model_scatter_allgather(link, 8, 80), (3 + 7) * 2 + 2 * 70 * 0.5);
}

/* Steps until the last of a subtree has the message, send by send. */
static int balanced(int below, int k, int at)
{
    int last = at;

    for (int i = 0; i < k && i < below; i++) {
        int there = balanced(below / k + (i < below % k) - 1, k, at + i + 1);
        last = there > last ? there : last;
    }
    return last;
}

static void steps_of_kary_trees(void **state)
{
    (void) state;
    for (int k = 2; k < 9; k++) {
        for (int p = 1; p < PROCESSES; p++) {
            struct nc_tree tree = tree_of(NC_TREE_KARY, k, p);

            assert_int_equal(nc_model_complete_steps(k, p), last_of(&tree, 1, has));
            assert_int_equal(nc_model_balanced_steps(k, p), balanced(p - 1, k, 0));
        }
    }
    /* complete and balanced trees take as long for the numbers that were tried on paper */
    for (int k = 2; k <= 4; k++) {
        static const int p[] = {11, 20, 30, 50, 100, 128, 200};
        for (int i = 0; i < 7; i++)
            assert_int_equal(nc_model_complete_steps(k, p[i]), nc_model_balanced_steps(k, p[i]));
    }
    assert_true(nc_model_complete_steps(2, INT32_MAX) == 60 &&
                nc_model_balanced_steps(2, INT32_MAX) == 60);
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
            tree = tree_of(NC_TREE_BALANCED, k, p);
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

/* What the header says of segments in a binomial tree. */
static void one_port_makes_segments_useless_in_a_binomial_tree(void **state)
{
    struct nc_tree tree = tree_of(NC_TREE_KNOMIAL, 2, 128);

    (void) state;
    for (int n = 1; n <= SEGMENTS; n++)
        assert_int_equal(last_of(&tree, n, has), n * 7);
}

/* ---- trees: bounds ---- */

static void one_process_sends_nothing(void **state)
{
    (void) state;
    assert_true(nc_model_lower_bound(cluster, 1, mib) == 0 &&
                nc_model_linear(cluster, 1, mib) == 0);
    assert_true(nc_model_kary(cluster, 3, 1, mib) == 0 &&
                nc_model_knomial(cluster, 3, 1, mib) == 0);
    assert_true(nc_model_scatter_allgather(cluster, 1, mib) == 0);
    assert_true(nc_model_pipelined_binomial(cluster, 1, mib, 1024) == 0);
    same(nc_model_pipelined_binomial(cluster, 7, 0, 1024), 3 * cluster.alpha);
}

static void no_choice_is_below_the_bound(void **state)
{
    (void) state;
    for (int p = 2; p < 1000; p = p * 2 + 1) {
        for (uint64_t m = 1; m < (uint64_t) 1 << 40; m = m * 5 / 4 + 1) {
            struct nc_model_choice c = nc_model_choose(cluster, p, m, &any);
            double overlapped = nc_model_pipelined_binomial(cluster, p, m, c.segment);
            assert_true(c.seconds >= nc_model_lower_bound(cluster, p, m));
            assert_true(overlapped >= nc_model_lower_bound(cluster, p, m));
            /* where sends overlap, none of the others is faster */
            assert_true(overlapped <= c.seconds);
        }
    }
}

static void sends_that_overlap(void **state)
{
    struct nc_model_choice c = nc_model_choose(cluster, 128, mib, &any);
    double opt = nc_model_segment(cluster, NC_MODEL_PIPELINED_BINARY, 128, mib), best = 1e300;
    uint64_t at = 0;

    (void) state;
    for (uint64_t s = 1; s <= mib; s++) {
        double seconds = nc_model_pipelined_binomial(cluster, 128, mib, s);
        at = seconds < best ? s : at;
        best = seconds < best ? seconds : best;
    }
    near(opt, 13635, 1e-4);
    near((double) at, opt, 0.02);
    assert_true(best < c.seconds);
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
    same(nc_model_sets(c, 70, 8, 4, 2), 2 * 3 * (1000 + 200) + 8 * 0.5 + 9 * 30 + 70 * 0.5);
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

/* The paper's figure 2 with one leaf, step by step: the time until it has `fragments` fragments of
 * f bytes. Before it fills a set the root waits until the leaf has left it; both wait t_WO for a
 * set.
 */
static double gone_through(struct nc_model_costs c, uint64_t fragments, uint64_t f, uint64_t s,
                           uint64_t q)
{
    double copy = (double) f * c.byte, root = 0, leaf = 0, left[64] = {0};

    for (uint64_t i = 0; i < fragments; i++) {
        uint64_t set = i / (s / q) % q;

        if (i % (s / q) == 0) {
            root = (root > left[set] ? root : left[set]) + c.set;
            leaf += c.set;
        }
        root += copy;
        leaf = (leaf > root ? leaf : root) + c.notice + copy;
        if ((i + 1) % (s / q) == 0)
            left[set] = leaf += c.leave;
    }
    return leaf;
}

static void queues_gone_through(void **state)
{
    uint64_t m = 16 * mib, f = 8192;

    (void) state;
    for (uint64_t s = 2; s <= 512; s *= 2) {
        for (uint64_t q = 1; q <= s && q <= 64; q *= 2)
            same(nc_model_sets(figures, m, f, s, q), gone_through(figures, m / f, f, s, q));
    }
    same(nc_model_slot(figures, m, f), gone_through(figures, m / f, f, 1, 1));
    /* microseconds; by another simulation */
    near(1e6 * nc_model_sets(figures, m, f, 8, 1), 19004.9, 1e-5);
    near(1e6 * nc_model_sets(figures, m, f, 8, 2), 16944.1, 1e-5);
    near(1e6 * nc_model_sets(figures, m, f, 8, 4), 17000.4, 1e-5);
    near(1e6 * nc_model_sets(figures, m, f, 64, 2), 16894.8, 1e-5);
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
    struct nc_model_slots q = nc_model_slots_of_message(0);

    (void) state;
    assert_true(q.f == 4096 && q.s == 1);
    q = nc_model_slots_of_message(100 * mib);
    assert_true(q.f == 12288 && q.s == 8534);
    assert_int_equal(nc_model_fragment_to_fit(0, 8), 4096);
    assert_int_equal(nc_model_fragment_to_fit(65536, 8), 8192);
    assert_int_equal(nc_model_fragment_to_fit(65537, 8), 12288);
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
    assert_true(nc_model_fragment_to_fit(UINT64_MAX, 1) >= UINT64_MAX - NC_FRAG_UNIT);
    assert_true(nc_model_slots_of_message(UINT64_MAX).s ==
                nc_frag_count(UINT64_MAX, (uint64_t) 1 << 32));
    for (uint64_t m = UINT64_MAX - 5; m; m += m == UINT64_MAX ? 1 : 5) {
        same(nc_model_slot(figures, m, 8192), 0x1p51 * 160e-9 + 0x1p65 * 1e-9);
        same(nc_model_queue(figures, m, 8192, 16),
             0x1p47 * (110e-9 + 8192e-9) + 0x1p51 * 50e-9 + 0x1p64 * 1e-9);
        same(nc_model_queue(figures, m, m, UINT64_MAX), 110e-9 + 50e-9 + 0x1p65 * 1e-9);
        same(nc_model_sets(figures, m, 8192, 16, 2),
             0x1p48 * 110e-9 + 8192e-9 + 0x1p51 * 50e-9 + 0x1p64 * 1e-9);
        same(nc_model_linear(cluster, INT32_MAX, m), 2147483646. * (5e-5 + 0x1p64 * 4.7e-8));
    }
}

/* ---- pipelines (tools/model/nc_pipeline.c): the formulas above are some ---- */

static double piped(double latency, double period, uint64_t m, uint64_t s)
{
    struct nc_pipeline_stages p = {0};

    nc_pipeline_add(&p, cluster, latency, period);
    return nc_pipeline_seconds(&p, m, s);
}

/* Kurnosov 2019, where the segments are whole. */
static void trees_of_messages(void **state)
{
    uint64_t m = mib;

    (void) state;
    for (uint64_t s = 1024; s <= m; s *= 2) {
        same(piped(127, 1, m, s), nc_model_segmented(cluster, NC_MODEL_CHAIN, 128, m, s));
        same(piped(14, 2, m, s), nc_model_segmented(cluster, NC_MODEL_PIPELINED_BINARY, 128, m, s));
        same(piped(7, 1, m, s), nc_model_pipelined_binomial(cluster, 128, m, s));
    }
    same(piped(7, 7, m, m), nc_model_knomial(cluster, 2, 128, m));
    same(piped(127, 127, m, m), nc_model_linear(cluster, 128, m));
    same(piped(7, 7, 0, 1), 7 * cluster.alpha);
}

/* Kurnosov, Tokmasheva 2020: the root copies a fragment, a reader waits for it and copies it. */
static void queue_in_shared_memory(void **state)
{
    const struct nc_model_costs c = {.notice = 50e-9, .byte = 1e-9};
    const struct nc_model_link in = {0, c.byte}, out = {c.notice, c.byte};
    struct nc_pipeline_stages p = {0};

    (void) state;
    nc_pipeline_add(&p, in, 1, 1);
    nc_pipeline_add(&p, out, 1, 1);
    for (uint64_t f = 4096; f <= mib; f *= 2)
        same(nc_pipeline_seconds(&p, 16 * mib, f), nc_model_sets(c, 16 * mib, f, 64, 2));
}

static void the_slowest_stage_sets_the_pace(void **state)
{
    const struct nc_model_link step = {1, 0};
    struct nc_pipeline_stages p = {0};

    (void) state;
    same(nc_pipeline_seconds(&p, 10, 1), 0);
    nc_pipeline_add(&p, step, 2, 1);
    nc_pipeline_add(&p, step, 3, 3);
    same(nc_pipeline_seconds(&p, 10, 10), 5);
    same(nc_pipeline_seconds(&p, 10, 1), 5 + 9 * 3);
    same(nc_pipeline_pace(&p, 10, 1), 10 * 3);
    for (int i = 0; i < 100; i++)
        nc_pipeline_add(&p, step, 0, 0);
    same(nc_pipeline_seconds(&p, 10, 1), 5 + 9 * 3);
}

/* A tree as a stage takes the steps of the tree gone through segment by segment. */
static void trees_as_stages(void **state)
{
    static int memory[2 * PROCESSES];

    (void) state;
    for (enum nc_tree_kind kind = NC_TREE_FLAT; kind <= NC_TREE_CHAIN; kind++) {
        for (int p = 1; p < PROCESSES; p += p < 40 ? 1 : 31) {
            for (int k = 2; k <= 8; k = 2 * k - 1) {
                struct nc_tree tree = tree_of(kind, k, p);
                struct nc_pipeline_tree through = nc_pipeline_go_through(&tree, memory);
                struct nc_pipeline_stages stages = {0};

                nc_pipeline_add(&stages, steps, through.steps, through.busiest);
                for (uint64_t n = 1; n <= SEGMENTS; n += 3)
                    same(nc_pipeline_seconds(&stages, n * 10, 10), last_of(&tree, (int) n, has));
                if (kind == NC_TREE_KARY)
                    assert_int_equal(through.steps, nc_model_complete_steps(k, p));
                if (kind == NC_TREE_BALANCED)
                    assert_int_equal(through.steps, nc_model_balanced_steps(k, p));
                if (kind == NC_TREE_KARY || kind == NC_TREE_BALANCED)
                    same(through.height, nc_model_kary_span(steps, k, p, 0).first);
            }
        }
    }
}

/* By hand: 128 processes are two 4-nomial trees of 64, of which the first sends to the second. */
static void a_tree_gone_through(void **state)
{
    static int memory[2 * PROCESSES];
    struct nc_tree tree = tree_of(NC_TREE_KNOMIAL, 4, 128);
    struct nc_pipeline_tree through = nc_pipeline_go_through(&tree, memory);

    (void) state;
    assert_int_equal(through.steps, 1 + 9);
    assert_int_equal(through.busiest, 1 + 9);
    assert_int_equal(through.height, 1 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_by_hand),
        cmocka_unit_test(steps_of_kary_trees),
        cmocka_unit_test(best_degrees),
        cmocka_unit_test(trees_take_their_modelled_time),
        cmocka_unit_test(spans),
        cmocka_unit_test(one_port_makes_segments_useless_in_a_binomial_tree),
        cmocka_unit_test(one_process_sends_nothing),
        cmocka_unit_test(no_choice_is_below_the_bound),
        cmocka_unit_test(sends_that_overlap),
        cmocka_unit_test(regimes),
        cmocka_unit_test(forms_meet),
        cmocka_unit_test(longer_messages_take_longer),
        cmocka_unit_test(queues_gone_through),
        cmocka_unit_test(saw_tooth_over_fragments),
        cmocka_unit_test(minimum_over_fragments),
        cmocka_unit_test(best_fragment_of_any_queue),
        cmocka_unit_test(practical_rules),
        cmocka_unit_test(table_of_queues),
        cmocka_unit_test(huge),
        cmocka_unit_test(trees_of_messages),
        cmocka_unit_test(queue_in_shared_memory),
        cmocka_unit_test(the_slowest_stage_sets_the_pace),
        cmocka_unit_test(trees_as_stages),
        cmocka_unit_test(a_tree_gone_through)};
    return cmocka_run_group_tests_name("model_papers", tests, NULL, NULL);
}
