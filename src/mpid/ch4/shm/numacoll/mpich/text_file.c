/* Reads whole files as text, and the checksum of texts. See text_file.h. Always built. */

#define _GNU_SOURCE
#include "text_file.h"

#include <fcntl.h>
#include <paths.h>
#include <sys/stat.h>

#include "mpiimpl.h"

FILE *MPIDI_NUMACOLL_text_file_open(const char *path)
{
    /* without O_NONBLOCK, open would wait for a writer of a FIFO */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    FILE *file;

    if (fd < 0)
        return NULL;
    errno = fstat(fd, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    file = S_ISREG(st.st_mode) || !strcmp(path, _PATH_DEVNULL) ? fdopen(fd, "r") : NULL;
    if (!file) {
        int why = errno;
        close(fd);
        errno = why;
    }
    return file;
}

char *MPIDI_NUMACOLL_text_file_read(const char *path)
{
    FILE *f = MPIDI_NUMACOLL_text_file_open(path);
    size_t used = 0, room = 1 << 16, got;
    char *text = f ? MPL_malloc(room, MPL_MEM_COLL) : NULL;

    while (text && (got = fread(text + used, 1, room - used - 1, f)) > 0) {
        used += got;
        if (used + 1 == room) {
            char *larger = MPL_realloc(text, room *= 2, MPL_MEM_COLL);
            if (!larger)
                MPL_free(text);
            text = larger;
        }
    }
    if (text && ferror(f)) {
        MPL_free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    if (text)
        text[used] = 0;
    return text;
}

/* FNV-1a, of 32 bits */
unsigned MPIDI_NUMACOLL_text_checksum(const char *text)
{
    uint32_t hash = 2166136261u;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char) *c) * 16777619u;
    return hash ? hash : 1;
}
