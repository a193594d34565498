#include "stats/entropy.h"

#include "util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_entropy(const uint64_t *count, uint64_t bins, double wanted)
{
    double found = gf_entropy(count, bins);
    if (!(fabs(found - wanted) <= 1e-14 * wanted))
        fail_msg("%.17g, not %.17g", found, wanted);
}

/* The sum of (c / n) * (n / c).ln() / 2.ln() with Python's decimal at 60 digits. */
static void recorded(void **state)
{
    static const struct {
        uint64_t count[4];
        double bits;
    } cases[] = {
        {{1}, 0},
        {{0, 7}, 0},
        {{1, 1}, 1},
        {{1, 2}, 0.9182958340544896},
        {{1, 2, 3}, 1.4591479170272448},
        {{3, 3, 3, 3}, 2},
        {{999999999, 1}, 3.134004789415388e-08},
        {{1, 0, 0, 999999999}, 3.134004789415388e-08},
        {{999999999, 1, 0, 5}, 1.7643064602997365e-07},
        {{999999999999, 1}, 4.130583217953659e-11},
        {{UINT64_C(1) << 53, 1, 1}, 1.2088706711408148e-14},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++)
        assert_entropy(cases[i].count, 4, cases[i].bits);
}

static void many_bins(void **state)
{
    uint64_t count[1000];
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        count[i] = 1;
    assert_entropy(count, 1000, 9.965784284662087);
    for (unsigned i = 0; i < 1000; i++)
        count[i] = i < 300 ? i : 0;
    assert_entropy(count, 1000, 7.947738436923593);
}

static void of_nothing(void **state)
{
    const uint64_t zero[3] = {0};
    (void)state;
    assert_true(isnan(gf_entropy(zero, 3)));
    assert_true(isnan(gf_entropy(NULL, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded),
        cmocka_unit_test(many_bins),
        cmocka_unit_test(of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
