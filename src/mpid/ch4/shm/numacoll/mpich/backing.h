/* Files in memory that the processes of a node share. */

#ifndef NUMACOLL_BACKING_H_INCLUDED
#define NUMACOLL_BACKING_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the memory is made of, in the order they are tried; the first only if HUGE_PAGES asks for
 * it. A memfd and an unnamed file of /dev/shm have no name that could be left behind; the others
 * open them by the descriptor of their maker. Nobody can execute a memfd, and its size is fixed for
 * ever. A named file has a name for a moment; if the job is killed in that moment, the next process
 * that makes a named file removes it. */
enum nc_backing {
    NC_BACKING_HUGETLB,
    NC_BACKING_MEMFD,
    NC_BACKING_UNNAMED_FILE,
    NC_BACKING_NAMED_FILE,
    NC_BACKING_COUNT
};

/* Room for the path of a named file. */
enum { NC_PATH_BYTES = 32 };

/* Makes a file; a descriptor, -1: refused. path: where the path of a named file goes, after the
 * named files of processes that have ended have been removed. A named file must not be closed
 * before it has lost its name, because a lock on the descriptor shows that its process lives. */
int MPIDI_NUMACOLL_backing_make(enum nc_backing kind, char path[NC_PATH_BYTES]);

/* Gives a file its size; false: refused. Of a memfd no process can change it then, so that no
 * access to its end is a SIGBUS. */
bool MPIDI_NUMACOLL_backing_set_size(enum nc_backing kind, int fd, size_t bytes);

/* Opens a file that another process of the node, pid, has made: a named one by its path, others by
 * the descriptor, fd, that pid has for it. -1: refused, or it is no regular file of this user of
 * `bytes` bytes, or no memfd whose size is fixed where it is to be one. */
int MPIDI_NUMACOLL_backing_open(enum nc_backing kind, int pid, int fd, const char *path,
                                size_t bytes);

/* A number, never 0, that no other call returns in this process or another: by it a process knows
 * whether memory that it has opened is what another one told it of. */
uint64_t MPIDI_NUMACOLL_nonce(void);

/* Removes the name of a file, if the file still has one. */
void MPIDI_NUMACOLL_backing_unname(int fd, const char *path);

#endif
