/* Level specs: for each level of the machine, the algorithm by which the members of a group work
 * together. A level spec is the value of a setting, as text:
 *
 *     numa:flat,package:knomial/2,*:flat
 *
 * `numa:` is the algorithm among the members of one NUMA node, `package:` the one among the leaders
 * of the NUMA nodes of one package, and so on (nc_group.h); `*:` is for the levels that are not
 * named. Without `*:`, those levels have the first algorithm of the setting's list. An algorithm
 * takes a degree (`/2`) if its word in that list ends with a slash.
 *
 * Links have the same form. They say what a message between two units of a level costs, in
 * microseconds per message and nanoseconds per byte (nc_model.h):
 *
 *     switch1:1.5/0.1,*:2.5/0.2
 *
 * mpich/settings.c and mpich/choose.c read level specs and links for a communicator. */

#ifndef NC_LEVEL_SPEC_H_INCLUDED
#define NC_LEVEL_SPEC_H_INCLUDED

#include "nc_model.h"
#include "nc_topo.h"

#define NC_LEVEL_SPEC_DEGREE         2 /* if an algorithm takes a degree and none is given */
#define NC_LEVEL_SPEC_LARGEST_DEGREE 128

struct nc_level_spec {
    unsigned char algorithm[NC_LEVELS + 1]; /* by enum nc_level: index in the list of algorithms */
    unsigned char degree[NC_LEVELS + 1];
};

/* Reads a level spec. algorithms: the setting's list, words with one space between, for example
 * "flat kary/ knomial/". Returns false if the text is wrong: an unknown level or algorithm, a level
 * named twice, a degree for an algorithm that takes none or outside 2 ..
 * NC_LEVEL_SPEC_LARGEST_DEGREE. An empty text is allowed and names no level. */
bool nc_level_spec_parse(struct nc_level_spec *spec, const char *text, const char *algorithms);

#define NC_LINK_ALPHA 2.0 /* microseconds per message, for a level without a link */
#define NC_LINK_BETA  0.1 /* nanoseconds per byte, for a level without a link */

struct nc_links {
    struct nc_model_link link[NC_LEVELS + 1]; /* by enum nc_level; seconds, seconds per byte */
};

/* Reads links. Returns false if the text is wrong: an unknown level, a level named twice, or a
 * number that is missing, malformed, negative, or above 1e6. */
bool nc_links_parse(struct nc_links *links, const char *text);

#endif
