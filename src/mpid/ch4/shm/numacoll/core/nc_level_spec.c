/* Always built: nc_variable.c parses level specs. This file has the parser of level specs and of
 * links; see nc_level_spec.h. */

#include "nc_level_spec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = NC_LEVELS + 1 };

_Static_assert(ANY < 8 * sizeof(unsigned), "a set of named items has a bit for each");
_Static_assert(NC_LEVEL_SPEC_LARGEST_DEGREE <= UCHAR_MAX, "a spec keeps degrees as bytes");

/* Reads "/4", from text to end; an empty text gives NC_LEVEL_SPEC_DEGREE. */
static bool parse_degree(const char *text, const char *end, unsigned char *degree)
{
    char *stop;
    long number;

    *degree = NC_LEVEL_SPEC_DEGREE;
    if (text == end)
        return true;
    if (text + 1 == end || text[1] < '0' || text[1] > '9')
        return false;
    number = strtol(text + 1, &stop, 10);
    *degree = (unsigned char) number;
    return stop == end && number >= 2 && number <= NC_LEVEL_SPEC_LARGEST_DEGREE;
}

/* Reads an algorithm and its degree, from text to end. *algorithm: its index in the list. */
static bool parse_algorithm(const char *text, const char *end, const char *algorithms,
                            unsigned char *algorithm, unsigned char *degree)
{
    const char *slash = memchr(text, '/', (size_t) (end - text));
    size_t length = (size_t) ((slash ? slash : end) - text);

    for (*algorithm = 0; *algorithms; ++*algorithm) {
        size_t n = strcspn(algorithms, " ");
        bool takes_degree = algorithms[n - 1] == '/', same = n - takes_degree == length;

        if (same && !memcmp(algorithms, text, length))
            return takes_degree || !slash ? parse_degree(slash ? slash : end, end, degree) : false;
        algorithms += n + (algorithms[n] == ' ');
    }
    return false;
}

/* The level that the first n characters of text name; ANY for a star, -1 if there is none. */
static int parse_level(const char *text, size_t n)
{
    return n == 1 && *text == '*' ? ANY : nc_level_find(text, n);
}

/* Reads a list of items, each a level, a colon, and what parse(context, level, text, end) reads.
 * *named: one bit for each level that has an item. */
static bool parse_items(const char *text, bool (*parse)(void *, int, const char *, const char *),
                        void *context, unsigned *named)
{
    *named = 0;
    while (*text) {
        size_t n = strcspn(text, ","), name = strcspn(text, ":,");
        int level = parse_level(text, name);

        if (level < 0 || name == n || *named >> level & 1 ||
            !parse(context, level, text + name + 1, text + n))
            return false;
        *named |= 1u << level;
        text += n;
        /* a comma must be followed by an item */
        if (*text && !*++text)
            return false;
    }
    return true;
}

/* The item that holds for a level: its own, or that of `*`. */
static int item_of(unsigned named, int level)
{
    return named >> level & 1 ? level : ANY;
}

/* ---- specs ---- */

struct spec_items {
    const char *algorithms;
    unsigned char algorithm[ANY + 1], degree[ANY + 1];
};

static bool parse_spec_item(void *context, int level, const char *text, const char *end)
{
    struct spec_items *items = context;

    return parse_algorithm(text, end, items->algorithms, &items->algorithm[level],
                           &items->degree[level]);
}

bool nc_level_spec_parse(struct nc_level_spec *spec, const char *text, const char *algorithms)
{
    struct spec_items items = {.algorithms = algorithms, .degree[ANY] = NC_LEVEL_SPEC_DEGREE};
    unsigned named;

    if (!parse_items(text, parse_spec_item, &items, &named))
        return false;
    for (int level = 0; level <= NC_LEVELS; level++) {
        spec->algorithm[level] = items.algorithm[item_of(named, level)];
        spec->degree[level] = items.degree[item_of(named, level)];
    }
    return true;
}

/* ---- links ---- */

/* Reads a number from text to end: digits, one point among them at most. Not by strtod, whose point
 * follows the locale of the program. Exact for as many digits as a double has. */
static bool parse_number(const char *text, const char *end, double *number)
{
    double digits = 0, scale = 1;
    bool point = false, any = false;

    for (; text < end; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9')
            return false;
        digits = digits * 10 + (*text - '0');
        scale *= point ? 10 : 1;
        any = true;
    }
    *number = digits / scale;
    return any && *number <= 1e6;
}

static bool parse_link(void *context, int level, const char *text, const char *end)
{
    struct nc_model_link *link = (struct nc_model_link *) context + level;
    const char *slash = memchr(text, '/', (size_t) (end - text));

    if (!slash || !parse_number(text, slash, &link->alpha) ||
        !parse_number(slash + 1, end, &link->beta))
        return false;
    link->alpha *= 1e-6;
    link->beta *= 1e-9;
    return true;
}

bool nc_links_parse(struct nc_links *links, const char *text)
{
    struct nc_model_link items[ANY + 1] = {[ANY] = {NC_LINK_ALPHA * 1e-6, NC_LINK_BETA * 1e-9}};
    unsigned named;

    if (!parse_items(text, parse_link, items, &named))
        return false;
    for (int level = 0; level <= NC_LEVELS; level++)
        links->link[level] = items[item_of(named, level)];
    return true;
}
