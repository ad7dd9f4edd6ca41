/* The parser of the network file (the variable NETWORK_FILE), which says by which switches the
 * nodes are connected. mpich/location.c reads the file once per process.
 *
 *     # node   leaf    spine
 *     node01   leaf1   spine1
 *     node02   leaf1   spine1
 *
 * One line per node, `<node> <switch1> [<switch2> ...]`, with blanks or tabs between names; from #
 * to the end of the line is a comment. Every line has as many names as the first. A name stands for
 * different units in different columns. A node has one line, and a switch is below one switch:
 * leaf1 below spine1 in one line and below spine2 in another is an error, because it may mean two
 * switches or one that is connected to both. */

#ifndef NC_NETFILE_H_INCLUDED
#define NC_NETFILE_H_INCLUDED

#include "nc_topo.h"

#define NC_NETFILE_NAME 255 /* characters of a name, at most */

/* A node or a switch. */
struct nc_netfile_name {
    const char *text; /* in the file's text, not terminated by NUL */
    int length;
    int column; /* 0 for a node, N for switchN */
    int number; /* within its column, from 0, in the order of first appearance */
    int above;  /* index in name[] of the switch above it; -1 in the last column */
    int line;   /* the first line that has it, from 1 */
};

struct nc_netfile {
    int columns;                /* names in a line: 1 + levels of switches; 0 if there is no line */
    int count[NC_SWITCHES + 1]; /* [columns] different names in each column; count[0]: nodes */
    int names;                  /* different names in all columns */
    struct nc_netfile_name *name;
    size_t slots;
    int *slot; /* [slots] hash table of indices in name[]; -1: free */
};

/* Bytes nc_netfile_parse needs for a text that ends with NUL. */
size_t nc_netfile_bytes(const char *text);

/* Parses a text. `memory` has nc_netfile_bytes(text) bytes and is aligned for pointers; text and
 * memory must outlive *file. At the first wrong line, returns false and writes to error[size] one
 * line `line 3: ...` that says what was expected. */
bool nc_netfile_parse(struct nc_netfile *file, void *memory, const char *text, char *error,
                      size_t size);

/* Writes to unit[columns - 1] the numbers of the switches above a node, unit[0] for switch1.
 * Returns false if the file does not have the node. O(columns). */
bool nc_netfile_find(const struct nc_netfile *file, const char *node, int *unit);

#endif
