#include "nc_variable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool nc_variable_parse(const struct nc_variable *v, const char *text, int *value)
{
    char *end;
    long number;

    if (v->values)
        return nc_words_find(v->values, text, strlen(text), value);
    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < v->low || number > v->high)
        return false;
    *value = (int) number;
    return true;
}

void nc_variable_format(const struct nc_variable *v, int value, char *text, size_t size)
{
    const char *word = v->values;

    for (int i = 0; word && i < value; i++)
        word += strcspn(word, " ") + 1;
    if (word)
        snprintf(text, size, "%.*s", (int) strcspn(word, " "), word);
    else
        snprintf(text, size, "%d", value);
}

void nc_variable_allowed(const struct nc_variable *v, char *text, size_t size)
{
    if (!v->values) {
        snprintf(text, size, "%d to %d %s", v->low, v->high, v->unit);
        return;
    }
    snprintf(text, size, "one of ");
    for (size_t used = strlen(text), i = 0; used + 1 < size && v->values[i]; i++) {
        used += (size_t) snprintf(text + used, size - used, v->values[i] == ' ' ? ", " : "%c", v->values[i]);
    }
}
