/* UTF-8 against an encoder written from the definition, and by counting what is well-formed. */
#include "alloc.h"
#include "utf8.h"
#include "util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t encode(uint32_t c, unsigned char *to)
{
    if (c < 0x80)
        to[0] = (unsigned char)c;
    else if (c < 0x800)
        to[0] = (unsigned char)(192 + c / 64), to[1] = (unsigned char)(128 + c % 64);
    else if (c < 0x10000)
        to[0] = (unsigned char)(224 + c / 4096), to[1] = (unsigned char)(128 + c / 64 % 64),
        to[2] = (unsigned char)(128 + c % 64);
    else
        to[0] = (unsigned char)(240 + c / 262144), to[1] = (unsigned char)(128 + c / 4096 % 64),
        to[2] = (unsigned char)(128 + c / 64 % 64), to[3] = (unsigned char)(128 + c % 64);
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* All 1114112 - 2048 characters decode to themselves, and nothing else does: of the sequences
 * of 1, 2, 3 and 4 bytes exactly as many are taken as there are characters of that length. */
static void every_character(void **state)
{
    static const uint32_t counts[] = {0, 128, 1920, 63488 - 2048, 1048576};
    uint32_t taken[5] = {0}, value;

    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        unsigned char s[5] = {0};
        size_t size = encode(c, s);
        value = 0xdead;
        if (c >= 0xd800 && c < 0xe000) {
            assert_int_equal(gf_utf8_decode(s, &value), 0);
        } else {
            assert_int_equal(gf_utf8_decode(s, &value), size);
            assert_int_equal(value, c);
        }
    }
    for (uint32_t n = 0; n < 1u << 24; n++) {
        /* The last of four bytes only matters by its two highest bits. */
        unsigned char s[5] = {(unsigned char)(n >> 16), (unsigned char)(n >> 8),
                              (unsigned char)n, 0x80, 0};
        size_t size = gf_utf8_decode(s, &value);
        if (size <= 3 && (size < 3 ? s[2] == 0 : true) && (size < 2 ? s[1] == 0 : true))
            taken[size]++;
        if (size == 4)
            taken[4] += 64;
    }
    for (int i = 1; i < 5; i++)
        assert_int_equal(taken[i], counts[i]);
}

static void validity(void **state)
{
    static const char *const bad[] = {"\x80", "a\xff", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf",
                                      "\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82", "x\xf0\x9f\x98", "\xf8\x88\x80\x80\x80"};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(bad); i++)
        assert_false(gf_utf8_valid(bad[i]));
    assert_true(gf_utf8_valid(""));
    assert_true(gf_utf8_valid("a \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"));
}

static void conversion(void **state)
{
    static const struct { const char *bytes; size_t size; const char *latin1, *any; } cases[] = {
        {"", 0, "", ""},
        {"abc", 3, "abc", "abc"},
        {"abc", 2, "ab", "ab"},
        {"a\0bc", 4, "a", "a"},
        {"caf\xe9", 4, "caf\xc3\xa9", "caf\xc3\xa9"},
        {"caf\xc3\xa9", 5, "caf\xc3\x83\xc2\xa9", "caf\xc3\xa9"},
        {"\xc3\xa9", 1, "\xc3\x83", "\xc3\x83"}, /* cut within a character */
        {"\xed\xa0\x80", 3, "\xc3\xad\xc2\xa0\xc2\x80", "\xc3\xad\xc2\xa0\xc2\x80"},
        {"\xff\x80", 2, "\xc3\xbf\xc2\x80", "\xc3\xbf\xc2\x80"},
    };
    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        char *text;
        assert_int_equal(gf_utf8_from_latin1(cases[i].bytes, cases[i].size, &text, NULL), GF_OK);
        assert_string_equal(text, cases[i].latin1);
        gf_free(text);
        assert_int_equal(gf_utf8_from_bytes(cases[i].bytes, cases[i].size, &text, NULL), GF_OK);
        assert_string_equal(text, cases[i].any);
        gf_free(text);
    }
    for (unsigned n = 1; n <= 2; n++) {
        char *text;
        gf_alloc_fail_at(n, 0);
        assert_int_equal(gf_utf8_from_bytes("\xe9", 1, &text, NULL), GF_EMEMORY);
        gf_alloc_fail_at(0, 0);
        assert_int_equal(gf_memory_used(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character),
        cmocka_unit_test(validity),
        cmocka_unit_test(conversion),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
