/* A variable's value as users write it, in an info key or a selection file: text to number, and
 * what is allowed. Enumerated variables have the numbers 0, 1, .. of their values, in the order of
 * cvars.yaml; sets of levels one bit for each. Plans and links (nc_level_spec.h) and choices (a
 * word, or one that ends with a colon and a text behind it) are no numbers: who keeps texts gives
 * them one (mpich/settings.c). */

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
    int low, high; /* of a number or an enumerated value: both allowed */
    const char *unit;
    const char *values; /* of an enumeration, algorithms of a spec, words of a choice: in order, one
                           space between; else NULL */
};

/* The row of the n that has this name; -1 if none. */
int nc_variable_find(const struct nc_variable *table, int n, const char *name);

/* The number a text stands for, 0 for a spec, links or a choice; false if the variable does not
 * allow the text. */
bool nc_variable_parse(const struct nc_variable *variable, const char *text, int *value);

/* Whether values are numbers; if not, only their texts say what they are. */
bool nc_variable_is_number(const struct nc_variable *variable);

/* The text of a number, not of one that is none, and the text for users of all that is allowed ("1
 * to 4096 slots"); cut at size bytes. */
void nc_variable_format(const struct nc_variable *variable, int value, char *text, size_t size);
void nc_variable_allowed(const struct nc_variable *variable, char *text, size_t size);

/* Whether a word of n characters is in a list of words with one space between, and its number. */
bool nc_words_find(const char *words, const char *word, size_t n, int *number);

#endif
