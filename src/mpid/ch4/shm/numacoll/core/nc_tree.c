#include "nc_tree.h"

size_t nc_tree_bytes(int p)
{
    return sizeof(int) * ((size_t) p + ((size_t) p + 1) + (size_t) p);
}

/* In a k-nomial tree the parent of i is i with its lowest nonzero base-k digit cleared. */
static int knomial_parent(int i, int k)
{
    long weight = 1;

    while (i / weight % k == 0)
        weight *= k;
    return (int) (i - i / weight % k * weight);
}

int nc_tree_parent(enum nc_tree_kind kind, int k, int i)
{
    if (i == 0)
        return -1;
    switch (kind) {
        case NC_TREE_KARY:
            return (i - 1) / k;
        case NC_TREE_KNOMIAL:
            return knomial_parent(i, k);
        case NC_TREE_CHAIN:
            return i - 1;
        default:
            return 0;
    }
}

/* The only rank that can be the next child of i: the first, if child is i. */
static long next_candidate(enum nc_tree_kind kind, int k, int i, int child)
{
    long weight = 1;

    if (kind == NC_TREE_KARY && child == i)
        return (long) k * i + 1;
    /* A k-nomial tree's children differ from i in one base-k digit; 1, 2, .. k - 1, then the digit
     * above. */
    while (kind == NC_TREE_KNOMIAL && weight * k <= child - i)
        weight *= k;
    return child + weight;
}

int nc_tree_next(enum nc_tree_kind kind, int k, int p, int i, int child)
{
    long next = next_candidate(kind, k, i, child);

    return next < p && nc_tree_parent(kind, k, (int) next) == i ? (int) next : -1;
}

void nc_tree_make(struct nc_tree *tree, void *memory, enum nc_tree_kind kind, int k, int p)
{
    tree->size = p;
    tree->parent = memory;
    tree->first = tree->parent + p;
    tree->child = tree->first + p + 1;

    for (int i = 0; i <= p; i++)
        tree->first[i] = 0;
    for (int i = 0; i < p; i++) {
        tree->parent[i] = nc_tree_parent(kind, k, i);
        if (i > 0)
            tree->first[tree->parent[i] + 1]++;
    }
    for (int i = 0; i < p; i++)
        tree->first[i + 1] += tree->first[i];

    /* The larger subtree must be told first. first[] serves as the fill position and is put back
     * after. */
    for (int n = 1; n < p; n++) {
        int i = nc_tree_larger_last(kind) ? p - n : n;
        tree->child[tree->first[tree->parent[i]]++] = i;
    }
    for (int i = p; i > 0; i--)
        tree->first[i] = tree->first[i - 1];
    tree->first[0] = 0;
}
