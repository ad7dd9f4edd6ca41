/* core/nc_netfile.c: network files that are read, and the message for each that is refused; many
 * nodes, similar names, and random bytes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_netfile.h"

struct parsed {
    struct nc_netfile file;
    void *memory; /* of the exact size: AddressSanitizer sees what goes beyond */
    char *text;
    bool right;
    char error[600];
};

static struct parsed parse(const char *text)
{
    struct parsed p = {.text = strdup(text), .error = ""};

    p.memory = malloc(nc_netfile_bytes(p.text));
    p.right = nc_netfile_parse(&p.file, p.memory, p.text, p.error, sizeof p.error);
    return p;
}

static void release(struct parsed *p)
{
    free(p->memory);
    free(p->text);
}

static void one_switch(void **state)
{
    struct parsed p = parse("# a small cluster\n\n"
                            "node01 leafA   # first\n"
                            "  node02\tleafB \r\n"
                            "node03 leafA");
    int unit;

    (void) state;
    assert_true(p.right);
    assert_int_equal(p.file.columns, 2);
    assert_int_equal(p.file.count[0], 3);
    assert_int_equal(p.file.count[1], 2);
    assert_true(nc_netfile_find(&p.file, "node01", &unit) && unit == 0);
    assert_true(nc_netfile_find(&p.file, "node02", &unit) && unit == 1);
    assert_true(nc_netfile_find(&p.file, "node03", &unit) && unit == 0);
    assert_false(nc_netfile_find(&p.file, "node04", &unit));
    assert_false(nc_netfile_find(&p.file, "node0", &unit));
    assert_false(nc_netfile_find(&p.file, "node011", &unit));
    assert_false(nc_netfile_find(&p.file, "leafA", &unit));
    assert_false(nc_netfile_find(&p.file, "", &unit));
    release(&p);
}

/* Switches are numbered as they first appear in a column, whatever other columns hold. */
static void three_switches(void **state)
{
    struct parsed p = parse("a x s top\n"
                            "b y s top\n"
                            "s s y top\n"
                            "d x s top#a x t top\n");
    int unit[3];

    (void) state;
    assert_true(p.right);
    assert_int_equal(p.file.columns, 4);
    assert_memory_equal(p.file.count, ((int[]){4, 3, 2, 1}), 4 * sizeof(int));
    assert_true(nc_netfile_find(&p.file, "b", unit));
    assert_memory_equal(unit, ((int[]){1, 0, 0}), sizeof unit);
    assert_true(nc_netfile_find(&p.file, "s", unit));
    assert_memory_equal(unit, ((int[]){2, 1, 0}), sizeof unit);
    assert_true(nc_netfile_find(&p.file, "d", unit));
    assert_memory_equal(unit, ((int[]){0, 0, 0}), sizeof unit);
    release(&p);
}

static void nothing(void **state)
{
    static const char *const empty[] = {"", "\n", " \t\n\n", "# but words", "#\n#"};
    int unit;

    (void) state;
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct parsed p = parse(empty[i]);
        assert_true(p.right);
        assert_int_equal(p.file.count[0], 0);
        assert_int_equal(p.file.columns, 0);
        assert_false(nc_netfile_find(&p.file, "node01", &unit));
        release(&p);
    }
}

static void assert_error(const char *text, const char *expected)
{
    struct parsed p = parse(text);

    assert_false(p.right);
    assert_string_equal(p.error, expected);
    release(&p);
}

static void broken(void **state)
{
    (void) state;
    assert_error("a x\n\n# and\nb\n", "line 4: expected 2 columns as on line 1, found 1");
    assert_error("# and\na x s\nb x\n", "line 3: expected 3 columns as on line 2, found 2");
    assert_error("a x\nb x s", "line 2: expected 2 columns as on line 1, found 3");
    assert_error("a\n",
                 "line 1: expected <node> <switch1> [<switch2> ...], 2 to 9 columns, found 1");
    assert_error("a 1 2 3 4 5 6 7 8 9 10\n",
                 "line 1: expected <node> <switch1> [<switch2> ...], 2 to 9 columns, found 11");
    assert_error("a x\nb y\na x\n", "line 3: expected each node once, 'a' is on line 1 already");
    assert_error("a x s\nb y s\nc x t\n",
                 "line 3: expected switch 'x' under 's' as on line 1, found 't'");
    assert_error("a x s c\nb y s c\nd z s e\n",
                 "line 3: expected switch 's' under 'c' as on line 1, found 'e'");
}

static void widest(void **state)
{
    struct parsed p = parse("a 1 2 3 4 5 6 7 8\n");
    int unit[NC_SWITCHES];

    (void) state;
    assert_true(p.right);
    assert_int_equal(p.file.columns, NC_SWITCHES + 1);
    assert_true(nc_netfile_find(&p.file, "a", unit));
    release(&p);
}

/* The longest name that is allowed, and one character more, in either column. */
static void long_names(void **state)
{
    char name[NC_NETFILE_NAME + 2], text[600];
    struct parsed p;
    int unit;

    (void) state;
    memset(name, 'n', sizeof name);
    name[NC_NETFILE_NAME] = 0;
    snprintf(text, sizeof text, "%s %s\n", name, name);
    p = parse(text);
    assert_true(p.right);
    assert_true(nc_netfile_find(&p.file, name, &unit) && unit == 0);
    release(&p);

    name[NC_NETFILE_NAME] = 'n';
    name[NC_NETFILE_NAME + 1] = 0;
    snprintf(text, sizeof text, "a x\n%s x\n", name);
    assert_error(text,
                 "line 2: expected names of at most 255 characters, 'nnnnnnnnnnnnnnnn...' has 256");
    snprintf(text, sizeof text, "a %s\n", name);
    assert_error(text,
                 "line 1: expected names of at most 255 characters, 'nnnnnnnnnnnnnnnn...' has 256");
}

/* Whatever the room, the error ends inside it. */
static void room_for_the_error(void **state)
{
    struct parsed p = parse("a x s\nb x t\n");
    char error[80];

    (void) state;
    for (size_t size = 1; size < sizeof error; size++) {
        memset(error, '#', sizeof error);
        assert_false(nc_netfile_parse(&p.file, p.memory, p.text, error, size));
        assert_true(strlen(error) < size);
        for (size_t i = size; i < sizeof error; i++)
            assert_int_equal(error[i], '#');
    }
    release(&p);
}

static void many_nodes(void **state)
{
    enum { NODES = 4096, LEAF = 16, SPINE = 256 };
    char *text = malloc(NODES * 16), node[16];
    size_t used = 0;
    struct parsed p;

    (void) state;
    for (int i = 0; i < NODES; i++)
        used += (size_t) sprintf(text + used, "%d %d %d\n", i, i / LEAF, i / SPINE);
    p = parse(text);
    assert_true(p.right);
    assert_memory_equal(p.file.count, ((int[]){NODES, NODES / LEAF, NODES / SPINE}), 12);
    for (int i = 0; i < NODES; i++) {
        int unit[2];
        snprintf(node, sizeof node, "%d", i);
        assert_true(nc_netfile_find(&p.file, node, unit));
        assert_int_equal(unit[0], i / LEAF);
        assert_int_equal(unit[1], i / SPINE);
        snprintf(node, sizeof node, "%d", i + NODES);
        assert_false(nc_netfile_find(&p.file, node, unit));
    }
    release(&p);
    free(text);
}

static uint64_t seed = 1;

static int draw(int below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int) ((seed >> 33) % (uint64_t) below);
}

/* Small tables, where names that are equal in both columns, or begin alike, meet. */
static void alike_names(void **state)
{
    static const char *const words[] = {"a", "b", "aa", "ab", "ba", "bb", "aab", "aba", "abb"};
    enum { WORDS = sizeof words / sizeof *words };

    (void) state;
    for (int n = 0; n < 1000; n++) {
        int on[WORDS], number[WORDS], switches = 0, unit;
        char text[WORDS * 8 + 1] = "";
        struct parsed p;

        memset(number, -1, sizeof number);
        for (int i = 0; i < WORDS; i++) {
            on[i] = draw(WORDS + 3);
            if (on[i] >= WORDS)
                continue;
            if (number[on[i]] < 0)
                number[on[i]] = switches++;
            sprintf(text + strlen(text), "%s %s\n", words[i], words[on[i]]);
        }
        p = parse(text);
        assert_true(p.right);
        for (int i = 0; i < WORDS; i++) {
            assert_int_equal(nc_netfile_find(&p.file, words[i], &unit), on[i] < WORDS);
            if (on[i] < WORDS)
                assert_int_equal(unit, number[on[i]]);
        }
        release(&p);
    }
}

/* Any bytes are read to the end or refused; AddressSanitizer watches. */
static void noise(void **state)
{
    static const char letters[] = "ab \t\n\n#x\r";
    int right = 0;

    (void) state;
    for (int n = 0; n < 3000; n++) {
        char text[64] = "";
        struct parsed p;

        for (size_t i = 0; i < (size_t) n % sizeof text; i++)
            text[i] = letters[draw(sizeof letters - 1)];
        p = parse(text);
        assert_true(p.right || !strncmp(p.error, "line ", 5));
        right += p.right && p.file.columns;
        release(&p);
    }
    assert_true(right > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_switch),
        cmocka_unit_test(three_switches),
        cmocka_unit_test(nothing),
        cmocka_unit_test(broken),
        cmocka_unit_test(widest),
        cmocka_unit_test(long_names),
        cmocka_unit_test(room_for_the_error),
        cmocka_unit_test(many_nodes),
        cmocka_unit_test(alike_names),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests_name("netfile", tests, NULL, NULL);
}
