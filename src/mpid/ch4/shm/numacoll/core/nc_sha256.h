/* SHA-256 (FIPS 180-4), by which tuned files are recognised: machine.json has what sha256sum prints
 * of them. */

#ifndef NC_SHA256_H_INCLUDED
#define NC_SHA256_H_INCLUDED

#include <stddef.h>

enum { NC_SHA256_TEXT = 65 };

/* Writes the checksum of so many bytes as 64 hexadecimal digits, in lower case. */
void nc_sha256(const void *data, size_t bytes, char text[NC_SHA256_TEXT]);

#endif
