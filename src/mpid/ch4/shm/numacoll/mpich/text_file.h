/* Whole files as text: selection files, the network file, what the kernel says of itself. Always
 * built. */

#ifndef NUMACOLL_TEXT_FILE_H_INCLUDED
#define NUMACOLL_TEXT_FILE_H_INCLUDED

/* All of a file as a string, to be freed by MPL_free. NULL, and errno, if it cannot be read. */
char *MPIDI_NUMACOLL_text_file_read(const char *path);

/* A number that differs, most likely, where texts do; never 0. */
unsigned MPIDI_NUMACOLL_text_checksum(const char *text);

#endif
