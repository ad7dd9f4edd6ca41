/* The parser of PMIx's locality strings. See nc_locality.h. */

#include "nc_locality.h"

#include <limits.h>
#include <string.h>

enum { UNKNOWN = -1, UNSEEN = -2 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool read_number(const char **text, int *number)
{
    if (!is_digit(**text))
        return false;
    for (*number = 0; is_digit(**text); (*text)++) {
        int digit = **text - '0';
        if (*number > (INT_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* Reads 8, 0-3, or 8- (without an end). */
static bool read_range(const char **text, int *low, int *high)
{
    if (!read_number(text, low))
        return false;
    *high = *low;
    if (**text != '-')
        return true;
    (*text)++;
    if (!is_digit(**text)) {
        *high = INT_MAX;
        return true;
    }
    return read_number(text, high) && *low <= *high;
}

/* Reads a list. *unit: its number if there is only one, UNKNOWN if there are several. */
static bool read_list(const char **text, int *unit)
{
    int low, high;

    *unit = UNSEEN;
    for (;;) {
        if (!read_range(text, &low, &high))
            return false;
        *unit = low == high && (*unit == UNSEEN || *unit == low) ? low : UNKNOWN;
        if (**text != ',')
            return true;
        (*text)++;
    }
}

/* The level of a type; NC_LEVEL_NODE for types that are ignored. */
static enum nc_level level_of(const char *type)
{
    static const char types[NC_LEVEL_NODE][3] = {[NC_LEVEL_L2] = "L2",
                                                 [NC_LEVEL_L3] = "L3",
                                                 [NC_LEVEL_NUMA] = "NM",
                                                 [NC_LEVEL_PACKAGE] = "SK"};
    _Static_assert(NC_LEVEL_NODE == 4, "every level below the node has its type");
    int level = 0;

    while (level < NC_LEVEL_NODE && strncmp(type, types[level], 2))
        level++;
    return (enum nc_level) level;
}

/* Reads a part. unit: [NC_LEVEL_NODE + 1], the last element for all types that are ignored. A level
 * may be named once. */
static bool read_part(const char **text, int *unit)
{
    const char *type = *text;
    enum nc_level level;

    if (!is_capital(type[0]) || !(is_capital(type[1]) || is_digit(type[1])))
        return false;
    level = level_of(type);
    if (level != NC_LEVEL_NODE && unit[level] != UNSEEN)
        return false;
    *text += 2;
    return read_list(text, &unit[level]);
}

static bool read_parts(const char *text, int *unit)
{
    for (;;) {
        if (!read_part(&text, unit))
            return false;
        if (*text != ':')
            return !*text;
        text++;
    }
}

bool nc_locality_parse(const char *text, int *unit)
{
    static const char prefix[] = "hwloc:";
    int read[NC_LEVEL_NODE + 1];
    bool good;

    for (int level = 0; level <= NC_LEVEL_NODE; level++)
        read[level] = UNSEEN;
    if (!strncmp(text, prefix, strlen(prefix)))
        text += strlen(prefix);
    good = read_parts(text, read);
    for (int level = 0; level < NC_LEVEL_NODE; level++)
        unit[level] = good && read[level] != UNSEEN ? read[level] : UNKNOWN;
    return good;
}
