/* numacoll-topo: which groups numacoll would form of the ranks of a job, who leads them, and what
 * they would share. It asks the library's own core, so it shows what the library does.
 *
 * Wrong input ends the process by errx, with one line. What is allocated lives as long as the
 * process. */

#ifndef TOPO_H_INCLUDED
#define TOPO_H_INCLUDED

#include <stddef.h>

#include "core/nc_group.h"
#include "core/nc_layout.h"
#include "core/nc_route.h"
#include "core/nc_topo.h"
#include "core/nc_tree.h"

enum { MAX_RANKS = 1000000 };

/* ---- options.c ---- */

enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_DOT };

/* Numbers that stand for variables of numacoll. */
enum setting { SET_SLOTS, SET_FRAGMENT, SET_SETS, SET_TREE, SET_DEGREE, SETTINGS };

struct options {
    const char *topology; /* as nc_machine_load takes it */
    const char *mapping;  /* as nc_machine_map takes it */
    const char *nodes;    /* names, commas between; or NULL */
    const char *network;  /* file; or NULL */
    unsigned levels;      /* as nc_topo_make takes them */
    int ranks;            /* 0: one for each processor */
    const char *root;     /* judged only when it is known how many ranks there are */
    const char *rank;     /* the one asked about; or NULL */
    int setting[SETTINGS];
    enum output output;
};

/* Does not return if anything is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* The number that a value of an option stands for; "--root=" is the option with what follows it. */
int options_number(const char *option, const char *text, int low, int high);

/* The text of a setting's value. */
const char *options_setting(const struct options *options, enum setting setting);

/* ---- cluster.c ---- */

/* Where the ranks are. Nodes are equal, and a node takes a rank for each core before the next one
 * is filled; after the last node the first one comes again. So the first has the most ranks. */
struct cluster {
    int nodes;
    const char **name; /* [nodes] */
    int largest;       /* ranks of the first node */
    struct nc_locations locations;
};

void cluster_make(struct cluster *cluster, const struct options *options);
int cluster_node(const struct cluster *cluster, int rank);

/* Memory that is there. */
void *allocate(size_t bytes);

/* ---- hierarchy.c ---- */

/* All there is to show. */
struct hierarchy {
    const struct options *options;
    struct cluster cluster;
    int ranks, root;
    int rank; /* the one asked about; -1: none */
    struct nc_topo topo;
    struct nc_groups groups;
    struct nc_topo bcast_topo; /* Bcast inside a node: the levels its data goes by */
    struct nc_groups bcast_groups;
    struct nc_geometry geometry; /* of the segment on the first node */
    struct nc_layout layout;
    size_t segment_bytes; /* of the first node */
};

void hierarchy_make(struct hierarchy *hierarchy, const struct options *options);

/* A group by its number, on a level, in a call with a root. */
struct nc_group hierarchy_group(const struct nc_groups *groups, int level, int number, int root);

/* Lists of ranks, into memory for all ranks; they return how many. Members are in the order of
 * their relative ranks, the leader first. */
int hierarchy_members(const struct nc_group *group, int *ranks);
int hierarchy_on_node(const struct hierarchy *hierarchy, int node, int *ranks);
int hierarchy_children(const struct nc_group *group, const struct nc_tree *tree, int index,
                       int *ranks);

/* Whether a group of bcast_groups has a notification tree: it is inside a node, with somebody to
 * tell. */
bool hierarchy_has_tree(const struct hierarchy *hierarchy, const struct nc_group *group);
struct nc_tree hierarchy_tree(const struct hierarchy *hierarchy, const struct nc_group *group);

/* Why a level is not among the active ones; NULL if it is. */
const char *hierarchy_dropped(const struct hierarchy *hierarchy, enum nc_level level);

/* ---- text.c, json.c, dot.c: to standard output ---- */

void text_write(const struct hierarchy *hierarchy);

/* Ranks as 0..17,20,22; fold stands after each eighth item. */
void text_ranks(const int *ranks, int n);
void text_folded_ranks(const int *ranks, int n, const char *fold);

void json_write(const struct hierarchy *hierarchy);
void dot_write(const struct hierarchy *hierarchy);

#endif
