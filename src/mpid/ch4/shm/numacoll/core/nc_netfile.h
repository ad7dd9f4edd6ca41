/* The network file: which switches join the nodes.
 *
 *     # node   leaf    spine
 *     node01   leaf1   spine1
 *     node02   leaf1   spine1
 *
 * One line per node, `<node> <switch1> [<switch2> ...]`, names apart by blanks or tabs, # to the end of the line is a
 * comment, every line as many names as the first. A name means something else in another column. Each node is there
 * once, and a switch has one switch above it: leaf1 under spine1 here and spine2 there is an error, since two switches
 * of one name could not be told from one that is wired to both. */

#ifndef NC_NETFILE_H_INCLUDED
#define NC_NETFILE_H_INCLUDED

#include "nc_topo.h"

#define NC_NETFILE_NAME 255     /* characters of a name, at most */

/* A node or a switch. */
struct nc_netfile_name {
    const char *text;           /* in the file's text, not terminated */
    int length;
    int column;                 /* 0 for a node, N for switchN */
    int number;                 /* in its column, in the order of first appearance */
    int above;                  /* the switch it is on, an index of name[]; -1 in the last column */
    int line;                   /* where it is first, from 1 */
};

struct nc_netfile {
    int columns;                /* of each line: 1 + levels of switches; 0 if no node is there */
    int count[NC_SWITCHES + 1]; /* [columns] names of each column; count[0] nodes */
    int names;                  /* of all columns */
    struct nc_netfile_name *name;
    int bits;                   /* log2 of the slots */
    int *slot;                  /* hash table of indices of name[]; -1: free */
};

/* Bytes nc_netfile_parse needs for a text, which ends with NUL. */
size_t nc_netfile_bytes(const char *text);

/* Reads a text, which must stay, into memory of nc_netfile_bytes(text) bytes, aligned for pointers. False, and a text
 * `line 3: ...` with what was expected, at the first line that is wrong. */
bool nc_netfile_parse(struct nc_netfile *file, void *memory, const char *text, char *error,
                      size_t size);

/* The numbers of the switches a node is on, unit[0] for switch1 to unit[columns - 2]; false if the file does not have
 * the node. O(columns). */
bool nc_netfile_find(const struct nc_netfile *file, const char *node, int *unit);

#endif
