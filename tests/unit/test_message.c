/* What reaches standard error, byte for byte. */
#include "message.h"
#include "util.h"

#include "caught.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void escapes(void **state)
{
    static const struct { const char *text, *line; } cases[] = {
        {"a.png: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
         "a.png: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x1b[31m\n\t\x7f", "\\x1b[31m\\x0a\\x09\\x7f"},
        /* Not UTF-8: a lone byte, overlong forms, a surrogate, too large, cut short. */
        {"\xff \xc0\xaf \xe0\x80\xaf", "\\xff \\xc0\\xaf \\xe0\\x80\\xaf"},
        {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xe2\x82x", "\\xe2\\x82x"},
        /* Control characters beyond ASCII; turning the direction of writing; line ends. */
        {"\xc2\x9b \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\xa8",
         "\\xc2\\x9b \\xe2\\x80\\xae \\xe2\\x81\\xa6 \\xe2\\x80\\xa8"},
        {"", ""}};

    (void)state;
    for (size_t i = 0; i < GF_COUNT(cases); i++) {
        char expected[200];
        catch();
        gf_print_error("%s", cases[i].text);
        snprintf(expected, sizeof expected, "gpufilt: %s\n", cases[i].line);
        assert_string_equal(caught(), expected);
    }
}

static void verbosity(void **state)
{
    static const char *const expected[] = {
        "gpufilt: e\n", "gpufilt: e\ngpufilt: warning: w\n",
        "gpufilt: e\ngpufilt: warning: w\ngpufilt: n\n"};

    (void)state;
    for (int v = GF_QUIET; v <= GF_VERBOSE; v++) {
        catch();
        gf_message_set_verbosity((enum gf_verbosity)v);
        gf_print_error("e");
        gf_print_warning("w");
        gf_print_note("n");
        assert_string_equal(caught(), expected[v + 1]);
    }
    gf_message_set_verbosity(GF_NORMAL);
}

static void long_lines(void **state)
{
    const char *printed;
    char text[5000];

    (void)state;
    memset(text, '\1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    catch();
    gf_print_error("%s", text);
    printed = caught();
    assert_true(strlen(printed) > 4000);
    assert_memory_equal(printed, "gpufilt: \\x01", 13);
    assert_string_equal(printed + strlen(printed) - 8, "\\x01...\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes),
        cmocka_unit_test(verbosity),
        cmocka_unit_test(long_lines),
    };

    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
