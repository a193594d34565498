#include "stats/assert.h"

#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_stats.h"

static enum gf_status evaluate(const char *text, const struct gf_stats *s, struct gf_error *e)
{
    struct gf_columns columns = {0};
    struct gf_assert a;
    if (gf_assert_parse(&a, text, &columns, e) != GF_OK)
        fail_msg("%s: %s", text, e->text);
    return gf_assert_check(&a, s, e);
}

static void assert_truth(const char *text, const struct gf_stats *s, bool expected)
{
    struct gf_error e = {""};
    if ((evaluate(text, s, &e) == GF_OK) != expected)
        fail_msg("'%s' should be %s: %s", text, expected ? "true" : "false", e.text);
}

/* ---- what is true ---- */

static void comparisons(void **state)
{
    /* n = 12, mean = 5462.25, p99.9 = 65000.125, n_nan = 0. */
    static const struct {
        const char *text;
        bool truth;
    } cases[] = {
        {"n == 12", true}, {"n != 12", false}, {"n<12", false}, {"n<=12", true}, {"n>12", false},
        {"n>=12", true}, {"12==n", true}, {"p99.9 < 65000.25", true}, {"mean == 5462.25", true},
        {"mean == 5.46225e3", true}, {"mean>=5462.25", true}, {"n_nan==0&&max<=65535", true},
        {"n == 3 || n == 12", true}, {"!(n == 3)", true}, {"!!(n == 3)", false},
        {" n\t>\n1 ", true},
        /* How tight. */
        {"1 + 2 * 3 == 7", true}, {"(1 + 2) * 3 == 9", true}, {"7 - 2 - 1 == 4", true},
        {"8 / 4 / 2 == 1", true}, {"7 - (2 - 1) == 6", true}, {"-2 * -3 == 6", true},
        {"- -3 == 3", true}, {"2 - -3 == 5", true},
        {"n == 12 || n == 12 && n == 0", true}, {"(n == 12 || n == 12) && n == 0", false},
        {"!(n == 0) && n == 12", true}, {"n == 0 && n == 0 || n == 12", true},
        {"1 + 1 < 1 * 3", true},
        /* Quotients are doubles. */
        {"1 / 2 == 0.5", true}, {"n_nan / n < 0.01", true}, {"1 / 0 > 1e308", true},
        {"max - min == 65534", true},
    };
    struct gf_stats s = made_stats();
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++)
        assert_truth(cases[i].text, &s, cases[i].truth);
}

static void exact_integers(void **state)
{
    /* sum = 2^53 + 1 and the doubles beside it; then 2^127 - 1. */
    static const struct {
        const char *text;
        bool truth;
    } first[] = {
        {"sum == 9007199254740993", true}, {"sum == 9007199254740992", false},
        {"sum > 9007199254740992.0", true}, {"sum < 9007199254740994.0", true},
        {"sum == 9007199254740992.0", false}, {"sum != 9007199254740994.0", true},
        {"sum - 1 == 9007199254740992.0", true}, {"sum + sum == 18014398509481986", true},
        {"sum > 1e300", false}, {"sum > -1e300", true}, {"1e300 > sum", true},
        {"sum * 1 > 9007199254740992", true}, {"-sum < -9007199254740992", true},
        {"sum < 9007199254740993.5", true}, {"0.5 < sum", true}, {"n > 11.5", true},
        {"n < 12.5", true}, {"-n < -11.5", true}, {"-n > -12.5", true},
    }, second[] = {
        {"sum == 170141183460469231731687303715884105727", true},
        {"sum > 170141183460469231731687303715884105726", true},
        {"sum < 170141183460469231731687303715884105728", true},
        {"sum < 1.7014118346046923e38", true},
        /* No longer whole: the double next to 2^127. */
        {"sum + 1 == 1.7014118346046923e38", true}, {"sum + 1 > sum", true},
        {"sum * sum > 1e76", true}, {"-sum - 2 == -1.7014118346046923e38", true},
        {"n == 18446744073709551615", true}, {"n > 18446744073709551614", true},
        /* (2^64 - 1)^2 is beyond 127 bits: a double, as is the number beside it. */
        {"n * n == 340282366920938463426481119284349108225", true},
        {"n * n == 340282366920938463463374607431768211456.0", true},
    };
    struct gf_stats s = made_stats();
    (void)state;
    s.whole_sum = (struct gf_i128){(UINT64_C(1) << 53) + 1, 0};
    for (size_t i = 0; i < GF_COUNT(first); i++)
        assert_truth(first[i].text, &s, first[i].truth);
    s.whole_sum = (struct gf_i128){UINT64_MAX, INT64_MAX};
    s.n = UINT64_MAX;
    for (size_t i = 0; i < GF_COUNT(second); i++)
        assert_truth(second[i].text, &s, second[i].truth);
    s.whole_sum = (struct gf_i128){0, UINT64_C(1) << 63};
    assert_truth("sum == -170141183460469231731687303715884105728.0", &s, true);
    assert_truth("-sum == 170141183460469231731687303715884105728", &s, true);
    assert_truth("sum < -1.7e38 && sum >= -1.7014118346046923e38", &s, true);
}

/* A comparison with NaN is neither true nor false. */
static void nan_fails(void **state)
{
    static const char *const never[] = {
        "mean < 1", "mean <= 1", "mean > 1", "mean >= 1", "mean == 1", "mean != 1", "mean == mean",
        "mean != mean", "!(mean < 1)", "!(mean != mean)", "!!(mean < 1)", "mean < 1 || n > 5",
        "mean < 1 && n == 0", "n == 0 && !(mean < 1)", "!(mean < 1 && n == 0)",
        "!(mean < 1 || n > 5)", "0 / n > 1 || 0 / n <= 1", "-mean < 1", "mean * 0 == 0",
        "sum < mean", "p42 < 1",
    }, *const still[] = {
        "mean < 1 || n == 0", "n == 0 || mean < 1", "!(mean < 1 && n > 5)",
        "!(n > 5 && mean < 1)", "n_nan == 9 && n_inf == 3",
    };
    struct gf_stats s = made_empty();
    (void)state;
    for (size_t i = 0; i < GF_COUNT(never); i++)
        assert_truth(never[i], &s, false);
    for (size_t i = 0; i < GF_COUNT(still); i++)
        assert_truth(still[i], &s, true);
}

/* ---- what is said ---- */

static void messages(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"p99.9 < 60000", "p99.9 < 60000 is not true: p99.9 = 65000.125"},
        {"n == 12 && mean > 6000 && n == 1", "mean > 6000 is not true: mean = 5462.25"},
        {"n==1||n*2<n+mean / 1e9", "n==1||n*2<n+mean / 1e9 is not true: n = 12, mean = 5462.25"},
        {"n > 0 && !( n == 12 )", "!( n == 12 ) is not true: n = 12"},
        {"(n > 0 && (n == 1)) && n == 2", "(n == 1) is not true: n = 12"},
        {"sum == 0", "sum == 0 is not true: sum = -1"},
        {"entropy < 1", "entropy < 1 is not true: entropy = nan"},
        {"n > 1 && (mean - min) * 2 < std", "(mean - min) * 2 < std is not true: mean = 5462.25, "
                                            "min = 1, std = 0.3333333333333333"},
        {"2 < 1", "2 < 1 is not true"},
    };
    struct gf_stats s = made_stats();
    char expected[512];
    struct gf_error e;
    (void)state;
    s.whole_sum = (struct gf_i128){UINT64_MAX, UINT64_MAX};
    s.entropy = -(double)NAN;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        assert_int_equal(evaluate(cases[i].text, &s, &e), GF_NO);
        snprintf(expected, sizeof expected, "a.tif: --assert: %s", cases[i].message);
        assert_string_equal(e.text, expected);
    }
    s.page = 0;
    s.label = 7;
    assert_int_equal(evaluate("n < 5", &s, &e), GF_NO);
    assert_string_equal(e.text, "a.tif, page 0, label 7: --assert: n < 5 is not true: n = 12");
}

static void errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "at the end of '': needed a statistic or a number"},
        {"n <", "at the end of 'n <': needed a statistic or a number"},
        {"p99 < < 3", "at character 7, '< 3': needed a statistic or a number"},
        {"n", "at the end of 'n': needed a comparison (n_nan == 0)"},
        {"n + 1", "at the end of 'n + 1': needed a comparison (n_nan == 0)"},
        {"(n == 1", "at the end of '(n == 1': needed ')' or an operator"},
        {"n == 1)", "at character 7, ')': needed an operator, such as < or &&"},
        {"n = 1", "at character 3, '= 1': equality is written =="},
        {"n == 1 & n == 2", "at character 8, '& n == 2': needed an operator, such as < or &&"},
        {"1 < n < 3", "at character 7, '< 3': < needs numbers, not comparisons (join them with "
                      "&&)"},
        {"n == 1 == 1", "at character 8, '== 1': == needs numbers, not comparisons (join them with "
                        "&&)"},
        {"(n == 1) + 1 > 0", "at character 10, '+ 1 > 0': + needs numbers, not comparisons (join "
                             "them with &&)"},
        {"n && n == 1", "at character 3, '&& n == 1': && needs comparisons, not numbers"},
        {"n == 1 || 3", "at character 8, '|| 3': || needs comparisons, not numbers"},
        {"!n == 1", "at character 1, '!n == 1': ! needs a comparison in parentheses"},
        {"-(n == 1) < 1", "at character 1, '-(n == 1) < 1': a comparison has no negative; use !"},
        {"min_at == 0", "at character 1, 'min_at == 0': it is not a number, so it cannot be "
                        "compared"},
        {"hist > 0", "at character 1, 'hist > 0': it is not a number, so it cannot be compared"},
        {"meen > 0", "there is no statistic 'meen'; did you mean 'mean'?"},
        {"p101 > 0", "p101: percentiles are 0 to 100"},
        {"n == 1.2.3", "at character 6, '1.2.3': no such number"},
        {"n == 5x", "at character 6, '5x': no such number"},
        {"n == 1e", "at character 6, '1e': no such number"},
        {"n == 0x10", "at character 6, '0x10': no such number"},
        {"n == 1e999", "at character 6, '1e999': no such number"},
        {"n == \xc3\xa4 x", "at character 6, '\xc3\xa4 x': needed a statistic or a number"},
        {"n \xc3\xa4 = 1", "at character 3, '\xc3\xa4 = 1': needed an operator, such as < or &&"},
        {"n == inf", "there is no statistic 'inf'; there are "},
    };
    char expected[512];
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        struct gf_columns columns = {0};
        struct gf_assert a;
        struct gf_error e = {""};
        assert_int_equal(gf_assert_parse(&a, cases[i].text, &columns, &e), GF_EUSAGE);
        snprintf(expected, sizeof expected, "--assert: %s", cases[i].message);
        if (strncmp(e.text, expected, strlen(expected)) != 0)
            assert_string_equal(e.text, expected);
    }
}

/* At the limits of length and depth. */
static void limits(void **state)
{
    struct gf_stats s = made_stats();
    struct gf_columns columns = {0};
    struct gf_assert a;
    struct gf_error e;
    char text[4096] = "n == 12";
    (void)state;
    for (int i = 0; i < 98; i++) {
        memmove(text + 1, text, strlen(text) + 1);
        text[0] = '(';
        strcat(text, ")");
    }
    assert_truth(text, &s, true);
    memmove(text + 2, text, strlen(text) + 1);
    memcpy(text, "((", 2);
    strcat(text, "))");
    assert_int_equal(gf_assert_parse(&a, text, &columns, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "too many parentheses"));
    memset(text, '-', 4000);
    strcpy(text + 4000, "n<1");
    assert_int_equal(gf_assert_parse(&a, text, &columns, &e), GF_EUSAGE);
    /* 1 + ... + 1 == n with 127 ones has 128 numbers and as many operators less one. */
    strcpy(text, "1");
    for (int i = 0; i < 126; i++)
        strcat(text, "+1");
    strcat(text, "<n");
    assert_truth(text, &s, false);
    strcat(text, "+1");
    assert_int_equal(gf_assert_parse(&a, text, &columns, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "too long"));
    memset(text, '#', 3000);
    text[3000] = '\0';
    assert_int_equal(gf_assert_parse(&a, text, &columns, &e), GF_EUSAGE);
    assert_non_null(strstr(e.text, "##...': needed a statistic or a number"));
}

static void needs(void **state)
{
    const struct gf_stats_options o = {.show = "mean"};
    struct gf_columns columns;
    struct gf_assert a;
    (void)state;
    assert_int_equal(gf_columns_parse(&o, &columns, NULL), GF_OK);
    assert_int_equal(gf_assert_parse(&a, "p99 < 5 || entropy > p1 + p99.0 || median < p50",
                                     &columns, NULL), GF_OK);
    assert_true(columns.need_histogram && columns.need_median && columns.need_moments);
    assert_int_equal(columns.count, 1);
    assert_int_equal(columns.percentiles, 3);
    assert_true(columns.percentile[0] == 1 && columns.percentile[1] == 50 &&
                columns.percentile[2] == 99);
}

/* ---- random expressions ---- */

static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

/* Any words in any order, cut anywhere. */
static void soup(void **state)
{
    static const char *const words[] = {
        "n", "p99", "p0.1", "mean", "min_at", "x", "(", ")", "!", "-", "+", "*", "/", "<", "<=",
        "==", "!=", "&&", "||", "1", "0.5", "1e3", "1e",
        "99999999999999999999999999999999999999999", " ", "=", "&", "\xff", "\xe2\x82", ".",
        "e", "p", "_", "%", "n == 1", "mean < 2"};
    struct gf_stats all[2] = {made_stats(), made_empty()};
    unsigned good = 0;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        char text[512] = "";
        struct gf_columns columns = {0};
        struct gf_assert a;
        struct gf_error e = {""};
        for (unsigned i = draw(k % 8 ? 6 : 30); i > 0; i--)
            strcat(text, words[draw(GF_COUNT(words))]);
        if (draw(4) == 0)
            text[draw((unsigned)strlen(text) + 1)] = '\0';
        if (gf_assert_parse(&a, text, &columns, &e) == GF_OK) {
            good++;
            for (int i = 0; i < 2; i++)
                if (gf_assert_check(&a, &all[i], &e) != GF_OK)
                    assert_non_null(strstr(e.text, " is not true"));
        } else {
            assert_int_equal(strncmp(e.text, "--assert: ", 10), 0);
        }
    }
    assert_true(good > 1000);
}

/* Good expressions made by the grammar, and what they come to by plain C on the way. */
static char made[8192];

static void add(const char *text)
{
    strcat(made, draw(3) ? "" : " ");
    strcat(made, text);
}

static long long made_sum(unsigned depth);

static long long made_factor(unsigned depth)
{
    char digits[16];
    long long value = draw(10);
    switch (draw(depth < 4 ? 5 : 3)) {
    case 0:
        add("n");
        return 12;
    case 1:
        add("n_nan");
        return 0;
    case 3:
        add("-");
        return -made_factor(depth + 1);
    case 4:
        add("(");
        value = made_sum(depth + 1);
        add(")");
        return value;
    default:
        snprintf(digits, sizeof digits, "%lld", value);
        add(digits);
        return value;
    }
}

static long long made_product(unsigned depth)
{
    long long value = made_factor(depth);
    for (unsigned i = draw(3); i > 0; i--) {
        add("*");
        value *= made_factor(depth + 1);
    }
    return value;
}

static long long made_sum(unsigned depth)
{
    long long value = made_product(depth);
    for (unsigned i = draw(3); i > 0; i--) {
        const bool plus = draw(2);
        add(plus ? "+" : "-");
        value += plus ? made_product(depth + 1) : -made_product(depth + 1);
    }
    return value;
}

static bool made_or(unsigned depth);

static bool made_test(unsigned depth)
{
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    const unsigned kind = draw(8), sign = draw(6);
    long long a, b;
    bool value;
    if (kind < 2 && depth < 4) {
        if (kind == 0)
            add("!");
        add("(");
        value = made_or(depth + 1);
        add(")");
        return kind == 0 ? !value : value;
    }
    a = made_sum(depth);
    add(signs[sign]);
    b = made_sum(depth);
    const bool truths[] = {a < b, a <= b, a > b, a >= b, a == b, a != b};
    return truths[sign];
}

static bool made_and(unsigned depth)
{
    bool value = made_test(depth);
    for (unsigned i = draw(3); i > 0; i--) {
        add("&&");
        value = made_test(depth + 1) && value;
    }
    return value;
}

static bool made_or(unsigned depth)
{
    bool value = made_and(depth);
    for (unsigned i = draw(3); i > 0; i--) {
        add("||");
        value = made_and(depth + 1) || value;
    }
    return value;
}

static void grammar(void **state)
{
    struct gf_stats s = made_stats();
    unsigned truths[2] = {0, 0};
    (void)state;
    for (int k = 0; k < 50000; k++) {
        struct gf_columns columns = {0};
        struct gf_assert a;
        struct gf_error e = {""};
        bool truth;
        made[0] = '\0';
        truth = made_or(2);
        if (gf_assert_parse(&a, made, &columns, &e) != GF_OK) {
            if (!strstr(e.text, "too long"))
                fail_msg("'%s': %s", made, e.text);
            continue;
        }
        truths[truth]++;
        if ((gf_assert_check(&a, &s, &e) == GF_OK) != truth)
            fail_msg("'%s' should be %s", made, truth ? "true" : "false");
    }
    assert_true(truths[0] > 10000 && truths[1] > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons), cmocka_unit_test(exact_integers),
        cmocka_unit_test(nan_fails),   cmocka_unit_test(messages),
        cmocka_unit_test(errors),      cmocka_unit_test(limits),
        cmocka_unit_test(needs),       cmocka_unit_test(soup),
        cmocka_unit_test(grammar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
