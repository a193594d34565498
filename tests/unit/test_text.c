#include "alloc.h"
#include "status.h"
#include "text.h"
#include "util.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void integers(void **state)
{
    static const char *const bad[] = {"", " 1", "1 ", "+1", "-1", "0x10", "1.0", "1e3", "x",
                                      "18446744073709551616", "99999999999999999999999"};
    uint64_t u = 77;

    (void)state;
    for (size_t k = 0; k < GF_COUNT(bad); k++) {
        assert_false(gf_parse_u64(bad[k], &u));
        assert_int_equal(u, 77);
    }
    assert_true(gf_parse_u64("0", &u) && u == 0);
    assert_true(gf_parse_u64("007", &u) && u == 7);
    assert_true(gf_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
}

static void doubles(void **state)
{
    static const char *const bad[] = {"", " 1", "1 ", "1,5", "0x1p3", "1e", "e5", ".", "-", "1.2.3",
                                      "1e999", "-1e999", "inf", "nan", "infinity", "1f", "1_0"};
    static const struct { const char *text; double value; } good[] = {
        {"0", 0}, {"1.5", 1.5}, {"-2.5e-3", -0.0025}, {".5", 0.5}, {"5.", 5}, {"+1e2", 100},
        {"4.9406564584124654e-324", 4.9406564584124654e-324}, {"1.7976931348623157e308", DBL_MAX}};
    double d = 77;

    (void)state;
    for (size_t k = 0; k < GF_COUNT(bad); k++) {
        assert_false(gf_parse_double(bad[k], false, &d));
        assert_true(d == 77);
    }
    for (size_t k = 0; k < GF_COUNT(good); k++) {
        d = 77;
        assert_true(gf_parse_double(good[k].text, false, &d));
        assert_true(d == good[k].value);
    }
    assert_true(gf_parse_double("inf", true, &d) && isinf(d) && d > 0);
    assert_true(gf_parse_double("-Infinity", true, &d) && isinf(d) && d < 0);
    assert_true(gf_parse_double("NaN", true, &d) && isnan(d));
    assert_false(gf_parse_double("nan(1)", true, &d));
    assert_false(gf_parse_double("1e999", true, &d));
    assert_false(gf_parse_double("--inf", true, &d));
}

static void byte_counts(void **state)
{
    static const struct { const char *text; uint64_t value; } good[] = {
        {"0", 0}, {"4096", 4096}, {"1k", 1024}, {"1KB", 1000}, {"1KiB", 1024}, {"512M", 512u << 20},
        {"2G", UINT64_C(2147483648)}, {"1.5GiB", UINT64_C(1610612736)}, {"0.1K", 102},
        {"1t", UINT64_C(1) << 40}, {"3P", UINT64_C(3) << 50}, {"7b", 7}, {"1.5gb", 1500000000},
        {"16383P", UINT64_C(16383) << 50}};
    static const char *const bad[] = {"", "M", "1.5", "1.5B", "1 M", "-1M", "1MM", "1MiBB", "1X",
                                      "1.M", ".5M", "16384P", "1e3", "99999999999999999999K", "1i"};
    uint64_t v = 77;

    (void)state;
    for (size_t k = 0; k < GF_COUNT(good); k++) {
        assert_true(gf_parse_bytes(good[k].text, &v));
        assert_int_equal(v, good[k].value);
    }
    v = 77;
    for (size_t k = 0; k < GF_COUNT(bad); k++) {
        assert_false(gf_parse_bytes(bad[k], &v));
        assert_int_equal(v, 77);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void formatted_doubles(void **state)
{
    char text[GF_NUMBER_TEXT];
    uint64_t seed = 88172645463325252u;

    (void)state;
    assert_string_equal(gf_format_double(text, 0.1), "0.1");
    assert_string_equal(gf_format_double(text, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(gf_format_double(text, 1e300), "1e+300");
    assert_string_equal(gf_format_double(text, -5), "-5");
    assert_string_equal(gf_format_double(text, (double)NAN), "nan");
    assert_string_equal(gf_format_double(text, (double)-INFINITY), "-inf");
    assert_string_equal(gf_format_double(text, -DBL_MAX), "-1.7976931348623157e+308");
    for (int k = 0; k < 20000; k++) {
        uint64_t bits = next_random(&seed);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        assert_true(gf_parse_double(gf_format_double(text, value), false, &back));
        assert_memory_equal(&back, &value, sizeof value);
    }
}

static void formatted_bytes(void **state)
{
    char text[GF_NUMBER_TEXT];

    (void)state;
    assert_string_equal(gf_format_bytes(text, 0), "0 bytes");
    assert_string_equal(gf_format_bytes(text, 1), "1 byte");
    assert_string_equal(gf_format_bytes(text, 9999), "9999 bytes");
    assert_string_equal(gf_format_bytes(text, 10240), "10 KiB");
    assert_string_equal(gf_format_bytes(text, UINT64_C(3) << 29), "1.5 GiB");
    assert_string_equal(gf_format_bytes(text, UINT64_C(500) << 20), "500 MiB");
    assert_string_equal(gf_format_bytes(text, UINT64_MAX), "16 EiB");
}

/* The same distance by plain recursion, the definition itself. */
static size_t slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t best, other;

    if (n == 0 || m == 0)
        return n + m;
    best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    other = slow_distance(a, n - 1, b, m) + 1;
    best = other < best ? other : best;
    other = slow_distance(a, n, b, m - 1) + 1;
    best = other < best ? other : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        other = slow_distance(a, n - 2, b, m - 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

/* Part of a longer text: the rest stays. */
static void digits(void **state)
{
    static const struct { const char *text; bool good; uint64_t value; size_t taken; } cases[] = {
        {"12x34", true, 12, 2},   {"0", true, 0, 1},   {"007+", true, 7, 3},
        {"", false, 77, 0},       {"x1", false, 77, 0}, {"-1", false, 77, 0},
        {" 1", false, 77, 0},     {"\xb2", false, 77, 0},
        {"18446744073709551615:", true, UINT64_MAX, 20}, {"18446744073709551616", false, 77, 0}};

    (void)state;
    for (size_t k = 0; k < GF_COUNT(cases); k++) {
        const char *at = cases[k].text;
        uint64_t value = 77;
        assert_int_equal(gf_take_u64(&at, &value), cases[k].good);
        assert_int_equal(value, cases[k].value);
        assert_int_equal(at - cases[k].text, cases[k].taken);
    }
}

static void lists(void **state)
{
    (void)state;
    assert_true(gf_word_in_list("a", "a"));
    assert_true(gf_word_in_list("b", "a b"));
    assert_true(gf_word_in_list("b", "a  b c"));
    assert_false(gf_word_in_list("", "a b"));
    assert_false(gf_word_in_list("", ""));
    assert_false(gf_word_in_list("a", ""));
    assert_false(gf_word_in_list("a b", "a b"));
    assert_false(gf_word_in_list("ab", "a abc b"));
    assert_false(gf_word_in_list("abc", "ab abcd"));
    assert_false(gf_word_in_list("A", "a"));
}

static void units(void **state)
{
    static const struct { const char *name; double mm; } known[] = {
        {"mm", 1}, {"um", 1e-3}, {"\xc2\xb5m", 1e-3}, {"\xce\xbcm", 1e-3}, {"nm", 1e-6}, {"cm", 10},
        {"m", 1e3}, {"inch", 25.4}};
    double mm = 77;

    (void)state;
    assert_false(gf_length_unit("", 0, &mm));
    assert_false(gf_length_unit("px", 2, &mm));
    assert_false(gf_length_unit("mm", 3, &mm));
    assert_false(gf_length_unit("MM", 2, &mm));
    assert_true(mm == 77);
    assert_true(gf_length_unit("mmm", 2, &mm) && mm == 1);
    for (size_t k = 0; k < GF_COUNT(known); k++)
        assert_true(gf_length_unit(known[k].name, strlen(known[k].name), &mm) &&
                    mm == known[k].mm);
}

static void distances(void **state)
{
    uint64_t seed = 1234567;
    char a[8], b[8], longest[80];

    (void)state;
    for (int k = 0; k < 2000; k++) {
        size_t n = next_random(&seed) % 7, m = next_random(&seed) % 7;
        for (size_t i = 0; i < n; i++)
            a[i] = (char)('a' + next_random(&seed) % 3);
        for (size_t i = 0; i < m; i++)
            b[i] = (char)('a' + next_random(&seed) % 3);
        a[n] = b[m] = '\0';
        assert_int_equal(gf_edit_distance(a, b), slow_distance(a, n, b, m));
    }
    memset(longest, 'x', sizeof longest);
    longest[64] = '\0';
    assert_true(gf_edit_distance(longest, "x") == SIZE_MAX);
    longest[63] = '\0';
    assert_int_equal(gf_edit_distance(longest, longest), 0);
    assert_int_equal(gf_edit_distance(longest, ""), 63);
    assert_int_equal(gf_edit_distance("Gauss", "gAUSS"), 0);
}

static void suggestions(void **state)
{
    static const char *const names[] = {"blur", "correlate", "convolve", "convert", "info"};
    const size_t n = GF_COUNT(names);

    (void)state;
    assert_string_equal(gf_closest("blr", names, n), "blur");
    assert_string_equal(gf_closest("bulr", names, n), "blur");
    assert_string_equal(gf_closest("Blur", names, n), "blur");
    assert_string_equal(gf_closest("corelate", names, n), "correlate");
    assert_string_equal(gf_closest("convolute", names, n), "convolve");
    assert_null(gf_closest("sharpen", names, n));
    assert_null(gf_closest("x", names, n));
    assert_null(gf_closest("", names, n));
    assert_null(gf_closest("blur", names, 0));
}

static void buffers(void **state)
{
    struct gf_buffer b = {0};
    struct gf_error e;
    char expected[4001] = "";

    (void)state;
    for (int k = 0; k < 500; k++) {
        gf_buffer_printf(&b, "%07d", k);
        gf_buffer_append(&b, ",", 1);
        snprintf(expected + 8 * k, sizeof expected - 8 * (size_t)k, "%07d,", k);
    }
    assert_int_equal(b.size, 4000);
    assert_string_equal(b.data, expected);
    gf_buffer_text(&b, "");
    gf_buffer_append(&b, NULL, 0);
    assert_int_equal(b.size, 4000);
    assert_int_equal(gf_buffer_status(&b, "a list", &e), GF_OK);
    gf_buffer_free(&b);
    assert_null(b.data);

    /* Memory runs out at any point: no crash, and it is told. */
    for (uint64_t at = 1; at <= 3; at++) {
        gf_alloc_fail_at(at, 0);
        for (int k = 0; k < 1000; k++)
            gf_buffer_printf(&b, "%d", k);
        assert_true(b.failed);
        assert_int_equal(gf_buffer_status(&b, "a list", &e), GF_EMEMORY);
        assert_non_null(strstr(e.text, "a list"));
        gf_buffer_free(&b);
    }
    gf_alloc_fail_at(0, 0);
    assert_int_equal(gf_memory_used(), 0);
}

static void errors(void **state)
{
    struct gf_error e;
    char big[3000];

    (void)state;
    assert_int_equal(gf_fail(&e, GF_EINPUT, "%s: %d", "a", 5), GF_EINPUT);
    assert_string_equal(e.text, "a: 5");
    assert_int_equal(gf_fail(&e, GF_EOUTPUT, "b: %s", e.text), GF_EOUTPUT);
    assert_string_equal(e.text, "b: a: 5");
    assert_int_equal(gf_fail(NULL, GF_NO, "x"), GF_NO);
    /* Too long: cut with dots, no half character (e-acute is two bytes). */
    for (size_t i = 0; i + 2 < sizeof big; i += 2)
        memcpy(big + i, "\xc3\xa9", 3);
    gf_fail(&e, GF_EINPUT, "%s", big);
    assert_int_equal(strlen(e.text), 1023);
    assert_string_equal(e.text + strlen(e.text) - 5, "\xc3\xa9...");
    gf_fail(&e, GF_EINPUT, "x%s", big);
    assert_int_equal(strlen(e.text), 1022);
    assert_string_equal(e.text + strlen(e.text) - 5, "\xc3\xa9...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),      cmocka_unit_test(doubles),
        cmocka_unit_test(byte_counts),   cmocka_unit_test(formatted_doubles),
        cmocka_unit_test(formatted_bytes), cmocka_unit_test(distances),
        cmocka_unit_test(suggestions),   cmocka_unit_test(buffers),
        cmocka_unit_test(errors),        cmocka_unit_test(digits),
        cmocka_unit_test(lists),         cmocka_unit_test(units),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
