/* Whether a text is one JSON value by RFC 8259, and nothing beside it but blanks. */
#ifndef GPUFILT_TESTS_UNIT_JSON_CHECK_H
#define GPUFILT_TESTS_UNIT_JSON_CHECK_H

#include "utf8.h"

#include <stdbool.h>
#include <string.h>

static const char *json_value(const char *c);

static const char *json_blanks(const char *c) { return c + strspn(c, " \t\r\n"); }

static const char *json_digits(const char *c)
{
    size_t count = strspn(c, "0123456789");
    return count > 0 ? c + count : NULL;
}

static const char *json_number(const char *c)
{
    c += *c == '-';
    c = *c == '0' ? c + 1 : json_digits(c);
    if (c && *c == '.')
        c = json_digits(c + 1);
    if (c && (*c == 'e' || *c == 'E')) {
        c++;
        c += *c == '-' || *c == '+';
        c = json_digits(c);
    }
    return c;
}

static const char *json_string(const char *c)
{
    if (*c++ != '"')
        return NULL;
    while (*c != '"') {
        uint32_t code;
        size_t size = gf_utf8_decode((const unsigned char *)c, &code);
        if (size == 0 || code < 0x20)
            return NULL;
        c += size;
        if (code == '\\') {
            if (*c == 'u' && strspn(c + 1, "0123456789abcdefABCDEF") < 4)
                return NULL;
            if (*c == '\0' || !strchr("\"\\/bfnrtu", *c))
                return NULL;
            c++;
        }
    }
    return c + 1;
}

/* Members or elements up to `end`. */
static const char *json_list(const char *c, char end)
{
    c = json_blanks(c);
    if (*c == end)
        return c + 1;
    for (;;) {
        if (end == '}') {
            c = json_string(json_blanks(c));
            c = c ? json_blanks(c) : NULL;
            if (!c || *c++ != ':')
                return NULL;
        }
        c = json_value(c);
        if (!c)
            return NULL;
        c = json_blanks(c);
        if (*c == end)
            return c + 1;
        if (*c++ != ',')
            return NULL;
    }
}

static const char *json_value(const char *c)
{
    static const char *const words[] = {"null", "true", "false"};
    c = json_blanks(c);
    for (int i = 0; i < 3; i++)
        if (strncmp(c, words[i], strlen(words[i])) == 0)
            return c + strlen(words[i]);
    if (*c == '{')
        return json_list(c + 1, '}');
    if (*c == '[')
        return json_list(c + 1, ']');
    return *c == '"' ? json_string(c) : json_number(c);
}

static bool is_json(const char *text)
{
    const char *end = json_value(text);
    return end && *json_blanks(end) == '\0';
}

#endif
