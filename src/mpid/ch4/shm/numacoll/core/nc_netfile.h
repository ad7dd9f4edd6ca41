/* The network file: which switches join the nodes.
 *
 *     # node   leaf    spine
 *     node01   leaf1   spine1
 *     node02   leaf1   spine1
 *
 * One line per node, `<node> <switch1> [<switch2> ...]`, names apart by blanks or tabs; # to the
 * end of the line is a comment; every line has as many names as the first. Names of different
 * columns have nothing to do with each other. A node is there once, and a switch is under one
 * switch: leaf1 under spine1 here and under spine2 there is an error, since it may be two leaves or
 * one wired to both. */

#ifndef NC_NETFILE_H_INCLUDED
#define NC_NETFILE_H_INCLUDED

#include "nc_topo.h"

#define NC_NETFILE_NAME 255 /* characters of a name, at most */

/* A node or a switch. */
struct nc_netfile_name {
    const char *text; /* in the file's text, not terminated */
    int length;
    int column; /* 0 for a node, N for switchN */
    int number; /* in its column, in the order of first appearance */
    int above;  /* its switch, an index of name[]; -1 in the last column */
    int line;   /* where it is first, from 1 */
};

struct nc_netfile {
    int columns;                /* of each line: 1 + levels of switches; 0 if no node is there */
    int count[NC_SWITCHES + 1]; /* [columns] names of each column; count[0] nodes */
    int names;                  /* of all columns */
    struct nc_netfile_name *name;
    size_t slots;
    int *slot; /* hash table of indices of name[]; -1: free */
};

/* Bytes nc_netfile_parse needs for a text, which ends with NUL. */
size_t nc_netfile_bytes(const char *text);

/* Reads a text, which must stay, into memory of nc_netfile_bytes(text) bytes, aligned for pointers.
 * False, and one line `line 3: ...` that says what was expected, at the first line that is wrong.
 * */
bool nc_netfile_parse(struct nc_netfile *file, void *memory, const char *text, char *error,
                      size_t size);

/* The numbers of the switches a node is under, unit[0] for switch1 to unit[columns - 2]; false if
 * the file does not have the node. O(columns). */
bool nc_netfile_find(const struct nc_netfile *file, const char *node, int *unit);

#endif
