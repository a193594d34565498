#include "json.h"

#include <math.h>

void gf_json_key(struct gf_buffer *t, const char *name)
{
    if (t->size > 0 && t->data[t->size - 1] != '{')
        gf_buffer_text(t, ", ");
    gf_buffer_json(t, name);
    gf_buffer_text(t, ": ");
}

void gf_json_count(struct gf_buffer *t, const char *name, uint64_t value)
{
    gf_json_key(t, name);
    gf_buffer_printf(t, "%llu", (unsigned long long)value);
}

void gf_json_real(struct gf_buffer *t, const char *name, double value)
{
    char text[GF_NUMBER_TEXT];
    gf_json_key(t, name);
    gf_buffer_text(t, isfinite(value) ? gf_format_double(text, value) : "null");
}

void gf_json_text(struct gf_buffer *t, const char *name, const char *value)
{
    gf_json_key(t, name);
    if (value)
        gf_buffer_json(t, value);
    else
        gf_buffer_text(t, "null");
}

void gf_json_bool(struct gf_buffer *t, const char *name, bool value)
{
    gf_json_key(t, name);
    gf_buffer_text(t, value ? "true" : "false");
}
