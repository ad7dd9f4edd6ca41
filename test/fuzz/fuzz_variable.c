/* The values of every variable (core/nc_variable.c, with the table of cvars.yaml): an input is the
 * name of a variable, an equals sign and a value. A number that is taken is in its range, and
 * written and read again it is the same. */

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/nc_variable.h"
#include "numacoll_vars.h" /* made by maint/gencvars */

static const struct nc_variable table[] = {
#define NC_ROW(NAME, name, kind, scope, low, high, unit, values) \
    {name, kind, scope, low, high, unit, values},
    NC_VARIABLES(NC_ROW)
#undef NC_ROW
};
enum { COUNT = sizeof table / sizeof *table };

static void read_value(const struct nc_variable *v, const char *text)
{
    char written[1024], allowed[1024];
    int value, again;

    nc_variable_allowed(v, allowed, sizeof allowed);
    assert(fuzz_is_line(allowed));
    nc_variable_allowed(v, allowed, 24);
    if (!nc_variable_parse(v, text, &value) || !nc_variable_is_number(v))
        return;
    nc_variable_format(v, value, written, sizeof written);
    assert(nc_variable_parse(v, written, &again) && again == value);
    if (v->kind == NC_KIND_INT || v->kind == NC_KIND_ENUM)
        assert(value >= v->low && value <= v->high);
    nc_variable_format(v, value, written, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *equals = strchr(text, '=');

    if (equals) {
        int i;
        *equals = '\0';
        i = nc_variable_find(table, COUNT, text);
        /* without a name of a variable: the value of each */
        for (int k = 0; k < COUNT; k++) {
            if (i < 0 || k == i)
                read_value(&table[k], equals + 1);
        }
    }
    free(text);
    return 0;
}
