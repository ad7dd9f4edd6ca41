/* Always built: info keys and selection files are checked without shared memory too. This file has
 * a parser, a formatter and a description for each kind of variable. */

#include "nc_variable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nc_level_spec.h"

int nc_variable_find(const struct nc_variable *table, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(table[i].name, name))
            return i;
    }
    return -1;
}

bool nc_words_find(const char *words, const char *word, size_t n, int *number)
{
    *number = 0;
    while (n > 0) {
        size_t length = strcspn(words, " ");
        if (length == n && !strncmp(words, word, n))
            return true;
        if (words[length] == 0)
            break;
        words += length + 1;
        ++*number;
    }
    return false;
}

/* ---- numbers ---- */

static bool parse_int(const struct nc_variable *v, const char *text, int *value)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < v->low || number > v->high)
        return false;
    *value = (int) number;
    return true;
}

static void format_int(const struct nc_variable *v, int value, char *text, size_t size)
{
    (void) v;
    snprintf(text, size, "%d", value);
}

static void int_allowed(const struct nc_variable *v, char *text, size_t size)
{
    snprintf(text, size, "%d to %d %s", v->low, v->high, v->unit);
}

/* ---- words ---- */

static bool parse_enum(const struct nc_variable *v, const char *text, int *value)
{
    return nc_words_find(v->values, text, strlen(text), value);
}

static void format_enum(const struct nc_variable *v, int value, char *text, size_t size)
{
    const char *word = v->values;

    for (int i = 0; i < value; i++)
        word += strcspn(word, " ") + 1;
    snprintf(text, size, "%.*s", (int) strcspn(word, " "), word);
}

static bool parse_choice(const struct nc_variable *v, const char *text, int *value)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t) (colon - text) + 1 : strlen(text);
    int number;

    *value = 0;
    return *text == 0 || nc_words_find(v->values, text, n, &number);
}

/* Writes a beginning and then the words with a comma and a space between. A slash at the end of a
 * word (it takes a degree) is written as /K. */
static void list_words(const char *beginning, const char *words, char *text, size_t size)
{
    snprintf(text, size, "%s", beginning);
    for (size_t used = strlen(text), i = 0; used + 1 < size && words[i]; i++)
        used += (size_t) snprintf(text + used, size - used,
                                  words[i] == ' '   ? ", "
                                  : words[i] == '/' ? "/K"
                                                    : "%c",
                                  words[i]);
}

static void words_allowed(const struct nc_variable *v, char *text, size_t size)
{
    list_words("one of ", v->values, text, size);
}

/* ---- levels, level specs and links ---- */

static bool parse_levels(const struct nc_variable *v, const char *text, int *value)
{
    char why[256];
    unsigned levels;
    bool right = nc_levels_parse(text, &levels, why, sizeof why);

    (void) v;
    if (right)
        *value = (int) levels;
    return right;
}

/* Writes the names of the levels whose bit is set, with commas between. */
static void format_levels(const struct nc_variable *v, int value, char *text, size_t size)
{
    (void) v;
    text[0] = 0;
    for (size_t used = 0, i = 0; i < NC_LEVELS && used < size; i++) {
        if ((unsigned) value >> i & 1)
            used += (size_t) snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                      nc_level_name(i));
    }
}

static void levels_allowed(const struct nc_variable *v, char *text, size_t size)
{
    (void) v;
    snprintf(text, size, "a comma-separated list of %s", nc_level_names());
}

static bool parse_level_spec(const struct nc_variable *v, const char *text, int *value)
{
    struct nc_level_spec spec;

    *value = 0;
    return nc_level_spec_parse(&spec, text, v->values);
}

static void level_spec_allowed(const struct nc_variable *v, char *text, size_t size)
{
    snprintf(text, size, "LEVEL:ALGORITHM,.., levels of %s, top, *, each once, algorithms of ",
             nc_level_names());
    list_words("", v->values, text + strlen(text), size - strlen(text));
    if (strchr(v->values, '/'))
        snprintf(text + strlen(text), size - strlen(text), ", K from 2 to %d",
                 NC_LEVEL_SPEC_LARGEST_DEGREE);
}

static bool parse_links(const struct nc_variable *v, const char *text, int *value)
{
    struct nc_links links;

    (void) v;
    *value = 0;
    return nc_links_parse(&links, text);
}

static void links_allowed(const struct nc_variable *v, char *text, size_t size)
{
    (void) v;
    snprintf(text, size,
             "LEVEL:MICROSECONDS/NANOSECONDS,.., levels of %s, top, *, each once, a message's and "
             "a byte's time",
             nc_level_names());
}

/* ---- the kinds ---- */

static const struct {
    bool (*parse)(const struct nc_variable *v, const char *text, int *value);
    void (*format)(const struct nc_variable *v, int value, char *text, size_t size);
    void (*allowed)(const struct nc_variable *v, char *text, size_t size);
} kinds[] = {
    [NC_KIND_INT] = {parse_int, format_int, int_allowed},
    [NC_KIND_ENUM] = {parse_enum, format_enum, words_allowed},
    [NC_KIND_LEVELS] = {parse_levels, format_levels, levels_allowed},
    [NC_KIND_LEVEL_SPEC] = {parse_level_spec, NULL, level_spec_allowed},
    [NC_KIND_CHOICE] = {parse_choice, NULL, words_allowed},
    [NC_KIND_LINKS] = {parse_links, NULL, links_allowed},
};

bool nc_variable_parse(const struct nc_variable *v, const char *text, int *value)
{
    return kinds[v->kind].parse(v, text, value);
}

bool nc_variable_is_number(const struct nc_variable *v)
{
    return kinds[v->kind].format != NULL;
}

void nc_variable_format(const struct nc_variable *v, int value, char *text, size_t size)
{
    kinds[v->kind].format(v, value, text, size);
}

void nc_variable_allowed(const struct nc_variable *v, char *text, size_t size)
{
    kinds[v->kind].allowed(v, text, size);
}
