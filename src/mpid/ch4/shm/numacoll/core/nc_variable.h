/* The values of variables as users write them in the environment, an info key or a selection file:
 * what texts a variable allows, and the number that a text stands for. An enumerated variable has
 * the numbers 0, 1, .. in the order of its values in cvars.yaml. A set of levels has one bit for
 * each level. Level specs, links (nc_level_spec.h) and choices (a word, or a word that ends with a
 * colon and a text after it) have no number here; mpich/settings.c keeps their texts and numbers
 * them. */

#ifndef NC_VARIABLE_H_INCLUDED
#define NC_VARIABLE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

enum nc_scope { NC_PER_PROCESS, NC_PER_COMMUNICATOR, NC_PER_CALL };

enum nc_kind {
    NC_KIND_INT,
    NC_KIND_ENUM,
    NC_KIND_LEVELS,
    NC_KIND_LEVEL_SPEC,
    NC_KIND_CHOICE,
    NC_KIND_LINKS
};

struct nc_variable {
    const char *name; /* lower case, without prefix */
    enum nc_kind kind;
    enum nc_scope scope;
    int low, high; /* the range of a number or an enumerated value, both ends allowed */
    const char *unit;
    const char *values; /* words with one space between: the values of an enumeration, the
                           algorithms of a level spec, the words of a choice; else NULL */
};

/* The index of the variable with this name in table[n]; -1 if there is none. */
int nc_variable_find(const struct nc_variable *table, int n, const char *name);

/* Reads a text. *value: the number it stands for; 0 for a level spec, links or a choice. Returns
 * false if the variable does not allow the text. */
bool nc_variable_parse(const struct nc_variable *variable, const char *text, int *value);

/* Whether the values of this variable are numbers; if not, nc_variable_format cannot be called. */
bool nc_variable_is_number(const struct nc_variable *variable);

/* Write to text[size], truncated if it is too short: the text of a value, of a variable whose
 * values are numbers; and what the variable allows, for users ("1 to 4096 slots"). */
void nc_variable_format(const struct nc_variable *variable, int value, char *text, size_t size);
void nc_variable_allowed(const struct nc_variable *variable, char *text, size_t size);

/* Whether a word of n characters is in a list of words with one space between. *number: its index,
 * if it is. */
bool nc_words_find(const char *words, const char *word, size_t n, int *number);

#endif
