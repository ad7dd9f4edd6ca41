/* Reads whole files as text: selection files, the network file, files of the kernel in /proc and
 * /sys. Always built. */

#ifndef NUMACOLL_TEXT_FILE_H_INCLUDED
#define NUMACOLL_TEXT_FILE_H_INCLUDED

#include <stdio.h>

/* Opens a file to read it: a regular one, or /dev/null. Others have no end, or wait for somebody
 * who writes: NULL, with errno EINVAL. NULL and another errno: it cannot be opened. */
FILE *MPIDI_NUMACOLL_text_file_open(const char *path);

/* The content of such a file as a string, which the caller frees by MPL_free. NULL, with errno set:
 * the file cannot be read, or no memory. */
char *MPIDI_NUMACOLL_text_file_read(const char *path);

/* A checksum by which processes compare texts; never 0, which stands for "no text". */
unsigned MPIDI_NUMACOLL_text_checksum(const char *text);

#endif
