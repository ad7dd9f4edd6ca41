/* What the library's files say on stderr while a target gives them an input. */

#ifndef SAID_H_INCLUDED
#define SAID_H_INCLUDED

/* Keeps what is written to stderr from now on. */
void said_begin(void);

/* Ends that; returns what was written, valid until said_begin, and asserts that each line of it is
 * one for a user that begins with "numacoll: ". */
const char *said_end(void);

#endif
