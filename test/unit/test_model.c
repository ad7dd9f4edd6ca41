/* core/nc_model.c: its formulas, compared with the numbers of the papers and with trees that are
 * executed message by message (model_steps.h); and that nc_model_choose finds the least time. */

#include "model_steps.h"

#define ALL (1u << NC_MODEL_CHAIN | 1u << NC_MODEL_PIPELINED_BINARY)

static const struct nc_model_limits any = {
    .element = 1, .lowest = 0, .highest = UINT64_MAX, .trees = ALL};

/* ---- trees: by hand ---- */

static void numbers_of_the_paper(void **state)
{
    double s = nc_model_segment(cluster, NC_MODEL_PIPELINED_BINARY, 128, mib);

    (void) state;
    /* by the formula, as printed, and as measured */
    near(s, 13635, 1e-4);
    near(s, 13632, 1e-3);
    near(s, 13312, 0.03);
    /* the range of segments that was good for the chain */
    s = nc_model_segment(cluster, NC_MODEL_CHAIN, 128, mib);
    near(s, 2975.5, 1e-4);
    assert_true(s >= 1536 && s <= 3072);
}

static void times_by_hand(void **state)
{
    const struct nc_model_link link = {.alpha = 2, .beta = 0.5};

    (void) state;
    /* 9 processes, 3 segments of 4 bytes and less */
    same(nc_model_segmented(link, NC_MODEL_CHAIN, 9, 10, 4), (9 - 2 + 3) * 4);
    same(nc_model_segmented(link, NC_MODEL_PIPELINED_BINARY, 9, 10, 4), 2 * (4 + 3 - 1) * 4);
    /* one segment has the message's bytes, not its own limit */
    same(nc_model_segmented(link, NC_MODEL_CHAIN, 9, 10, 4096), (9 - 1) * 7);
    same(nc_model_segmented(link, NC_MODEL_BINOMIAL, 9, 10, 4), 4 * 7);
}

/* ---- trees: the formulas against trees gone through send by send ---- */

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
    c = nc_model_choose(cluster, 128, 64, &any);
    assert_true(c.tree == NC_MODEL_BINOMIAL && c.k == 2 && c.segment == 64);
    c = nc_model_choose(cluster, 128, 65536, &any);
    assert_true(c.tree == NC_MODEL_PIPELINED_BINARY && c.k == 2);
    near(c.segment, 3409, 0.05); /* s_opt; 19.2 such segments */
    c = nc_model_choose(cluster, 128, 64 * mib, &any);
    assert_true(c.tree == NC_MODEL_CHAIN && c.k == 1);
    /* few processes */
    c = nc_model_choose(cluster, 6, mib, &any);
    assert_true(c.tree == NC_MODEL_CHAIN);
    same(c.seconds, nc_model_segmented(cluster, c.tree, 6, mib, c.segment));
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
    for (enum nc_model_tree tree = 0; tree < NC_MODEL_TREES; tree++) {
        assert_true(nc_model_segmented(cluster, tree, 1, mib, 1024) == 0);
        same(nc_model_segmented(cluster, tree, 7, 0, 1024),
             (tree == NC_MODEL_CHAIN ? 6 : 3) * (tree == NC_MODEL_PIPELINED_BINARY ? 2 : 1) *
                 cluster.alpha);
    }
}

static double binomial(int p, uint64_t m)
{
    int messages = 0;

    while (1 << messages < p)
        messages++;
    return messages * (cluster.alpha + (double) m * cluster.beta);
}

/* The least time over all segments that the limits allow, looked for one by one. */
static double least(int p, uint64_t m, const struct nc_model_limits *limits)
{
    double best = binomial(p, m);

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
    struct nc_model_limits limits = any;

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
            double seconds = nc_model_choose(cluster, p, m, &any).seconds;
            assert_true(seconds <= nc_model_choose(cluster, p, m * 5 / 4 + 1, &any).seconds);
            assert_true(seconds <= nc_model_choose(cluster, p + 1, m, &any).seconds);
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

static void practical_rules(void **state)
{
    struct nc_model_slots q = nc_model_slots_of_queue(4 * mib);

    (void) state;
    assert_true(q.f == 4096 && q.s == 1024);
    q = nc_model_slots_of_queue(100 * mib);
    assert_true(q.f == 12288 && q.s == 8533);
    q = nc_model_slots_of_queue(1);
    assert_true(q.f == 4096 && q.s == 1);
    assert_int_equal(nc_model_budget((uint64_t) 64 << 30, 16), ((uint64_t) 4 << 30) / 100);
}

static void huge(void **state)
{
    (void) state;
    assert_true(nc_model_slots_of_queue(UINT64_MAX).s == UINT32_MAX);
    for (uint64_t m = UINT64_MAX - 5; m; m += m == UINT64_MAX ? 1 : 5) {
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
    same(nc_model_halves(link, 1, 8), 0);
    same(nc_model_halves(link, 8, 8), 5 + 3 + 2);
    /* and before them all of the data, behind them the part of the process that has given it */
    same(nc_model_halves(link, 15, 8), 5 + 3 + 2 + 9 + 1);
    same(nc_model_ring(link, 1, 8), 0);
    same(nc_model_ring(link, 8, 8), 7 * 2);
    /* short messages by fewer, long ones by smaller messages */
    assert_true(nc_model_halves(cluster, 7, 64) < nc_model_ring(cluster, 7, 64));
    assert_true(nc_model_halves(cluster, 7, 1 << 20) > nc_model_ring(cluster, 7, 1 << 20));
    assert_true(nc_model_doubling(cluster, 8, 64) < nc_model_rabenseifner(cluster, 8, 64));
    assert_true(nc_model_doubling(cluster, 8, 1 << 20) >
                nc_model_rabenseifner(cluster, 8, 1 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_the_paper),
                                       cmocka_unit_test(times_by_hand),
                                       cmocka_unit_test(pipelines_take_their_modelled_time),
                                       cmocka_unit_test(s_opt_is_a_minimum),
                                       cmocka_unit_test(s_opt_without_a_pipeline),
                                       cmocka_unit_test(recommendations),
                                       cmocka_unit_test(only_what_is_offered),
                                       cmocka_unit_test(nothing_to_pipeline),
                                       cmocka_unit_test(choice_is_the_least),
                                       cmocka_unit_test(choice_is_monotonous),
                                       cmocka_unit_test(segments_are_within_the_limits),
                                       cmocka_unit_test(links_out_of_the_ordinary),
                                       cmocka_unit_test(practical_rules),
                                       cmocka_unit_test(huge),
                                       cmocka_unit_test(exchanges)};
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
