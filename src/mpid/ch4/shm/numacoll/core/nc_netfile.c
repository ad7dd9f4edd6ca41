/* The parser of the network file: a table of names, and a hash table to find them. See
 * nc_netfile.h. */

#include "nc_netfile.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = NC_SWITCHES + 1 };

static const char blanks[] = " \t\r\v\f";
static const char ends[] = " \t\r\v\f#\n"; /* what ends a name */

/* The line being read. */
struct line {
    int number; /* from 1 */
    int names;  /* names in the line; name[] has at most the first COLUMNS of them */
    struct nc_netfile_name name[COLUMNS];
    char *error;
    size_t size;
};

static bool fail(const struct line *line, const char *format, ...)
{
    size_t used = (size_t) snprintf(line->error, line->size, "line %d: ", line->number);
    va_list values;

    va_start(values, format);
    if (used < line->size)
        vsnprintf(line->error + used, line->size - used, format, values);
    va_end(values);
    return false;
}

/* Takes the names from the line at `text`. Returns the start of the next line. */
static const char *split(struct line *line, const char *text)
{
    line->number++;
    line->names = 0;
    for (;;) {
        int length, i = line->names;

        text += strspn(text, blanks);
        length = (int) strcspn(text, ends);
        if (length == 0)
            break;
        if (i < COLUMNS)
            line->name[i] = (struct nc_netfile_name){text, length, i, 0, -1, line->number};
        line->names++;
        text += length;
    }
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

static bool check_shape(const struct nc_netfile *file, const struct line *line)
{
    if (file->columns && line->names != file->columns)
        return fail(line, "expected %d columns as on line %d, found %d", file->columns,
                    file->name[0].line, line->names);
    if (line->names < 2 || line->names > COLUMNS)
        return fail(line, "expected <node> <switch1> [<switch2> ...], 2 to %d columns, found %d",
                    COLUMNS, line->names);
    for (int i = 0; i < line->names; i++) {
        if (line->name[i].length > NC_NETFILE_NAME)
            return fail(line, "expected names of at most %d characters, '%.16s...' has %d",
                        NC_NETFILE_NAME, line->name[i].text, line->name[i].length);
    }
    return true;
}

static bool is_same(const struct nc_netfile_name *a, const struct nc_netfile_name *b)
{
    return a->column == b->column && a->length == b->length &&
           !memcmp(a->text, b->text, (size_t) a->length);
}

/* The hash table's slot for a name; it is free if the name is new. The hash is FNV-1a. */
static int *find(const struct nc_netfile *file, const struct nc_netfile_name *name)
{
    uint64_t hash = 0xcbf29ce484222325u + (uint64_t) name->column;
    size_t i;

    for (int c = 0; c < name->length; c++)
        hash = (hash ^ (unsigned char) name->text[c]) * 0x100000001b3u;
    i = hash % file->slots;
    while (file->slot[i] >= 0 && !is_same(&file->name[file->slot[i]], name))
        i = i + 1 < file->slots ? i + 1 : 0;
    return &file->slot[i];
}

/* Checks a name that was there before: it must be a switch, and below the same switch as before. */
static bool check_again(const struct nc_netfile *file, const struct line *line,
                        const struct nc_netfile_name *name, int above)
{
    if (name->column == 0)
        return fail(line, "expected each node once, '%.*s' is on line %d already", name->length,
                    name->text, name->line);
    if (name->above != above)
        return fail(line, "expected switch '%.*s' under '%.*s' as on line %d, found '%.*s'",
                    name->length, name->text, file->name[name->above].length,
                    file->name[name->above].text, name->line, file->name[above].length,
                    file->name[above].text);
    return true;
}

/* Adds the names of a line, from the highest switch down to the node, each below the one before. */
static bool add_line(struct nc_netfile *file, const struct line *line)
{
    int above = -1;

    for (int column = line->names - 1; column >= 0; column--) {
        struct nc_netfile_name name = line->name[column];
        int *slot = find(file, &name);

        if (*slot >= 0) {
            if (!check_again(file, line, &file->name[*slot], above))
                return false;
        } else {
            name.number = file->count[column]++;
            name.above = above;
            file->name[file->names] = name;
            *slot = file->names++;
        }
        above = *slot;
    }
    file->columns = line->names;
    return true;
}

/* The number of words in a text, comments included: at least the number of names. */
static size_t count_words(const char *text)
{
    size_t n = 0;

    while (*(text += strspn(text, ends))) {
        text += strcspn(text, ends);
        n++;
    }
    return n;
}

size_t nc_netfile_bytes(const char *text)
{
    size_t names = count_words(text);

    return names * sizeof(struct nc_netfile_name) + (2 * names + 1) * sizeof(int);
}

bool nc_netfile_parse(struct nc_netfile *file, void *memory, const char *text, char *error,
                      size_t size)
{
    struct line line = {.error = error, .size = size};
    size_t names = count_words(text);

    memset(file, 0, sizeof *file);
    file->name = memory;
    file->slots = 2 * names + 1;
    file->slot = (int *) (file->name + names);
    memset(file->slot, -1, sizeof(int) * file->slots);
    while (*text) {
        text = split(&line, text);
        if (line.names && !(check_shape(file, &line) && add_line(file, &line)))
            return false;
    }
    return true;
}

bool nc_netfile_find(const struct nc_netfile *file, const char *node, int *unit)
{
    struct nc_netfile_name name = {.text = node, .length = (int) strlen(node)};
    int i = *find(file, &name);

    if (i < 0)
        return false;
    while ((i = file->name[i].above) >= 0)
        unit[file->name[i].column - 1] = file->name[i].number;
    return true;
}
