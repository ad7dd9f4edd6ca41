/* numacoll-topo: shows which groups numacoll would form of the ranks of a job, which ranks lead
 * them, and the size of the segment they would share. It calls the library's core/, so it shows
 * what the library does. main.c calls options.c, then hierarchy.c, then text.c, json.c or
 * dot.c.
 *
 * Wrong input ends the process with one line, by errx. Memory is freed when the process ends. */

#ifndef TOPO_H_INCLUDED
#define TOPO_H_INCLUDED

#include <stddef.h>

#include "common/cluster.h"
#include "core/nc_group.h"
#include "core/nc_layout.h"
#include "core/nc_route.h"
#include "core/nc_topo.h"
#include "core/nc_tree.h"

/* ---- options.c ---- */

enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_DOT };

/* The options that stand for variables of numacoll and are numbers. */
enum setting { SET_SLOTS, SET_FRAGMENT, SET_SETS, SET_TREE, SET_DEGREE, SET_BUDGET, SETTINGS };

struct options {
    struct cluster_options cluster;
    const char *root; /* checked in hierarchy.c, when the number of ranks is known */
    const char *rank; /* the rank to show; or NULL */
    int setting[SETTINGS];
    enum output output;
};

/* Parses the command line. Ends the process if an option is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* The text of a setting's value. */
const char *options_setting(const struct options *options, enum setting setting);

/* ---- hierarchy.c ---- */

/* All that can be shown. */
struct hierarchy {
    const struct options *options;
    struct cluster cluster;
    int ranks, root;
    int rank;    /* the rank to show; -1: none */
    int *first;  /* [nodes + 1] the ranks of node i are member[first[i]] .. */
    int *member; /* [ranks] .. member[first[i + 1] - 1], ascending */
    struct nc_topo topo;
    struct nc_groups groups;
    struct nc_topo bcast_topo; /* the levels by which Bcast moves data inside a node */
    struct nc_groups bcast_groups;
    struct nc_geometry geometry; /* of the segment on the first node */
    struct nc_layout layout;
    size_t segment_bytes; /* of the first node, with as many slots as fit the budget, at least 1 */
    bool fits;            /* the budget */
    size_t small_bytes;   /* of the small segment that most communicators begin with */
    size_t most_large,
        most_small; /* communicators of these ranks at a time within the budget: so
                       many with such a segment, and so many besides with a small one */
};

void hierarchy_make(struct hierarchy *hierarchy, const struct options *options);

/* The group with this number on a level, in a call with a root. */
struct nc_group hierarchy_group(const struct nc_groups *groups, int level, int number, int root);

/* Write a list of ranks to ranks[], which has room for all ranks, and return its length. Members
 * are in the order of their relative ranks, the leader first. */
int hierarchy_members(const struct nc_group *group, int *ranks);
int hierarchy_on_node(const struct hierarchy *hierarchy, int node, int *ranks);
int hierarchy_children(const struct nc_group *group, const struct nc_tree *tree, int index,
                       int *ranks);

/* Whether a group of bcast_groups has a notification tree: the group is inside a node and has more
 * than one member. */
bool hierarchy_has_tree(const struct hierarchy *hierarchy, const struct nc_group *group);
struct nc_tree hierarchy_tree(const struct hierarchy *hierarchy, const struct nc_group *group);

/* Why a level is not active; NULL if it is. The text is valid until the next call. */
const char *hierarchy_dropped(const struct hierarchy *hierarchy, enum nc_level level);

/* ---- text.c, json.c, dot.c: they write to standard output ---- */

void text_write(const struct hierarchy *hierarchy);

/* Write ranks as 0..17,20,22. The second function writes `fold` after each eighth item. */
void text_ranks(const int *ranks, int n);
void text_folded_ranks(const int *ranks, int n, const char *fold);

void json_write(const struct hierarchy *hierarchy);
void dot_write(const struct hierarchy *hierarchy);

#endif
