/* core/nc_level_spec.c: level specs and links that are read, and those that are refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/nc_level_spec.h"

static const char *const words = "flat kary/ knomial/ rsg";

static void each_level(void **state)
{
    struct nc_level_spec p;

    (void) state;
    assert_true(nc_level_spec_parse(&p, "numa:kary,package:knomial/2,top:rsg,*:flat", words));
    for (int level = 0; level <= NC_LEVELS; level++) {
        int wanted = level == NC_LEVEL_NUMA      ? 1
                     : level == NC_LEVEL_PACKAGE ? 2
                     : level == NC_LEVEL_TOP     ? 3
                                                 : 0;
        assert_int_equal(p.algorithm[level], wanted);
    }
    assert_int_equal(p.degree[NC_LEVEL_NUMA], NC_LEVEL_SPEC_DEGREE);
    assert_int_equal(p.degree[NC_LEVEL_PACKAGE], 2);
}

static void levels_not_named(void **state)
{
    struct nc_level_spec p;

    (void) state;
    assert_true(nc_level_spec_parse(&p, "", words));
    assert_true(p.algorithm[NC_LEVEL_L2] == 0 && p.algorithm[NC_LEVEL_TOP] == 0);
    assert_true(nc_level_spec_parse(&p, "switch1:rsg", words));
    assert_true(p.algorithm[NC_LEVEL_SWITCH1] == 3 && p.algorithm[NC_LEVEL_NODE] == 0);
    /* the star holds for all that are not named, wherever it stands */
    assert_true(nc_level_spec_parse(&p, "*:kary/128,l3:flat", words));
    assert_true(p.algorithm[NC_LEVEL_L3] == 0 && p.algorithm[NC_LEVEL_L2] == 1);
    assert_int_equal(p.degree[NC_LEVEL_TOP], 128);
}

static void wrong(void **state)
{
    static const char *const texts[] = {"numa",
                                        "numa:",
                                        "numa:oak",
                                        "socket:flat",
                                        ":flat",
                                        "flat",
                                        "numa:flat,",
                                        ",numa:flat",
                                        "numa:flat,,l3:flat",
                                        "numa:flat,numa:flat",
                                        "*:flat,*:rsg",
                                        "numa:flat/2",
                                        "numa:rsg/",
                                        "numa:kary/1",
                                        "numa:kary/129",
                                        "numa:kary/",
                                        "numa:kary/x",
                                        "numa:kary/2x",
                                        "numa:kary/-2",
                                        "numa:kary/ 2",
                                        "numa:kar",
                                        "numa:karyy",
                                        "numa :flat",
                                        "numa:flat package:flat",
                                        "numa:kary/4294967298",
                                        "numa:flat:rsg"};
    struct nc_level_spec p;

    (void) state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (nc_level_spec_parse(&p, texts[i], words))
            fail_msg("\"%s\" passes", texts[i]);
    }
}

static void close_to(double a, double b)
{
    assert_true(a - b < 1e-15 && b - a < 1e-15);
}

static void links(void **state)
{
    struct nc_links l;

    (void) state;
    assert_true(nc_links_parse(&l, "switch1:1.5/0.25,*:20/0"));
    close_to(l.link[NC_LEVEL_SWITCH1].alpha, 1.5e-6);
    close_to(l.link[NC_LEVEL_SWITCH1].beta, 0.25e-9);
    close_to(l.link[NC_LEVEL_TOP].alpha, 20e-6);
    close_to(l.link[NC_LEVEL_NODE].beta, 0);
    assert_true(nc_links_parse(&l, "top:7/3"));
    close_to(l.link[NC_LEVEL_TOP].alpha, 7e-6);
    close_to(l.link[NC_LEVEL_SWITCH1].alpha, NC_LINK_ALPHA * 1e-6);
    close_to(l.link[NC_LEVEL_SWITCH1].beta, NC_LINK_BETA * 1e-9);
}

static void wrong_links(void **state)
{
    static const char *const texts[] = {
        "1.5/0.1", "*:",      "*:1",         "*:1/",    "*:/1",        "*:1/2/3",
        "*:-1/1",  "*:1/-1",  "*:nan/1",     "*:inf/1", "*:1e3/1",     "*:1.2.3/1",
        "*:./1",   "*:1/1,",  "*:1/1,*:2/2", "oak:1/1", "*:1/1000001", "*: 1/1",
        "*:1/1 ",  "*:0x1/1", "top:1,2",     "*:1,3/1"};
    struct nc_links l;

    (void) state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (nc_links_parse(&l, texts[i]))
            fail_msg("\"%s\" passes", texts[i]);
    }
}

/* Chooses a locale with a decimal comma; makes it if this machine has none. */
static bool choose_comma(void)
{
    char folder[] = "/tmp/localeXXXXXX", line[128];
    bool chosen = setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;

    if (!chosen && mkdtemp(folder)) {
        snprintf(line, sizeof line, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                 folder);
        chosen = system(line) == 0 && !setenv("LOCPATH", folder, 1) &&
                 setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
        snprintf(line, sizeof line, "rm -r %s", folder);
        chosen = system(line) == 0 && chosen;
    }
    return chosen && *localeconv()->decimal_point == ',';
}

/* A program may choose its locale at any time; the text of a variable is not in it. */
static void links_in_a_locale(void **state)
{
    struct nc_links l;

    (void) state;
    if (!choose_comma()) {
        puts("# skipped: there is no locale with a comma, nor locales to make one");
        return;
    }
    assert_true(nc_links_parse(&l, "top:1.3/0.1"));
    assert_true(l.link[NC_LEVEL_TOP].alpha == 1.3 * 1e-6);
    assert_true(l.link[NC_LEVEL_TOP].beta == 0.1 * 1e-9);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level),  cmocka_unit_test(levels_not_named),
        cmocka_unit_test(wrong),       cmocka_unit_test(links),
        cmocka_unit_test(wrong_links), cmocka_unit_test(links_in_a_locale)};
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
