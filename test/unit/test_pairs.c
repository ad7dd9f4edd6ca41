/* Tests core/nc_pairs: in a tournament every two members meet once, each round is a set of pairs,
 * and there are as few rounds as possible. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/nc_pairs.h"

enum { MOST = 70 };

static void tournaments(void **state)
{
    char met[MOST][MOST];

    (void) state;
    for (int p = 1; p < MOST; p++) {
        memset(met, 0, sizeof met);
        assert_int_equal(nc_pairs_rounds(p), p % 2 ? p : p - 1);
        for (int round = 0; round < nc_pairs_rounds(p); round++) {
            int alone = 0;
            for (int i = 0; i < p; i++) {
                int j = nc_pairs_partner(p, i, round);
                assert_in_range(j, 0, p - 1);
                assert_int_equal(nc_pairs_partner(p, j, round), i);
                alone += j == i;
                met[i][j]++;
            }
            assert_int_equal(alone, p % 2);
        }
        for (int i = 0; i < p; i++) {
            for (int j = 0; j < p; j++)
                assert_int_equal(met[i][j], i != j || p % 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tournaments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
