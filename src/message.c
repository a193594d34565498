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
    end = gf_escape(end, text);
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
