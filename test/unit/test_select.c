/* core/nc_select.c: the barrier, the way of reduce, the version of allreduce and the way of a scan
 * for each kind of situation; which ranks are a table of rows. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <string.h>

#include "core/nc_select.h"

/* The rule of the last choice, and whether it begins so. */
static const char *why;

static bool begins(const char *text)
{
    return !strncmp(why, text, strlen(text));
}

static enum nc_barrier_kind barrier(int ranks, bool numa_nodes, bool oversubscribed)
{
    struct nc_situation s = {
        .ranks = ranks, .numa_nodes = numa_nodes, .oversubscribed = oversubscribed};
    return nc_select_barrier(&s, NULL);
}

static void barriers(void **state)
{
    (void) state;
    assert_int_equal(barrier(1, false, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(2, true, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(2, false, true), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(3, true, false), NC_BARRIER_HIERARCHICAL);
    assert_int_equal(barrier(16, false, false), NC_BARRIER_DISSEMINATION);
    assert_int_equal(barrier(17, false, false), NC_BARRIER_COMBINING);
    assert_int_equal(barrier(100000, false, false), NC_BARRIER_COMBINING);
    for (int ranks = 3; ranks < 300; ranks++) {
        assert_int_equal(barrier(ranks, true, true), NC_BARRIER_CENTRAL);
        assert_int_equal(barrier(ranks, false, true), NC_BARRIER_CENTRAL);
    }
}

/* Bytes that go inline. */
static size_t limit;

static enum nc_allreduce_version allreduce(int ranks, size_t bytes, bool numa_nodes,
                                           bool oversubscribed)
{
    struct nc_situation s = {
        .ranks = ranks, .numa_nodes = numa_nodes, .oversubscribed = oversubscribed};
    return nc_select_allreduce(&s, bytes, bytes <= limit, true, NULL);
}

static void allreduces_of_two(bool oversubscribed)
{
    assert_int_equal(allreduce(1, 0, false, oversubscribed), NC_ALLREDUCE_SYMMETRIC);
    assert_int_equal(allreduce(2, 0, false, oversubscribed), NC_ALLREDUCE_SYMMETRIC);
    assert_int_equal(allreduce(2, SIZE_MAX, false, oversubscribed), NC_ALLREDUCE_SYMMETRIC);
    assert_int_equal(allreduce(2, limit, true, oversubscribed), NC_ALLREDUCE_SYMMETRIC);
    assert_int_equal(allreduce(2, limit + 1, true, oversubscribed),
                     oversubscribed ? NC_ALLREDUCE_RB : NC_ALLREDUCE_SLICED);
}

/* By a table of its own: the version of inline messages, and of longer ones; where ranks outnumber
 * processors, of those of up to 16 and 64 KiB, too. */
static void allreduces_of_more(int ranks, bool oversubscribed)
{
    for (int numa_nodes = 0; numa_nodes < 2; numa_nodes++) {
        int symmetric_up_to = oversubscribed ? 16 : numa_nodes ? 2 : 4;
        enum nc_allreduce_version small = ranks <= symmetric_up_to ? NC_ALLREDUCE_SYMMETRIC
                                                                   : NC_ALLREDUCE_RB;
        enum nc_allreduce_version large = numa_nodes && oversubscribed ? NC_ALLREDUCE_RB
                                                                       : NC_ALLREDUCE_SLICED;
        enum nc_allreduce_version medium = oversubscribed && (ranks > 4 || numa_nodes)
                                               ? NC_ALLREDUCE_RB
                                               : large;
        enum nc_allreduce_version longer = ranks <= 4 && oversubscribed && !numa_nodes
                                               ? NC_ALLREDUCE_SYMMETRIC
                                               : medium;
        assert_int_equal(allreduce(ranks, 0, numa_nodes, oversubscribed), small);
        assert_int_equal(allreduce(ranks, limit, numa_nodes, oversubscribed), small);
        assert_int_equal(allreduce(ranks, limit + 1, numa_nodes, oversubscribed), longer);
        assert_int_equal(allreduce(ranks, 16384, numa_nodes, oversubscribed), longer);
        assert_int_equal(allreduce(ranks, 16385, numa_nodes, oversubscribed), medium);
        assert_int_equal(allreduce(ranks, 65536, numa_nodes, oversubscribed), medium);
        assert_int_equal(allreduce(ranks, 65537, numa_nodes, oversubscribed), large);
        assert_int_equal(allreduce(ranks, SIZE_MAX, numa_nodes, oversubscribed), large);
    }
}

static void check_allreduces(void)
{
    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        allreduces_of_two(oversubscribed);
        for (int ranks = 3; ranks < 300; ranks++)
            allreduces_of_more(ranks, oversubscribed);
        allreduces_of_more(INT_MAX, oversubscribed);
    }
}

static void allreduces(void **state)
{
    static const size_t limits[] = {1, 352, 4096};
    struct nc_situation crowd = {.ranks = 32, .oversubscribed = true};

    (void) state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limit = limits[i];
        check_allreduces();
    }
    /* rb cannot keep an order, and to combine all that 32 ranks have takes each of them long */
    assert_int_equal(nc_select_allreduce(&crowd, 65536, false, false, NULL), NC_ALLREDUCE_SLICED);
    assert_int_equal(nc_select_allreduce(&crowd, 65536, false, true, NULL), NC_ALLREDUCE_RB);
}

static enum nc_reduce_way reduce(int ranks, size_t bytes, bool oversubscribed)
{
    return nc_select_reduce(
        &(struct nc_situation){.ranks = ranks, .oversubscribed = oversubscribed}, bytes,
        bytes <= 352, NULL);
}

static void reduces(void **state)
{
    (void) state;
    for (int ranks = 3; ranks < 300; ranks++) {
        size_t all = 4096 * (size_t) ranks;
        assert_int_equal(reduce(ranks, 0, false), NC_REDUCE_BINOMIAL);
        assert_int_equal(reduce(ranks, 352, false), NC_REDUCE_BINOMIAL);
        assert_int_equal(reduce(ranks, 353, false), NC_REDUCE_BINARY);
        assert_int_equal(reduce(ranks, 8, true), NC_REDUCE_FLAT);
        assert_int_equal(reduce(ranks, all - 1, false), NC_REDUCE_BINARY);
        assert_int_equal(reduce(ranks, all, false), NC_REDUCE_CHAIN_ALL);
        assert_int_equal(reduce(ranks, SIZE_MAX, false), NC_REDUCE_CHAIN_ALL);
        assert_int_equal(reduce(ranks, SIZE_MAX, true), NC_REDUCE_FLAT);
    }
    assert_int_equal(reduce(2, SIZE_MAX, false), NC_REDUCE_FLAT);
}

static void fragments_of_chains(void **state)
{
    (void) state;
    assert_int_equal(nc_select_chain_fragment(64, 0), 4096);
    assert_int_equal(nc_select_chain_fragment(64, 1 << 20),
                     5760); /* sqrt(2^20 2000 / 62) is 5816 */
    assert_int_equal(nc_select_chain_fragment(3, 1 << 20), 45760); /* sqrt(2^20 2000) is 45795 */
    for (int ranks = 3; ranks < 1000; ranks++)
        assert_true(nc_select_chain_fragment(ranks, 1 << 20) >=
                    nc_select_chain_fragment(ranks + 1, 1 << 20));
}

static void scans(void **state)
{
    (void) state;
    for (int ranks = 3; ranks < 300; ranks++) {
        struct nc_situation s = {.ranks = ranks, .numa_nodes = ranks % 2, .oversubscribed = false};
        size_t most = ranks % 2 ? 16384 : 8192;
        assert_int_equal(nc_select_scan(&s, 352, true, NULL), NC_SCAN_STEPS);
        assert_int_equal(nc_select_scan(&s, most, false, NULL), NC_SCAN_STEPS);
        assert_int_equal(nc_select_scan(&s, most + 1, false, NULL), NC_SCAN_CHAIN);
        assert_int_equal(nc_select_scan(&s, SIZE_MAX, false, NULL), NC_SCAN_CHAIN);
        assert_int_equal(nc_select_scan_radix(&s, NULL), 4);
        s.oversubscribed = true;
        assert_int_equal(nc_select_scan(&s, 4096 * (size_t) ranks, false, NULL), NC_SCAN_STEPS);
        assert_int_equal(nc_select_scan(&s, 4096 * (size_t) ranks + 1, false, NULL), NC_SCAN_CHAIN);
        assert_int_equal(nc_select_scan_radix(&s, NULL), 16);
    }
    /* two ranks are a chain */
    assert_int_equal(nc_select_scan(&(struct nc_situation){.ranks = 2}, 352, true, NULL),
                     NC_SCAN_STEPS);
    assert_int_equal(nc_select_scan(&(struct nc_situation){.ranks = 2}, 353, false, NULL),
                     NC_SCAN_CHAIN);
}

/* Between nodes by doubling until there are as many chunks as nodes. */
static void scans_of_nodes(void **state)
{
    (void) state;
    for (int nodes = 2; nodes < 100; nodes++) {
        uint64_t n = (uint64_t) nodes;
        assert_int_equal(nc_select_scan_nodes(nodes, n - 1, &why), NC_SCAN_STEPS);
        assert_true(begins("fewer "));
        assert_int_equal(nc_select_scan_nodes(nodes, n, &why), NC_SCAN_CHAIN);
        assert_true(begins("at least "));
    }
}

/* Whether blocks go by rows, and the rule for it, which begins so. */
static void alltoall(int rows, int mates, size_t bytes, bool by_rows, const char *rule)
{
    assert_int_equal(nc_select_alltoall_rows(rows, mates, bytes, &why), by_rows);
    assert_true(begins(rule));
}

static void rows(void **state)
{
    (void) state;
    alltoall(0, 0, 1, false, "the NUMA nodes have different numbers of ranks");
    alltoall(1, 8, 1, false, "the ranks are on one NUMA node");
    alltoall(8, 1, 1, false, "each rank is on a NUMA node of its own");
    alltoall(2, 8, 512, true, "several NUMA nodes, short blocks: ");
    alltoall(2, 8, 513, false, "the blocks of a NUMA node have more than 4 KiB ");
    alltoall(8, 2, 1024, true, "several NUMA nodes, short blocks: ");
    alltoall(8, 2, 1025, false, "the blocks of a rank have more than 16 KiB ");
    assert_false(nc_select_reduce_scatter_rows(0, 0, &why));
    assert_false(nc_select_reduce_scatter_rows(1, 8, &why));
    assert_true(begins("the ranks are on one "));
    assert_false(nc_select_reduce_scatter_rows(8, 1, &why));
    assert_true(nc_select_reduce_scatter_rows(2, 2, &why));
    assert_true(begins("several NUMA nodes with "));
}

/* A cache that a few processors seem to have for themselves is believed up to 4 MiB for each. */
static void share_of_the_cache(void **state)
{
    (void) state;
    assert_int_equal(nc_select_cache_share(32 << 20, 8, 1), 32 << 20);
    assert_int_equal(nc_select_cache_share(32 << 20, 8, 8), 4 << 20);
    assert_int_equal(nc_select_cache_share(105 << 20, 2, 2), 4 << 20);
    assert_int_equal(nc_select_cache_share(105 << 20, 2, 1), 8 << 20);
    assert_int_equal(nc_select_cache_share(8 << 20, 0, 2), 4 << 20);
}

/* Each choice has a rule, which begins with whom it is for. */
static void rules(void **state)
{
    struct nc_situation two = {.ranks = 2}, many = {.ranks = 64, .numa_nodes = true};

    (void) state;
    nc_select_barrier(&two, &why);
    assert_true(begins("up to 2 ranks: the two signal each other at the same time"));
    nc_select_barrier(&many, &why);
    assert_true(begins("several NUMA nodes: "));
    nc_select_notice(&many, &why);
    assert_true(begins("a processor for each rank"));
    nc_select_reduce(&two, 8, true, &why);
    assert_true(begins("up to 2 ranks"));
    nc_select_reduce(&many, 8, true, &why);
    assert_true(begins("inline messages: "));
    nc_select_reduce(&many, 64 * 4096 - 1, false, &why);
    assert_true(begins("less than 4 KiB "));
    nc_select_allreduce(&many, 353, false, true, &why);
    assert_true(begins("messages that are not "));
    nc_select_scan(&two, 353, false, &why);
    assert_true(begins("up to 2 ranks"));
    nc_select_scan(&many, 352, true, &why);
    assert_true(begins("inline messages: "));
    nc_select_scan(&many, 16384, false, &why);
    assert_true(begins("several NUMA nodes, "));
    nc_select_scan(&many, 16385, false, &why);
    assert_true(begins("long enough "));
    nc_select_scan_radix(&many, &why);
    assert_true(begins("a processor for each rank: "));
}

static void rules_of_oversubscribed_ranks(void **state)
{
    struct nc_situation many = {.ranks = 64, .numa_nodes = true, .oversubscribed = true};

    (void) state;
    nc_select_scan(&many, 353, false, &why);
    assert_true(begins("more ranks than processors, "));
    nc_select_scan_radix(&many, &why);
    assert_true(begins("more ranks than processors: "));
    nc_select_notice(&many, &why);
    assert_true(begins("more ranks than processors: "));
    nc_select_allreduce(&many, 353, false, true, &why);
    assert_true(begins("more ranks than "));
}

static void versions_that_are_possible(void **state)
{
    (void) state;
    for (enum nc_allreduce_version v = 0; v < NC_ALLREDUCE_VERSIONS; v++) {
        assert_int_equal(nc_select_possible(v, true, true), v);
        assert_int_equal(nc_select_possible(v, false, true),
                         v == NC_ALLREDUCE_SLICED ? NC_ALLREDUCE_RB : v);
        assert_int_equal(nc_select_possible(v, false, false), NC_ALLREDUCE_SYMMETRIC);
    }
    assert_int_equal(nc_select_possible(NC_ALLREDUCE_SLICED, true, false), NC_ALLREDUCE_SLICED);
}

/* The cluster of Kurnosov 2019: 128 processes, binomial to 7.1 KB, then pipelined binary; the chain
 * not before 360 KB. Chunks are the segments, 1 to 64 KiB. */
static void trees_between_nodes(void **state)
{
    const struct nc_model_link cluster = {.alpha = 5e-5, .beta = 4.7e-8};
    struct nc_select_level level[2] = {{.link = cluster, .members = 128, .by = {NC_KNOMIAL, 2}},
                                       {.link = cluster, .members = 128, .by = {NC_KARY, 2}}};

    (void) state;
    assert_int_equal(nc_select_tree(cluster, 128, 4096, 1).algorithm, NC_KNOMIAL);
    assert_int_equal(nc_select_tree(cluster, 128, 100000, 1).algorithm, NC_KARY);
    assert_int_equal(nc_select_tree(cluster, 128, 1000000, 1).algorithm, NC_CHAIN);
    assert_int_equal(nc_select_chunk(level, 1, 1 << 20, 1), NC_CHUNK);
    assert_int_equal(nc_select_chunk(level, 2, 1 << 20, 1), 13635); /* printed: 13 632 */
    assert_int_equal(nc_select_chunk(level, 2, 1 << 20, 1000), 13000);
    assert_int_equal(nc_select_chunk(level, 2, 1, 8), 1024);
    assert_int_equal(nc_select_exchange(cluster, 128, 8).algorithm, NC_RD);
    assert_int_equal(nc_select_exchange(cluster, 128, 1 << 20).algorithm, NC_RSAG);
    assert_int_equal(nc_select_exchange(cluster, 2, 1 << 20).algorithm, NC_RD);
    /* by halves of 6 two members hand all they have to another one first */
    assert_int_equal(nc_select_parts(cluster, 8, NC_CHUNK), NC_RSAG);
    assert_int_equal(nc_select_parts(cluster, 6, NC_CHUNK), NC_RING);
    assert_int_equal(nc_select_parts(cluster, 6, 8), NC_RSAG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(share_of_the_cache),
                                       cmocka_unit_test(rules),
                                       cmocka_unit_test(rules_of_oversubscribed_ranks),
                                       cmocka_unit_test(versions_that_are_possible),
                                       cmocka_unit_test(trees_between_nodes),
                                       cmocka_unit_test(barriers),
                                       cmocka_unit_test(allreduces),
                                       cmocka_unit_test(reduces),
                                       cmocka_unit_test(scans),
                                       cmocka_unit_test(scans_of_nodes),
                                       cmocka_unit_test(rows),
                                       cmocka_unit_test(fragments_of_chains)};
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
