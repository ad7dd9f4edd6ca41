/* What the fuzz targets share. A target is a file fuzz_NAME.c with libFuzzer's function, which
 * gives one input to a parser and asserts what must hold for every input. The same target is built
 * twice: by clang with libFuzzer, and with main.c, which gives it the files of a corpus. */

#ifndef FUZZ_H_INCLUDED
#define FUZZ_H_INCLUDED

#undef NDEBUG
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's: gives an input to the parser. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as text: ends with NUL, and its memory ends there, so that AddressSanitizer sees what
 * is read beyond. The caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Cuts a text at its first line "--". Returns what follows; "" if there is no such line. */
char *fuzz_cut(char *text);

/* A folder of this process in memory, and a file in it with the input as its content. Both names
 * are valid until the next call. */
const char *fuzz_folder(void);
const char *fuzz_file(const char *name, const void *data, size_t size);

/* Whether a text is one line for a user: not empty, no control character. */
bool fuzz_is_line(const char *text);

#endif
