#include "nc_shape.h"

/* The children of all levels together; one tree while it is looked at, and the ranks below each of
 * its members. */
size_t nc_shape_bytes(int ranks)
{
    return sizeof(int) * 2 * (size_t) ranks + nc_tree_bytes(ranks);
}

/* Parents have lower indices than their children. */
static void measure_subtrees(const struct nc_tree *tree, int *subtree)
{
    for (int i = 0; i < tree->size; i++)
        subtree[i] = 1;
    for (int i = tree->size - 1; i > 0; i--)
        subtree[tree->parent[i]] += subtree[i];
}

/* Sorts by subtree, then by index, which stands for the distance. The many children of a flat tree
 * are in that order; inserting the few of another is cheap. */
static void sort(int *child, int n, const int *subtree)
{
    for (int i = 1; i < n; i++) {
        int c = child[i], at = i;
        for (; at > 0; at--) {
            int before = child[at - 1], larger = subtree[before] - subtree[c];
            if (larger < 0 || (larger == 0 && before < c))
                break;
            child[at] = before;
        }
        child[at] = c;
    }
}

/* Adds what the member of an index has in a tree of n members, ranks by index; member NULL: the
 * index is the rank. */
static void add_tree(struct nc_shape *shape, int *memory, const struct nc_shape_tree *kind, int n,
                     enum nc_shape_order order, int index, const int *member)
{
    struct nc_tree tree;
    int *to = shape->child + shape->children, *child, children;

    nc_tree_make(&tree, memory + n, kind->kind, kind->k, n);
    measure_subtrees(&tree, memory);
    child = tree.child + tree.first[index];
    children = tree.first[index + 1] - tree.first[index];
    sort(child, children, memory);
    for (int i = 0; i < children; i++) {
        int c = child[order == NC_SHAPE_UP ? i : children - 1 - i];
        to[i] = member ? member[c] : c;
    }
    shape->children += children;
    if (index > 0)
        shape->parent = member ? member[tree.parent[index]] : tree.parent[index];
}

static void begin(struct nc_shape *shape, void *memory)
{
    shape->parent = -1;
    shape->children = 0;
    shape->child = memory;
}

void nc_shape_of_tree(struct nc_shape *shape, void *memory, const struct nc_shape_tree *tree, int p,
                      enum nc_shape_order order, int rank)
{
    begin(shape, memory);
    add_tree(shape, shape->child + p, tree, p, order, rank, NULL);
}

void nc_shape_of_groups(struct nc_shape *shape, void *memory, const struct nc_shape_tree *level,
                        const struct nc_groups *groups, enum nc_shape_order order, int rank)
{
    begin(shape, memory);
    for (int i = 0; i < groups->levels; i++) {
        int l = order == NC_SHAPE_UP ? i : groups->levels - 1 - i;
        struct nc_group group = nc_group_at(groups, l, rank, 0);

        if (group.index >= 0 && group.size > 1)
            add_tree(shape, shape->child + groups->ranks, &level[l], group.size, order, group.index,
                     group.member);
    }
}
