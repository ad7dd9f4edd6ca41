/* Reads whole files as text, and the checksum of texts. See text_file.h. Always built. */

#include "text_file.h"

#include "mpiimpl.h"

char *MPIDI_NUMACOLL_text_file_read(const char *path)
{
    FILE *f = fopen(path, "r");
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
