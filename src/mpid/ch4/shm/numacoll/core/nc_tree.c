/* Makes trees: the shapes by arithmetic on relative ranks, and tables of them. See nc_tree.h. */

#include "nc_tree.h"

/* For the arrays of a tree, and for the size of each subtree while the tree is made. */
size_t nc_tree_bytes(int p)
{
    return sizeof(int) * (4 * (size_t) p + 1);
}

/* In a k-nomial tree the parent of i is i with its lowest nonzero base-k digit cleared. */
static int knomial_parent(int i, int k)
{
    long weight = 1;

    while (i / weight % k == 0)
        weight *= k;
    return (int) (i - i / weight % k * weight);
}

/* A level of a balanced k-ary tree. */
struct level {
    long first, width; /* its lowest rank; how many ranks it has room for */
};

static struct level level_of(int i, int k)
{
    struct level level = {.first = 0, .width = 1};

    while (i >= level.first + level.width) {
        level.first += level.width;
        level.width *= k;
    }
    return level;
}

static int balanced_parent(int i, int k)
{
    struct level level = level_of(i, k);
    long above = level.width / k;

    return (int) (level.first - above + (i - level.first) % above);
}

int nc_tree_parent(enum nc_tree_kind kind, int k, int i)
{
    if (i == 0)
        return -1;
    switch (kind) {
        case NC_TREE_KARY:
            return (i - 1) / k;
        case NC_TREE_BALANCED:
            return balanced_parent(i, k);
        case NC_TREE_KNOMIAL:
            return knomial_parent(i, k);
        case NC_TREE_CHAIN:
            return i - 1;
        default:
            return 0;
    }
}

/* The only rank that can be the next child of i after `child`; the first child if `child` is i. */
static long next_candidate(enum nc_tree_kind kind, int k, int i, int child)
{
    long weight = 1;

    if (kind == NC_TREE_KARY && child == i)
        return (long) k * i + 1;
    if (kind == NC_TREE_BALANCED)
        return child + level_of(i, k).width;
    /* In a k-nomial tree the children differ from i in one base-k digit, which is 1, 2, .. k - 1;
     * then the next higher digit follows. */
    while (kind == NC_TREE_KNOMIAL && weight * k <= child - i)
        weight *= k;
    return child + weight;
}

int nc_tree_next(enum nc_tree_kind kind, int k, int p, int i, int child)
{
    long next = next_candidate(kind, k, i, child);

    return next < p && nc_tree_parent(kind, k, (int) next) == i ? (int) next : -1;
}

/* Fills parent[], and counts the children of i in first[i + 1]. */
static void find_parents(struct nc_tree *tree, enum nc_tree_kind kind, int k)
{
    for (int i = 0; i <= tree->size; i++)
        tree->first[i] = 0;
    for (int i = 0; i < tree->size; i++) {
        tree->parent[i] = nc_tree_parent(kind, k, i);
        if (i > 0)
            tree->first[tree->parent[i] + 1]++;
    }
}

/* Lists the children of each rank, the higher ones first. Meanwhile first[i] is the index in
 * child[] where the next child of i is put; the last loop restores first[]. */
static void list_children(struct nc_tree *tree)
{
    int p = tree->size;

    for (int i = 0; i < p; i++)
        tree->first[i + 1] += tree->first[i];
    for (int i = p - 1; i > 0; i--)
        tree->child[tree->first[tree->parent[i]]++] = i;
    for (int i = p; i > 0; i--)
        tree->first[i] = tree->first[i - 1];
    tree->first[0] = 0;
}

/* Counts the ranks of each subtree, in one pass, as a parent is a lower rank than its children. */
static void measure_subtrees(const struct nc_tree *tree, int *subtree)
{
    for (int i = 0; i < tree->size; i++)
        subtree[i] = 1;
    for (int i = tree->size - 1; i > 0; i--)
        subtree[tree->parent[i]] += subtree[i];
}

/* Sorts children by subtree, larger ones first; equal ones keep their order. Insertion is fast: the
 * many children of a flat tree are in order already, and other trees have few children. */
static void sort(int *child, int n, const int *subtree)
{
    for (int i = 1; i < n; i++) {
        int c = child[i], at = i;

        for (; at > 0 && subtree[child[at - 1]] < subtree[c]; at--)
            child[at] = child[at - 1];
        child[at] = c;
    }
}

void nc_tree_make(struct nc_tree *tree, void *memory, enum nc_tree_kind kind, int k, int p)
{
    int *subtree;

    tree->size = p;
    tree->parent = memory;
    tree->first = tree->parent + p;
    tree->child = tree->first + p + 1;
    subtree = tree->child + p;
    find_parents(tree, kind, k);
    list_children(tree);
    measure_subtrees(tree, subtree);
    for (int i = 0; i < p; i++)
        sort(tree->child + tree->first[i], tree->first[i + 1] - tree->first[i], subtree);
}
