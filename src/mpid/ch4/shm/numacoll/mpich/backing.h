/* Files in memory that the processes of a node share: a memfd has no name that could be left
 * behind. segment.c and meeting.c use them. */

#ifndef NUMACOLL_BACKING_H_INCLUDED
#define NUMACOLL_BACKING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Makes a memfd that nobody can execute, and whose size can be fixed for ever; -1: refused. flags:
 * of memfd_create, besides. */
int MPIDI_NUMACOLL_backing_memfd(unsigned flags);

/* Gives a file its size; false: refused. fix: of a memfd, which no process can shorten then, so
 * that no access to its end is a SIGBUS. */
bool MPIDI_NUMACOLL_backing_set_size(int fd, size_t bytes, bool fix);

/* Opens a path if it leads to a regular file of this user of `bytes` bytes, or -1. */
int MPIDI_NUMACOLL_backing_open(const char *path, size_t bytes);

/* As backing_open, for a descriptor of another process of the node. */
int MPIDI_NUMACOLL_backing_open_of(int pid, int fd, size_t bytes);

#endif
