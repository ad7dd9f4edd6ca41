/* A spec: by which algorithm the members of a group work together, per level of the machine.
 *
 *     numa:flat,package:knomial/2,*:flat
 *
 * `numa:` is the algorithm among the members of one NUMA node, `package:` the one among the leaders
 * of the NUMA nodes of one package, and so on (nc_group.h); `*:` is for the levels that are not
 * named, which otherwise take the first algorithm there is. A degree is allowed where the list of
 * algorithms ends a word with a slash.
 *
 * Links are written alike: what a message costs that goes between the units of a level,
 *
 *     switch1:1.5/0.1,*:2.5/0.2
 *
 * microseconds, and nanoseconds a byte (nc_model.h). */

#ifndef NC_LEVEL_SPEC_H_INCLUDED
#define NC_LEVEL_SPEC_H_INCLUDED

#include "nc_model.h"
#include "nc_topo.h"

#define NC_LEVEL_SPEC_DEGREE         8 /* of an algorithm that takes one, where none is given */
#define NC_LEVEL_SPEC_LARGEST_DEGREE 128

struct nc_level_spec {
    unsigned char algorithm[NC_LEVELS + 1]; /* by enum nc_level: place in the list of words */
    unsigned char degree[NC_LEVELS + 1];
};

/* Reads a spec; algorithms: words with one space between, "flat kary/ knomial/". False if the text
 * is none: an unknown level or algorithm, a level twice, a degree where there is none or outside
 * 2 .. NC_LEVEL_SPEC_LARGEST_DEGREE. An empty text is the spec that names nothing. */
bool nc_level_spec_parse(struct nc_level_spec *spec, const char *text, const char *algorithms);

#define NC_LINK_ALPHA 2.0 /* microseconds, and .. */
#define NC_LINK_BETA  0.1 /* .. nanoseconds a byte, of levels that nothing is said of */

struct nc_links {
    struct nc_model_link link[NC_LEVELS + 1]; /* by enum nc_level; in seconds */
};

/* Reads links. False likewise, or if a number is none, negative, or above 1e6. */
bool nc_links_parse(struct nc_links *links, const char *text);

#endif
