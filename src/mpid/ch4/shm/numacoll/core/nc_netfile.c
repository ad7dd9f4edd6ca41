#include "nc_netfile.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = NC_SWITCHES + 1 };

static const char blanks[] = " \t\r\v\f";
static const char ends[] = " \t\r\v\f#\n";      /* of a name */

struct word {
    const char *text;
    size_t length;
};

/* A line being read. */
struct line {
    int number;
    int words;                  /* all of them; word[] has the first COLUMNS */
    struct word word[COLUMNS];
    char *error;
    size_t size;
};

static bool fail(const struct line *line, const char *format, ...)
{
    int used = snprintf(line->error, line->size, "line %d: ", line->number);
    va_list values;

    if ((size_t) used < line->size) {
        va_start(values, format);
        vsnprintf(line->error + used, line->size - (size_t) used, format, values);
        va_end(values);
    }
    return false;
}

/* Takes the words of the line at `text`; returns where the next begins. */
static const char *split(struct line *line, const char *text)
{
    line->number++;
    line->words = 0;
    for (;;) {
        size_t n;

        text += strspn(text, blanks);
        n = strcspn(text, ends);
        if (n == 0)
            break;
        if (line->words < COLUMNS)
            line->word[line->words] = (struct word) {.text = text,.length = n };
        line->words++;
        text += n;
    }
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

/* The slot of a name, free if the name is new (FNV-1a, then one slot after the other). */
static int *find(const struct nc_netfile *file, int column, struct word word)
{
    size_t mask = ((size_t) 1 << file->bits) - 1;
    uint64_t hash = 0xcbf29ce484222325u + (uint64_t) column;

    for (size_t i = 0; i < word.length; i++)
        hash = (hash ^ (unsigned char) word.text[i]) * 0x100000001b3u;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const struct nc_netfile_name *name = file->name + file->slot[i];
        if (file->slot[i] < 0 || (name->column == column && (size_t) name->length == word.length &&
                                  !memcmp(name->text, word.text, word.length)))
            return &file->slot[i];
    }
}

static int add(struct nc_netfile *file, const struct line *line, int column, int above)
{
    file->name[file->names] = (struct nc_netfile_name) {
        .text = line->word[column].text,.length = (int) line->word[column].length,
        .column = column,.number = file->count[column]++,.above = above,.line = line->number
    };
    return file->names++;
}

static bool check_shape(const struct nc_netfile *file, const struct line *line)
{
    if (file->columns && line->words != file->columns)
        return fail(line, "%d columns, expected %d as on line %d", line->words, file->columns,
                    file->name[0].line);
    if (line->words < 2)
        return fail(line, "one column, expected <node> <switch1> [<switch2> ...]");
    if (line->words > COLUMNS)
        return fail(line, "%d columns, expected at most %d: <node> <switch1> .. <switch%d>",
                    line->words, COLUMNS, NC_SWITCHES);
    for (int i = 0; i < line->words; i++) {
        if (line->word[i].length > NC_NETFILE_NAME)
            return fail(line, "'%.20s...' has %zu characters, expected at most %d",
                        line->word[i].text, line->word[i].length, NC_NETFILE_NAME);
    }
    return true;
}

/* From the highest switch down to the node, each below the one before. */
static bool add_line(struct nc_netfile *file, const struct line *line)
{
    int above = -1;

    if (!check_shape(file, line))
        return false;
    file->columns = line->words;
    for (int column = line->words - 1; column >= 0; column--) {
        struct word word = line->word[column];
        int *slot = find(file, column, word);
        if (*slot < 0) {
            *slot = add(file, line, column, above);
        } else if (column == 0) {
            return fail(line, "node '%.*s' is on line %d already, expected each node once",
                        (int) word.length, word.text, file->name[*slot].line);
        } else if (file->name[*slot].above != above) {
            const struct nc_netfile_name *first = &file->name[file->name[*slot].above];
            return fail(line, "switch '%.*s' is under '%.*s', expected '%.*s' as on line %d",
                        (int) word.length, word.text, (int) line->word[column + 1].length,
                        line->word[column + 1].text, first->length, first->text,
                        file->name[*slot].line);
        }
        above = *slot;
    }
    return true;
}

/* The words of a text, those of comments included: at least as many as names. */
static size_t count_words(const char *text)
{
    size_t n = 0;

    while (*(text += strspn(text, ends))) {
        text += strcspn(text, ends);
        n++;
    }
    return n;
}

static int bits_for(size_t names)
{
    int bits = 1;

    while ((size_t) 1 << bits < 2 * names)
        bits++;
    return bits;
}

size_t nc_netfile_bytes(const char *text)
{
    size_t names = count_words(text);

    return names * sizeof(struct nc_netfile_name) + (sizeof(int) << bits_for(names));
}

bool nc_netfile_parse(struct nc_netfile *file, void *memory, const char *text, char *error,
                      size_t size)
{
    struct line line = {.error = error,.size = size };
    size_t names = count_words(text);

    memset(file, 0, sizeof *file);
    file->name = memory;
    file->bits = bits_for(names);
    file->slot = (int *) (file->name + names);
    memset(file->slot, -1, sizeof(int) << file->bits);
    while (*text) {
        text = split(&line, text);
        if (line.words > 0 && !add_line(file, &line))
            return false;
    }
    return true;
}

bool nc_netfile_find(const struct nc_netfile *file, const char *node, int *unit)
{
    int i = *find(file, 0, (struct word) {.text = node,.length = strlen(node) });

    if (i < 0)
        return false;
    while ((i = file->name[i].above) >= 0)
        unit[file->name[i].column - 1] = file->name[i].number;
    return true;
}
