/* The machines that a tool is asked about, and where the ranks of a job are on them: the options
 * that describe them, and the table of locations. It calls the library's functions, so a tool sees
 * what the library sees.
 *
 * Wrong input ends the process with one line, by errx. Memory is freed when the process ends. */

#ifndef CLUSTER_H_INCLUDED
#define CLUSTER_H_INCLUDED

#include <argp.h>

#include "core/nc_layout.h"
#include "core/nc_topo.h"

enum { MAX_RANKS = 1000000 };

struct cluster_options {
    const char *topology; /* as nc_machine_load takes it */
    const char *given;    /* the option that gave it, with its equals sign, and its value */
    const char *mapping;  /* as nc_machine_map takes it */
    const char *nodes;    /* names with commas between; or NULL */
    const char *network;  /* the network file; or NULL */
    unsigned levels;      /* a bit each, as nc_topo_make takes them */
    int ranks;            /* 0: one for each processor */
};

/* The options, for the children of a tool's own; its input is a struct cluster_options. */
extern const struct argp cluster_argp;

/* Where the ranks are. All nodes have the same machine. Ranks fill the nodes in turn, one rank per
 * core of a node; after the last node the first one gets ranks again. So the first node has the
 * most ranks. */
struct cluster {
    int nodes;
    const char **name; /* [nodes] */
    int largest;       /* number of ranks on the first node */
    int processors;    /* of a node */
    size_t l2_bytes;   /* of a processor's L2 cache; 0: unknown */
    struct nc_locations locations;
};

void cluster_make(struct cluster *cluster, const struct cluster_options *options);

/* The number of the node of a rank. */
int cluster_node(const struct cluster *cluster, int rank);

/* Makes a segment fit where `taken` of the budget's bytes are taken, as the library does once it
 * has grown (mpich/segment.c). False: not with so many slots, at least 1. */
bool cluster_shorten(struct nc_geometry *geometry, size_t taken, size_t budget, uint32_t least);

/* The active levels of the ranks, among the allowed ones. */
struct nc_topo cluster_levels(const struct cluster *cluster, unsigned levels);

#endif
