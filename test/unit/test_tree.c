/* core/nc_tree.c: trees of every kind and size have each rank once, children are in the documented
 * order, and the functions without a table agree with the table. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_tree.h"

enum { LARGEST = 300 };

static struct nc_tree make(enum nc_tree_kind kind, int k, int p)
{
    struct nc_tree tree;
    nc_tree_make(&tree, malloc(nc_tree_bytes(p)), kind, k, p);
    return tree;
}

/* Ranks below and including this one; every rank is met once, and parent and child name each other.
 */
static int walk(const struct nc_tree *t, int rank, int *subtree)
{
    assert_int_equal(subtree[rank], 0);
    subtree[rank] = 1;
    for (int i = t->first[rank]; i < t->first[rank + 1]; i++) {
        assert_int_equal(t->parent[t->child[i]], rank);
        subtree[rank] += walk(t, t->child[i], subtree);
    }
    return subtree[rank];
}

/* Children with larger subtrees come first, of equal ones the higher rank. */
static void check_order(const struct nc_tree *t, const int *subtree)
{
    for (int rank = 0; rank < t->size; rank++) {
        for (int i = t->first[rank] + 1; i < t->first[rank + 1]; i++) {
            int before = t->child[i - 1], after = t->child[i];
            assert_true(subtree[before] > subtree[after] ||
                        (subtree[before] == subtree[after] && before > after));
        }
    }
}

static bool is_child(const struct nc_tree *t, int rank, int child)
{
    int i = t->first[rank];

    while (i < t->first[rank + 1] && t->child[i] != child)
        i++;
    return i < t->first[rank + 1];
}

/* The child after one that was found without the table; the table has it, and its subtree compares
 * as nc_tree_larger_last says. */
static int check_child(const struct nc_tree *t, enum nc_tree_kind kind, int k, int i, int before,
                       const int *subtree)
{
    int child = nc_tree_next(kind, k, t->size, i, before);
    bool last = nc_tree_next(kind, k, t->size, i, child) < 0;

    assert_true(child > before && is_child(t, i, child));
    if (before > i && !nc_tree_larger_last(kind))
        assert_true(subtree[before] >= subtree[child]);
    else if (before > i && !last)
        assert_true(subtree[before] <= subtree[child]);
    return child;
}

/* What is found without the table is what it has, but ascending. */
static void check_next(const struct nc_tree *t, enum nc_tree_kind kind, int k, const int *subtree)
{
    for (int i = 0; i < t->size; i++) {
        int child = i;

        assert_int_equal(nc_tree_parent(kind, k, i), t->parent[i]);
        for (int n = t->first[i + 1] - t->first[i]; n > 0; n--)
            child = check_child(t, kind, k, i, child, subtree);
        assert_int_equal(nc_tree_next(kind, k, t->size, i, child), -1);
    }
}

static void check_all_sizes(enum nc_tree_kind kind, int k)
{
    for (int p = 1; p <= LARGEST; p++) {
        struct nc_tree t = make(kind, k, p);
        int subtree[LARGEST] = {0};

        assert_int_equal(t.parent[0], -1);
        assert_int_equal(walk(&t, 0, subtree), p);
        check_order(&t, subtree);
        check_next(&t, kind, k, subtree);
        free(t.parent);
    }
}

static void every_rank_once(void **state)
{
    (void) state;
    check_all_sizes(NC_TREE_FLAT, 2);
    check_all_sizes(NC_TREE_CHAIN, 2);
    for (int k = 2; k <= 8; k++) {
        check_all_sizes(NC_TREE_KARY, k);
        check_all_sizes(NC_TREE_BALANCED, k);
        check_all_sizes(NC_TREE_KNOMIAL, k);
    }
}

/* Steps from the root to a rank. */
static int depth_of(const struct nc_tree *t, int rank)
{
    int depth = 0;

    for (; rank > 0; rank = t->parent[rank])
        depth++;
    return depth;
}

/* The subtrees of a rank's children have the same size, or one rank more; a rank without its k-th
 * child, as if it had a subtree of no rank. Children are in the order of size. */
static void check_balance(const struct nc_tree *t, int k, const int *subtree)
{
    for (int rank = 0; rank < t->size; rank++) {
        int first = t->first[rank], n = t->first[rank + 1] - first;

        assert_in_range(n, 0, k);
        if (n > 0)
            assert_in_range(
                subtree[t->child[first]] - (n < k ? 0 : subtree[t->child[first + n - 1]]), 0, 1);
    }
}

static void balanced(void **state)
{
    (void) state;
    for (int k = 2; k <= 8; k++) {
        for (int p = 1; p <= LARGEST; p++) {
            struct nc_tree t = make(NC_TREE_BALANCED, k, p), complete = make(NC_TREE_KARY, k, p);
            int subtree[LARGEST] = {0};

            walk(&t, 0, subtree);
            check_balance(&t, k, subtree);
            for (int rank = 0; rank < p; rank++)
                assert_int_equal(depth_of(&t, rank), depth_of(&complete, rank));
            free(t.parent);
            free(complete.parent);
        }
    }
}

static void assert_children(const struct nc_tree *t, int of, int n, const int *expected)
{
    assert_int_equal(t->first[of + 1] - t->first[of], n);
    assert_memory_equal(t->child + t->first[of], expected, sizeof(int) * (size_t) n);
}

static void shapes(void **state)
{
    struct nc_tree t;

    (void) state;
    t = make(NC_TREE_KNOMIAL, 2, 8);
    assert_children(&t, 0, 3, (int[]){4, 2, 1});
    assert_children(&t, 4, 2, (int[]){6, 5});
    free(t.parent);
    t = make(NC_TREE_KNOMIAL, 3, 9);
    assert_children(&t, 0, 4, (int[]){6, 3, 2, 1});
    assert_children(&t, 3, 2, (int[]){5, 4});
    free(t.parent);
    /* 4 is alone, 2 is not */
    t = make(NC_TREE_KNOMIAL, 2, 5);
    assert_children(&t, 0, 3, (int[]){2, 4, 1});
    free(t.parent);
    t = make(NC_TREE_KARY, 3, 6);
    assert_children(&t, 0, 3, (int[]){1, 3, 2});
    assert_children(&t, 1, 2, (int[]){5, 4});
    free(t.parent);
    t = make(NC_TREE_BALANCED, 2, 9);
    assert_children(&t, 0, 2, (int[]){2, 1});
    assert_children(&t, 1, 2, (int[]){3, 5});
    assert_children(&t, 2, 2, (int[]){4, 6});
    assert_children(&t, 3, 1, (int[]){7});
    assert_children(&t, 4, 1, (int[]){8});
    free(t.parent);
    t = make(NC_TREE_BALANCED, 3, 6);
    assert_children(&t, 0, 3, (int[]){2, 1, 3});
    assert_children(&t, 1, 1, (int[]){4});
    assert_children(&t, 2, 1, (int[]){5});
    free(t.parent);
    t = make(NC_TREE_CHAIN, 2, 3);
    assert_children(&t, 1, 1, (int[]){2});
    free(t.parent);
    t = make(NC_TREE_FLAT, 2, 4);
    assert_children(&t, 0, 3, (int[]){3, 2, 1});
    free(t.parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rank_once),
                                       cmocka_unit_test(balanced), cmocka_unit_test(shapes)};
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
