/* Tests the steps of a scan (core/nc_scan.h): they are run on intervals of ranks, which join only
 * in the order of ranks and without gaps, and what is read must be what its reader is named to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "core/nc_scan.h"

enum { MOST = 130 };

/* Operands of ranks first .. end - 1; none if they are equal. */
struct interval {
    int first, end;
};

static struct interval join(struct interval a, struct interval b)
{
    if (a.first == a.end)
        return b;
    if (b.first == b.end)
        return a;
    assert_int_equal(a.end, b.first);
    return (struct interval){a.first, b.end};
}

static int numa[MOST];

struct scan {
    int ranks, radix;
    bool exclusive;
    struct nc_scan_plan plan[MOST];
    void *memory[MOST];
    struct interval result[MOST], total[MOST];
    int crossed; /* messages between NUMA nodes */
    int most;    /* messages that a rank reads one after the other, at most, in all steps */
};

static void make(struct scan *s)
{
    for (int r = 0; r < s->ranks; r++) {
        s->memory[r] = malloc(nc_scan_bytes(s->ranks, s->radix)); /* AddressSanitizer watches */
        nc_scan_make(&s->plan[r], s->memory[r], numa, s->ranks, s->radix, s->exclusive, r);
        assert_int_equal(s->plan[r].up, s->plan[0].up);
        assert_int_equal(s->plan[r].across, s->plan[0].across);
        assert_int_equal(s->plan[r].down, s->plan[0].down);
    }
}

static void release(struct scan *s)
{
    for (int r = 0; r < s->ranks; r++)
        free(s->memory[r]);
}

static bool is_in(const int *list, int n, int rank)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == rank)
            return true;
    }
    return false;
}

/* Each rank is named as a reader by exactly those that it reads. */
static void compare_lists(const struct scan *s, int number)
{
    for (int r = 0; r < s->ranks; r++) {
        const struct nc_scan_step *mine = &s->plan[r].step[number];
        for (int other = 0; other < s->ranks; other++) {
            const struct nc_scan_step *theirs = &s->plan[other].step[number];
            assert_int_equal(is_in(mine->source, mine->sources, other),
                             is_in(theirs->reader, theirs->readers, r));
        }
    }
}

/* One step: what all have before it is `sent`, with which their own is joined into `to`. */
static void run_step(struct scan *s, int number, const struct interval *sent, struct interval *to)
{
    struct interval before[MOST];
    int most = 0;

    compare_lists(s, number);
    for (int r = 0; r < s->ranks; r++)
        before[r] = sent[r];
    for (int r = 0; r < s->ranks; r++) {
        const struct nc_scan_step *step = &s->plan[r].step[number];
        struct interval all = {0, 0};
        for (int i = 0; i < step->sources; i++) {
            int source = step->source[i];
            assert_true(before[source].first < before[source].end);
            all = join(all, before[source]);
            s->crossed += numa[source] != numa[r];
        }
        if (step->sources > 0)
            to[r] = step->joins ? join(all, to[r]) : all;
        most = step->sources > most ? step->sources : most;
    }
    s->most += most;
}

static void run(struct scan *s)
{
    struct interval own[MOST];
    int number = 0;

    for (int r = 0; r < s->ranks; r++) {
        own[r] = (struct interval){r, r + 1};
        s->result[r] = s->exclusive ? (struct interval){0, 0} : own[r];
    }
    for (int i = 0; i < s->plan[0].up; i++)
        run_step(s, number++, i == 0 ? own : s->result, s->result);
    for (int r = 0; r < s->ranks; r++) {
        assert_int_equal(s->plan[r].joins, s->result[r].first < s->result[r].end);
        s->total[r] = s->plan[r].is_last ? s->exclusive ? join(s->result[r], own[r]) : s->result[r]
                                         : (struct interval){0, 0};
    }
    for (int i = 0; i < s->plan[0].across; i++)
        run_step(s, number++, s->total, s->total);
    if (s->plan[0].down)
        run_step(s, number++, s->total, s->result);
}

/* A scan of both kinds: rank r has the operands of ranks 0 to r, or 0 to r - 1. */
static struct scan check(int ranks, int radix, bool exclusive)
{
    struct scan s = {.ranks = ranks, .radix = radix, .exclusive = exclusive};

    make(&s);
    run(&s);
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(s.result[r].first, 0);
        assert_int_equal(s.result[r].end, exclusive ? r : r + 1);
    }
    release(&s);
    return s;
}

/* Ranks by blocks of `block`, dealt out over `nodes` NUMA nodes. */
static void deal(int block, int nodes)
{
    for (int r = 0; r < MOST; r++)
        numa[r] = r / block % nodes;
}

static void every_size(void **state)
{
    (void) state;
    for (int ranks = 1; ranks <= 40; ranks++) {
        for (int radix = 2; radix <= 5; radix++) {
            for (int block = 1; block <= ranks; block += 1 + block / 3) {
                deal(block, 1 + ranks % 4);
                check(ranks, radix, false);
                check(ranks, radix, true);
            }
        }
    }
    deal(MOST, 1);
    check(MOST, 16, true);
    check(MOST, 2, false);
}

/* Blocks of different lengths, some of one rank; a NUMA node in several places. */
static void uneven_blocks(void **state)
{
    uint32_t dice = 1;

    (void) state;
    for (int i = 0; i < 200; i++) {
        int ranks = 1 + i % 50;
        for (int r = 0; r < ranks; r++) {
            dice = dice * 1664525u + 1013904223u;
            numa[r] = r > 0 && dice >> 30 ? numa[r - 1] : (int) (dice >> 20) % 4;
        }
        check(ranks, 2 + i % 4, i % 2);
    }
}

/* 64 ranks on four NUMA nodes: between them only the totals move, each once to each NUMA node
 * behind, and nobody reads more than a few messages one after the other. */
static void crossings(void **state)
{
    struct scan s;

    (void) state;
    deal(16, 4);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        s = check(64, 4, exclusive);
        assert_int_equal(s.crossed, 3 + 2 + 1);
        assert_int_equal(s.plan[0].up + s.plan[0].across + s.plan[0].down, 4);
        assert_in_range(s.most, 0, 3 + 4 + 3 + 1);
    }
    deal(64, 1);
    s = check(64, 4, false);
    assert_int_equal(s.plan[0].up + s.plan[0].across + s.plan[0].down, 3);
    s = check(4, 4, true);
    assert_int_equal(s.plan[0].up + s.plan[0].across + s.plan[0].down, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size), cmocka_unit_test(uneven_blocks), cmocka_unit_test(crossings)};

    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
