/* For test_model.c and test_model_papers.c: comparisons of times, and trees that are executed
 * message by message. */

#ifndef MODEL_STEPS_H_INCLUDED
#define MODEL_STEPS_H_INCLUDED

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/nc_model.h"
#include "core/nc_tree.h"

#define PROCESSES 300
#define SEGMENTS  40

static const uint64_t mib = 1 << 20;

/* the constants of the papers: a cluster */
static const struct nc_model_link cluster = {.alpha = 5e-5, .beta = 4.7e-8};

/* a message is one step, whatever its length */
static const struct nc_model_link steps = {.alpha = 1, .beta = 0};

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

static struct nc_tree tree_of(enum nc_tree_kind kind, int k, int p)
{
    static int memory[4 * PROCESSES + 1];
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

#endif
