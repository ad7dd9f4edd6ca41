/* core/nc_variable.c: the texts that variables of each kind allow or refuse, their numbers, and the
 * descriptions for users. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/nc_variable.h"

static const struct nc_variable table[] = {
    {"queue_length", NC_KIND_INT, NC_PER_COMMUNICATOR, 1, 4096, "slots", NULL},
    {"bcast_tree", NC_KIND_ENUM, NC_PER_CALL, 0, 3, "", "flat kary knomial chain"},
    {"queue_budget", NC_KIND_INT, NC_PER_COMMUNICATOR, -1, 1000, "bytes", NULL},
    {"levels", NC_KIND_LEVELS, NC_PER_COMMUNICATOR, 0, 0, "", NULL},
    {"mapping", NC_KIND_CHOICE, NC_PER_COMMUNICATOR, 0, 2, "", "binding core list:"},
    {"bcast_group", NC_KIND_LEVEL_SPEC, NC_PER_CALL, 0, 1, "", "flat knomial/"},
    {"links", NC_KIND_LINKS, NC_PER_CALL, 0, 0, "", NULL},
};

static void finds_names(void **state)
{
    (void) state;
    assert_int_equal(nc_variable_find(table, 3, "bcast_tree"), 1);
    assert_int_equal(nc_variable_find(table, 3, "queue_budget"), 2);
    assert_int_equal(nc_variable_find(table, 3, "bcast_tre"), -1);
    assert_int_equal(nc_variable_find(table, 3, "bcast_tree_k"), -1);
    assert_int_equal(nc_variable_find(table, 3, ""), -1);
}

static void numbers(void **state)
{
    static const char *const wrong[] = {
        "", " ", "0", "4097", "1.5", "3x", "x", "99999999999999999999", "-3"};
    int value = 77;

    (void) state;
    assert_true(nc_variable_parse(&table[0], "1", &value) && value == 1);
    assert_true(nc_variable_parse(&table[0], "4096", &value) && value == 4096);
    assert_true(nc_variable_parse(&table[2], "-1", &value) && value == -1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(nc_variable_parse(&table[0], wrong[i], &value));
    assert_int_equal(value, -1);
}

static void values(void **state)
{
    static const char *const names[] = {"flat", "kary", "knomial", "chain"};
    static const char *const wrong[] = {"",          "oak",   "fla",    "flatt",
                                        "flat kary", " flat", "chain ", "0"};
    char text[16];
    int value = 77;

    (void) state;
    for (int i = 0; i < 4; i++) {
        assert_true(nc_variable_parse(&table[1], names[i], &value) && value == i);
        nc_variable_format(&table[1], i, text, sizeof text);
        assert_string_equal(text, names[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(nc_variable_parse(&table[1], wrong[i], &value));
    nc_variable_format(&table[2], -1, text, sizeof text);
    assert_string_equal(text, "-1");
}

static void levels_and_specs(void **state)
{
    char text[512];
    int value = 77;

    (void) state;
    assert_true(nc_variable_parse(&table[3], "numa,package", &value) && value == 0x0c);
    nc_variable_format(&table[3], value, text, sizeof text);
    assert_string_equal(text, "numa,package");
    assert_false(nc_variable_parse(&table[3], "numa,socket", &value));
    assert_true(nc_variable_parse(&table[5], "numa:knomial/4", &value));
    assert_false(nc_variable_parse(&table[5], "numa:oak", &value));
    nc_variable_allowed(&table[5], text, sizeof text);
    assert_non_null(strstr(text, "numa, package, node, switch1"));
    assert_non_null(strstr(text, "switch8, top, *, each once"));
    assert_non_null(strstr(text, "algorithms of flat, knomial/K, K from 2 to 128"));
    assert_true(nc_variable_parse(&table[6], "top:2/0.1", &value) && value == 0);
    assert_false(nc_variable_parse(&table[6], "top:2", &value));
    nc_variable_allowed(&table[6], text, sizeof text);
    assert_non_null(strstr(text, "LEVEL:MICROSECONDS/NANOSECONDS"));
    assert_true(nc_variable_parse(&table[4], "core", &value) &&
                nc_variable_parse(&table[4], "list:0,1", &value));
    assert_true(nc_variable_parse(&table[4], "", &value));
    assert_false(nc_variable_parse(&table[4], "cor", &value));
    assert_false(nc_variable_parse(&table[4], "core:0", &value));
    assert_false(nc_variable_parse(&table[4], "list", &value));
}

/* Whatever the room, the text ends inside it. */
static void what_is_allowed(void **state)
{
    char text[64];

    (void) state;
    nc_variable_allowed(&table[0], text, sizeof text);
    assert_string_equal(text, "1 to 4096 slots");
    nc_variable_allowed(&table[1], text, sizeof text);
    assert_string_equal(text, "one of flat, kary, knomial, chain");
    for (int i = 1; i < 7; i++) {
        for (size_t size = 1; size < sizeof text; size++) {
            memset(text, '#', sizeof text);
            nc_variable_allowed(&table[i], text, size);
            assert_true(strlen(text) < size);
            assert_int_equal(text[size], '#');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names),     cmocka_unit_test(numbers),
        cmocka_unit_test(values),          cmocka_unit_test(levels_and_specs),
        cmocka_unit_test(what_is_allowed),
    };
    return cmocka_run_group_tests_name("variable", tests, NULL, NULL);
}
