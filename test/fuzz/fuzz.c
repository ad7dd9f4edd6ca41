/* What the fuzz targets share; see fuzz.h. */

#define _GNU_SOURCE
#include "fuzz.h"

#include <ctype.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *fuzz_text(const uint8_t *data, size_t size)
{
    size_t length = strnlen((const char *) data, size);
    char *text = malloc(length + 1);

    assert(text);
    memcpy(text, data, length);
    text[length] = '\0';
    return text;
}

char *fuzz_cut(char *text)
{
    char *mark = strstr(text, "\n--\n");

    if (!mark)
        return text + strlen(text);
    mark[1] = '\0';
    return mark + 4;
}

static char folder[] = "/dev/shm/fuzz-XXXXXX";

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *place)
{
    (void) s, (void) type, (void) place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    static bool made;

    if (!made) {
        assert(mkdtemp(folder));
        atexit(remove_folder);
    }
    made = true;
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    for (char *slash = path + sizeof folder; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    f = fopen(path, "w");
    assert(f && fwrite(data, 1, size, f) == size && !fclose(f));
    return path;
}

bool fuzz_is_line(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (iscntrl((unsigned char) *c))
            return false;
    }
    return *text != '\0';
}
