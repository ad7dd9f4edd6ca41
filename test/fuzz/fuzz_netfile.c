/* Network files (core/nc_netfile.c). A file that is taken has every node with switches in their
 * ranges; one that is refused has a message with the line. */

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_netfile.h"

static void look_up(const struct nc_netfile *file, const struct nc_netfile_name *name)
{
    char *node = strndup(name->text, (size_t) name->length);
    int unit[NC_SWITCHES];

    assert(name->number >= 0 && name->number < file->count[name->column]);
    assert((name->above < 0) == (name->column == file->columns - 1));
    if (name->column == 0) {
        assert(nc_netfile_find(file, node, unit));
        for (int i = 0; i + 1 < file->columns; i++)
            assert(unit[i] >= 0 && unit[i] < file->count[i + 1]);
    }
    free(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[600] = "", *text = fuzz_text(data, size);
    void *memory = malloc(nc_netfile_bytes(text));
    struct nc_netfile file;

    if (nc_netfile_parse(&file, memory, text, error, sizeof error)) {
        for (int i = 0; i < file.names; i++)
            look_up(&file, &file.name[i]);
    } else
        assert(!strncmp(error, "line ", 5) && !strchr(error, '\n'));
    /* as in a variable that is cut short */
    nc_netfile_parse(&file, memory, text, error, 16);
    free(memory);
    free(text);
    return 0;
}
