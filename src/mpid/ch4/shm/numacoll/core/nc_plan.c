#include "nc_plan.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_NAMED = 255, ANY = NC_LEVELS + 1 };

/* Reads "/4" up to the end of the item; a degree that is not there is the usual one. */
static bool parse_degree(const char *text, const char *end, unsigned char *degree)
{
    char *stop;
    long number;

    *degree = NC_PLAN_DEGREE;
    if (text == end)
        return true;
    if (text + 1 == end || text[1] < '0' || text[1] > '9')
        return false;
    number = strtol(text + 1, &stop, 10);
    *degree = (unsigned char) number;
    return stop == end && number >= 2 && number <= NC_PLAN_LARGEST_DEGREE;
}

/* An algorithm with its degree, from text to end. */
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

/* The level that text names up to a colon, ANY for a star, -1 if none. */
static int parse_level(const char *text, size_t n)
{
    return n == 1 && *text == '*' ? ANY : nc_level_find(text, n);
}

bool nc_plan_parse(struct nc_plan *plan, const char *text, const char *algorithms)
{
    unsigned char algorithm[ANY + 1], degree[ANY + 1];

    memset(algorithm, NOT_NAMED, sizeof algorithm);
    while (*text) {
        size_t n = strcspn(text, ","), name = strcspn(text, ":,");
        int level = parse_level(text, name);

        if (level < 0 || name == n || algorithm[level] != NOT_NAMED ||
            !parse_algorithm(text + name + 1, text + n, algorithms, &algorithm[level],
                             &degree[level]))
            return false;
        text += n;
        /* a comma must have something behind it */
        if (*text && !*++text)
            return false;
    }
    if (algorithm[ANY] == NOT_NAMED) {
        algorithm[ANY] = 0;
        degree[ANY] = NC_PLAN_DEGREE;
    }
    for (int level = 0; level <= NC_LEVELS; level++) {
        int from = algorithm[level] == NOT_NAMED ? ANY : level;
        plan->algorithm[level] = algorithm[from];
        plan->degree[level] = degree[from];
    }
    return true;
}
