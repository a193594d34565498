#include "status.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum gf_status gf_fail(struct gf_error *e, enum gf_status status, const char *format, ...)
{
    char text[sizeof e->text];
    va_list args;
    int length;

    if (!e)
        return status;
    /* Not straight into `e`: its own text may be among the arguments. */
    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        strcpy(text, "unknown error");
    else if ((size_t)length >= sizeof text)
        gf_cut_short(text);
    strcpy(e->text, text);
    return status;
}

enum gf_status gf_name_error(const char *name, enum gf_status status, struct gf_error *e)
{
    struct gf_error inner;
    if (status == GF_OK || status == GF_ESIGNAL || !e || !name ||
        (strncmp(e->text, name, strlen(name)) == 0 && e->text[strlen(name)] == ':'))
        return status;
    inner = *e;
    return gf_fail(e, status, "%s: %s", name, inner.text);
}
