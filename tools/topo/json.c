/* Output as JSON, for programs. */

#include "topo.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arguments.h"

static void add(json_object *object, const char *key, json_object *value)
{
    json_object_object_add(object, key, value);
}

static json_object *number(size_t n)
{
    return json_object_new_int64((int64_t) n);
}

static json_object *array(const int *ranks, int n)
{
    json_object *list = json_object_new_array();

    for (int i = 0; i < n; i++)
        json_object_array_add(list, json_object_new_int(ranks[i]));
    return list;
}

static json_object *nodes_of(const struct hierarchy *h, int *ranks)
{
    json_object *list = json_object_new_array();

    for (int i = 0; i < h->cluster.nodes; i++) {
        json_object *node = json_object_new_object();

        add(node, "name", json_object_new_string(h->cluster.name[i]));
        add(node, "ranks", array(ranks, hierarchy_on_node(h, i, ranks)));
        json_object_array_add(list, node);
    }
    return list;
}

/* The parents of a tree in the order of their relative ranks, each with its children in the order
 * in which it notifies them. */
static json_object *tree_of(const struct hierarchy *h, const struct nc_group *group, int *ranks)
{
    struct nc_tree tree = hierarchy_tree(h, group);
    json_object *list = json_object_new_array();

    for (int i = 0; i < tree.size; i++) {
        int n = hierarchy_children(group, &tree, i, ranks);
        json_object *node;

        if (n == 0)
            continue;
        node = json_object_new_object();
        add(node, "parent", json_object_new_int(nc_group_member(group, i)));
        add(node, "children", array(ranks, n));
        json_object_array_add(list, node);
    }
    return list;
}

static json_object *trees_of(const struct hierarchy *h, int *ranks)
{
    json_object *list = json_object_new_array();

    for (int level = 0; level < h->bcast_topo.levels; level++) {
        const char *name = nc_level_name(h->bcast_topo.name[level]);

        for (int i = h->bcast_groups.level[level]; i < h->bcast_groups.level[level + 1]; i++) {
            struct nc_group group = hierarchy_group(&h->bcast_groups, level, i, h->root);
            json_object *object;

            if (!hierarchy_has_tree(h, &group))
                continue;
            object = json_object_new_object();
            add(object, "level", json_object_new_string(name));
            add(object, "leader", json_object_new_int(group.leader));
            add(object, "members", array(ranks, hierarchy_members(&group, ranks)));
            add(object, "tree", tree_of(h, &group, ranks));
            json_object_array_add(list, object);
        }
    }
    return list;
}

static json_object *group_of(const struct hierarchy *h, int level, int i, int *ranks)
{
    struct nc_group group = hierarchy_group(&h->groups, level, i, h->root);
    json_object *object = json_object_new_object();

    add(object, "leader", json_object_new_int(group.leader));
    add(object, "members", array(ranks, hierarchy_members(&group, ranks)));
    add(object, "skipped", json_object_new_boolean(group.size == 1));
    return object;
}

static json_object *levels_of(const struct hierarchy *h, int *ranks)
{
    json_object *list = json_object_new_array();

    for (int level = 0; level < h->topo.levels; level++) {
        json_object *object = json_object_new_object(), *groups = json_object_new_array();

        for (int i = h->groups.level[level]; i < h->groups.level[level + 1]; i++)
            json_object_array_add(groups, group_of(h, level, i, ranks));
        add(object, "name", json_object_new_string(nc_level_name(h->topo.name[level])));
        add(object, "groups", groups);
        json_object_array_add(list, object);
    }
    return list;
}

static json_object *dropped_of(const struct hierarchy *h)
{
    json_object *object = json_object_new_object();

    for (int i = 0; i < h->cluster.locations.columns; i++) {
        const char *why = hierarchy_dropped(h, (enum nc_level) i);

        if (why)
            add(object, nc_level_name((enum nc_level) i), json_object_new_string(why));
    }
    return object;
}

static json_object *layout_of(const struct hierarchy *h)
{
    const struct nc_geometry *g = &h->geometry;
    json_object *object = json_object_new_object();

    add(object, "node", json_object_new_string(h->cluster.name[0]));
    add(object, "regions", number(g->ranks));
    add(object, "region_bytes", number(h->layout.region));
    add(object, "bytes", number(h->segment_bytes));
    add(object, "fits", json_object_new_boolean(h->fits));
    add(object, "page_bytes", number(g->page));
    add(object, "slots", number(g->slots));
    add(object, "slot_bytes", number(g->slot_bytes));
    add(object, "set_slots", number(g->set_slots));
    add(object, "small_bytes", number(h->small_bytes));
    add(object, "most_large", number(h->most_large));
    add(object, "most_small", number(h->most_small));
    return object;
}

void json_write(const struct hierarchy *h)
{
    int *ranks = allocate(sizeof *ranks * (size_t) h->ranks);
    json_object *object = json_object_new_object();

    add(object, "ranks", json_object_new_int(h->ranks));
    add(object, "root", json_object_new_int(h->root));
    add(object, "nodes", nodes_of(h, ranks));
    add(object, "levels", levels_of(h, ranks));
    add(object, "dropped", dropped_of(h));
    add(object, "bcast_trees", trees_of(h, ranks));
    add(object, "layout", layout_of(h));
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
    free(ranks);
}
