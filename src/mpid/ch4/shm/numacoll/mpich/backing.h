/* Files in memory that the processes of a node share. A memfd has no name that could be left
 * behind. A named file has one for a moment; if the job is killed in that moment, the next process
 * that makes a named file removes it. segment.c and meeting.c use them. */

#ifndef NUMACOLL_BACKING_H_INCLUDED
#define NUMACOLL_BACKING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Makes a memfd that nobody can execute, and whose size can be fixed for ever; -1: refused. flags:
 * of memfd_create, besides. */
int MPIDI_NUMACOLL_backing_memfd(unsigned flags);

/* Room for the path of a named file. */
enum { NC_PATH_BYTES = 32 };

/* Makes a file with a name in /dev/shm, after it has removed the files of processes that have
 * ended; -1: refused. *path: its path. The file must not be closed before it has lost its name,
 * because a lock on the descriptor shows that its process lives. */
int MPIDI_NUMACOLL_backing_named(char path[NC_PATH_BYTES]);

/* Removes the name of a file, if the file still has one. */
void MPIDI_NUMACOLL_backing_unname(int fd, const char *path);

/* Gives a file its size; false: refused. fix: of a memfd, whose size no process can change then, so
 * that no access to its end is a SIGBUS. */
bool MPIDI_NUMACOLL_backing_set_size(int fd, size_t bytes, bool fix);

/* Opens a path if it leads to a regular file of this user of `bytes` bytes, or -1. */
int MPIDI_NUMACOLL_backing_open(const char *path, size_t bytes);

/* As backing_open, for a descriptor of another process of the node, which must be a memfd whose
 * size is fixed. */
int MPIDI_NUMACOLL_backing_open_of(int pid, int fd, size_t bytes);

#endif
