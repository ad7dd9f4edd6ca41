#include "nc_variable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nc_plan.h"

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

static bool is_choice(const char *words, const char *text)
{
    const char *colon = strchr(text, ':');
    int number;

    return *text == 0 ||
           nc_words_find(words, text, colon ? (size_t) (colon - text) + 1 : strlen(text), &number);
}

bool nc_variable_parse(const struct nc_variable *v, const char *text, int *value)
{
    char why[256];
    struct nc_links links;
    struct nc_plan plan;
    unsigned levels;

    switch (v->kind) {
        case NC_KIND_ENUM:
            return nc_words_find(v->values, text, strlen(text), value);
        case NC_KIND_LEVELS:
            if (!nc_levels_parse(text, &levels, why, sizeof why))
                return false;
            *value = (int) levels;
            return true;
        case NC_KIND_PLAN:
            *value = 0;
            return nc_plan_parse(&plan, text, v->values);
        case NC_KIND_CHOICE:
            *value = 0;
            return is_choice(v->values, text);
        case NC_KIND_LINKS:
            *value = 0;
            return nc_links_parse(&links, text);
        default:
            return parse_int(v, text, value);
    }
}

/* Words, each before a separator but the first; level i if bit i is set. */
static void list_levels(unsigned levels, const char *separator, char *text, size_t size)
{
    text[0] = 0;
    for (size_t used = 0, i = 0; i < NC_LEVELS && used < size; i++) {
        if (levels >> i & 1)
            used += (size_t) snprintf(text + used, size - used, "%s%s", used ? separator : "",
                                      nc_level_name(i));
    }
}

void nc_variable_format(const struct nc_variable *v, int value, char *text, size_t size)
{
    const char *word = v->values;

    if (v->kind == NC_KIND_ENUM) {
        for (int i = 0; i < value; i++)
            word += strcspn(word, " ") + 1;
        snprintf(text, size, "%.*s", (int) strcspn(word, " "), word);
    } else if (v->kind == NC_KIND_LEVELS) {
        list_levels((unsigned) value, ",", text, size);
    } else {
        snprintf(text, size, "%d", value);
    }
}

/* words, with a comma and a space between, behind a beginning; a word with a slash at its end takes
 * a degree. */
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

void nc_variable_allowed(const struct nc_variable *v, char *text, size_t size)
{
    char levels[128];

    list_levels(NC_LEVELS_ALL, ", ", levels, sizeof levels);
    switch (v->kind) {
        case NC_KIND_ENUM:
        case NC_KIND_CHOICE:
            list_words("one of ", v->values, text, size);
            break;
        case NC_KIND_LEVELS:
            snprintf(text, size, "a comma-separated list of %s", levels);
            break;
        case NC_KIND_PLAN:
            snprintf(text, size,
                     "LEVEL:ALGORITHM,.., levels of %s, top, *, each once, algorithms of ", levels);
            list_words("", v->values, text + strlen(text), size - strlen(text));
            if (strchr(v->values, '/'))
                snprintf(text + strlen(text), size - strlen(text), ", K from 2 to %d",
                         NC_PLAN_LARGEST_DEGREE);
            break;
        case NC_KIND_LINKS:
            snprintf(text, size,
                     "LEVEL:MICROSECONDS/NANOSECONDS,.., levels of %s, top, *, each once, a "
                     "message's and a byte's time",
                     levels);
            break;
        default:
            snprintf(text, size, "%d to %d %s", v->low, v->high, v->unit);
    }
}
