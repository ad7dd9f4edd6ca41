/* core/nc_locality.c: locality strings that are read, and strings that are refused; cut and random
 * strings do not lead the parser beyond their end. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_locality.h"

/* A copy of the exact size: AddressSanitizer sees what goes beyond. */
static bool parse(const char *text, int *unit)
{
    char *copy = strdup(text);
    bool right = nc_locality_parse(copy, unit);

    free(copy);
    return right;
}

static void check(const char *text, const int *expected)
{
    int unit[NC_LEVEL_NODE];

    if (!parse(text, unit))
        fail_msg("%s: refused", text);
    for (int level = 0; level < NC_LEVEL_NODE; level++) {
        if (unit[level] != expected[level])
            fail_msg("%s: %s %d, not %d", text, nc_level_name(level), unit[level], expected[level]);
    }
}

#define CHECK(text, l2, l3, numa, package) check(text, (int[]){l2, l3, numa, package})

/* As launchers give them. */
static void bound(void **state)
{
    (void) state;
    CHECK("SK0:L30:L20:L10:CR0:HT0:NM0", 0, 0, 0, 0);
    CHECK("SK1:L37:L263:L163:CR63:HT126-127:NM5", 63, 7, 5, 1);
    CHECK("NM3:SK1:L312:L248:L148:CR48:HT48", 48, 12, 3, 1);
    CHECK("hwloc:SK0:L31:L232:L132:CR32:HT32", 32, 1, -1, 0);
    CHECK("SK0:L30:L20-1:L10-1:CR0-1:HT0-1:NM0", -1, 0, 0, 0);
    CHECK("SK0-1:L30-3:L20-31:L10-31:CR0-31:HT0-63:NM0-1", -1, -1, -1, -1);
}

/* A digit after L is of the type, all others are of the number. */
static void levels_and_numbers(void **state)
{
    (void) state;
    CHECK("L31", -1, 1, -1, -1);
    CHECK("L232", 32, -1, -1, -1);
    CHECK("L22", 2, -1, -1, -1);
    CHECK("L20", 0, -1, -1, -1);
    CHECK("L333", -1, 33, -1, -1);
    CHECK("L12", -1, -1, -1, -1);
    CHECK("NM007", -1, -1, 7, -1);
    CHECK("L22147483647", 2147483647, -1, -1, -1);
}

static void lists(void **state)
{
    (void) state;
    CHECK("L30,1", -1, -1, -1, -1);
    CHECK("L30,0", -1, 0, -1, -1);
    CHECK("L35-5", -1, 5, -1, -1);
    CHECK("L35-5,5", -1, 5, -1, -1);
    CHECK("L30-1,0", -1, -1, -1, -1);
    CHECK("L30-3,8,10-12:SK1", -1, -1, -1, 1);
    CHECK("SK0-:NM1", -1, -1, 1, -1);
    CHECK("SK0,4-:NM1", -1, -1, 1, -1);
}

/* Types that are no level of ours are read all the same. */
static void other_types(void **state)
{
    (void) state;
    CHECK("CR0:HT1:L15", -1, -1, -1, -1);
    CHECK("ND2:SK1:CR5:CR6", -1, -1, -1, 1);
    CHECK("L413:ZZ0-4:NM2", -1, -1, 2, -1);
}

static void broken(void **state)
{
    static const char *const texts[] = {"",
                                        ":",
                                        "hwloc:",
                                        "hwloc",
                                        "hwloc:hwloc:SK0",
                                        "HWLOC:SK0",
                                        "S",
                                        "SK",
                                        "L",
                                        "L3",
                                        "SK:L30",
                                        "SK0:",
                                        ":SK0",
                                        "SK0::L30",
                                        "SK0 ",
                                        " SK0",
                                        "SK0\n",
                                        "SK0;L30",
                                        "SK0L30",
                                        "SK0:l30",
                                        "sk0",
                                        "S0",
                                        "30",
                                        "33",
                                        "SKx",
                                        "SK-1",
                                        "SK+1",
                                        "SK0x1",
                                        "SK1.5",
                                        "SK0,",
                                        "SK,0",
                                        "SK0,,1",
                                        "SK0--1",
                                        "SK3-1",
                                        "SK0-1-2",
                                        "SK0:SK0",
                                        "SK0:L30:SK1",
                                        "L22147483648",
                                        "L34294967296",
                                        "CR99999999999999999999",
                                        "NM0-99999999999999999999",
                                        "CR:SK0",
                                        "SK0:CR",
                                        "(none)",
                                        "unbound",
                                        "pspmix:generation_error"};

    (void) state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int unit[NC_LEVEL_NODE] = {9, 9, 9, 9};

        if (parse(texts[i], unit))
            fail_msg("%s: taken", texts[i]);
        assert_memory_equal(unit, ((int[]){-1, -1, -1, -1}), sizeof unit);
    }
}

static uint64_t seed = 1;

static size_t draw(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t) ((seed >> 33) % below);
}

/* Any bytes are read to the end or refused, and no unit comes of what was refused. */
static void noise(void **state)
{
    static const char *const words[] = {"SK", "NM", "L2", "L3", "CR", ":",   ":",
                                        "-",  ",",  "0",  "1",  "32", "\xff"};
    int right = 0;

    (void) state;
    for (int n = 0; n < 20000; n++) {
        char text[64] = "";
        int unit[NC_LEVEL_NODE];

        for (size_t i = draw(8); i > 0; i--)
            strcat(text, words[draw(sizeof words / sizeof *words)]);
        if (parse(text, unit))
            right++;
        else
            assert_memory_equal(unit, ((int[]){-1, -1, -1, -1}), sizeof unit);
    }
    assert_true(right > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound),  cmocka_unit_test(levels_and_numbers),
        cmocka_unit_test(lists),  cmocka_unit_test(other_types),
        cmocka_unit_test(broken), cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests_name("locality", tests, NULL, NULL);
}
