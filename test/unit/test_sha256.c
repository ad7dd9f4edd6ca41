/* core/nc_sha256.c: the examples of FIPS 180-4, and lengths around the ends of blocks, of which
 * sha256sum gave the checksums. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/nc_sha256.h"

static void check(const void *data, size_t bytes, const char *expected)
{
    char text[NC_SHA256_TEXT];

    nc_sha256(data, bytes, text);
    assert_string_equal(text, expected);
}

static void examples(void **state)
{
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    (void) state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* In memory of the exact length: AddressSanitizer sees what goes beyond. */
static void check_letters(size_t bytes, const char *expected)
{
    char *data = malloc(bytes);

    memset(data, 'a', bytes);
    check(data, bytes, expected);
    free(data);
}

static void lengths(void **state)
{
    (void) state;
    check_letters(55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check_letters(56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    check_letters(63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    check_letters(64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    check_letters(65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
    check_letters(119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
    check_letters(120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
    check_letters(1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(lengths),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
