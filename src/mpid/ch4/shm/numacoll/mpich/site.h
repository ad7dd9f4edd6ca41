/* The site's file: variables that a site sets once for all jobs on a host, numacoll.conf in MPICH's
 * sysconfdir, or the file that the environment variable NUMACOLL_CONF names (empty: none). A line
 * `NAME = value` counts as if the variable were set in the environment, unless it is set there
 * under any of MPICH's names for it. What MPICH calls is in numacoll_mpir.h. Always built. */

#ifndef NUMACOLL_SITE_H_INCLUDED
#define NUMACOLL_SITE_H_INCLUDED

/* "FILE:LINE: " of the line that sets a variable, in a buffer that the next call fills again; "" if
 * the file does not set it. For lines that say what is wrong with a value. */
const char *MPIDI_NUMACOLL_site_origin(const char *variable);

/* The lines of the site's file that are in force, each as NAME=value; NULL from their number on.
 * For numacoll-bench, outside of the library. */
const char *MPIDI_NUMACOLL_site_line(int number) __attribute__((visibility("default")));

/* The rank for lines about the file, which is the node's own: 0 in one process of each node, as far
 * as the launcher tells. */
int MPIDI_NUMACOLL_site_rank(void);

#endif
