#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_tree.h"

enum { LARGEST = 130 };

static struct nc_tree make(enum nc_tree_kind kind, int k, int p)
{
    struct nc_tree tree;
    nc_tree_make(&tree, malloc(nc_tree_bytes(p)), kind, k, p);
    return tree;
}

/* Walks from the root: every rank is met once, and parent and child name each other. */
static int walk(const struct nc_tree *t, int rank, char *met)
{
    int n = 1;

    assert_false(met[rank]);
    met[rank] = 1;
    for (int i = t->first[rank]; i < t->first[rank + 1]; i++) {
        assert_int_equal(t->parent[t->child[i]], rank);
        n += walk(t, t->child[i], met);
    }
    return n;
}

/* What is found without the table is what it has. */
static void check_next(const struct nc_tree *t, enum nc_tree_kind kind, int k)
{
    for (int i = 0; i < t->size; i++) {
        int n = t->first[i + 1] - t->first[i], child = i;
        assert_int_equal(nc_tree_parent(kind, k, i), t->parent[i]);
        for (int j = 0; j < n; j++) {
            int place = t->first[i] + (nc_tree_larger_last(kind) ? n - 1 - j : j);
            child = nc_tree_next(kind, k, t->size, i, child);
            assert_int_equal(child, t->child[place]);
        }
        assert_int_equal(nc_tree_next(kind, k, t->size, i, child), -1);
    }
}

static void check_all_sizes(enum nc_tree_kind kind, int k)
{
    for (int p = 1; p <= LARGEST; p++) {
        struct nc_tree t = make(kind, k, p);
        char met[LARGEST] = {0};

        assert_int_equal(t.parent[0], -1);
        check_next(&t, kind, k);
        assert_int_equal(walk(&t, 0, met), p);
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
        check_all_sizes(NC_TREE_KNOMIAL, k);
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
    t = make(NC_TREE_KARY, 3, 6);
    assert_children(&t, 0, 3, (int[]){1, 2, 3});
    assert_children(&t, 1, 2, (int[]){4, 5});
    free(t.parent);
    t = make(NC_TREE_CHAIN, 2, 3);
    assert_children(&t, 1, 1, (int[]){2});
    free(t.parent);
    t = make(NC_TREE_FLAT, 2, 4);
    assert_children(&t, 0, 3, (int[]){1, 2, 3});
    free(t.parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rank_once), cmocka_unit_test(shapes)};
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
