#include "message.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int verbosity = GF_NORMAL;

void gf_message_set_verbosity(enum gf_verbosity v)
{
    atomic_store(&verbosity, (int)v);
}

/* Bytes of the character at `s` when it is well-formed UTF-8 that is safe to show, else 0.
 * Unsafe are the control characters and those that turn the direction of writing, with which
 * a name could disguise the rest of the line. */
static size_t printable(const unsigned char *s)
{
    uint32_t c = s[0];
    size_t size;

    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    c &= 0xffu >> (size + 1);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if ((size == 3 && c < 0x800) || (size == 4 && c < 0x10000) || c > 0x10ffff ||
        (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (c < 0xa0 || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2066 && c <= 0x2069))
        return 0;
    return size;
}

/* Appends `text` with everything else as \xNN; `to` has four bytes for each of its bytes. */
static char *escape(char *to, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        size_t size = printable(s);
        if (size > 0) {
            memcpy(to, s, size);
            to += size;
            s += size;
        } else {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[*s >> 4];
            *to++ = hex[*s & 15];
            s++;
        }
    }
    return to;
}

__attribute__((format(printf, 2, 0)))
static void print(const char *prefix, const char *format, va_list args)
{
    char text[1536];
    char line[64 + 4 * sizeof text];
    char *end;
    int saved = errno;
    int length = vsnprintf(text, sizeof text, format, args);

    if (length < 0)
        strcpy(text, "a message could not be formatted");
    else if ((size_t)length >= sizeof text)
        gf_cut_short(text);
    end = line + snprintf(line, 64, "%s", prefix);
    end = escape(end, text);
    *end++ = '\n';
    /* One call a line, so that lines of threads and of other programs do not mix. */
    for (const char *p = line; p < end;) {
        ssize_t written = write(STDERR_FILENO, p, (size_t)(end - p));
        if (written < 0 && errno != EINTR)
            break;
        if (written > 0)
            p += written;
    }
    errno = saved;
}

void gf_print_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print("gpufilt: ", format, args);
    va_end(args);
}

void gf_print_warning(const char *format, ...)
{
    va_list args;

    if (atomic_load(&verbosity) <= GF_QUIET)
        return;
    va_start(args, format);
    print("gpufilt: warning: ", format, args);
    va_end(args);
}

void gf_print_note(const char *format, ...)
{
    va_list args;

    if (atomic_load(&verbosity) < GF_VERBOSE)
        return;
    va_start(args, format);
    print("gpufilt: ", format, args);
    va_end(args);
}
