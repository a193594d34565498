#include "utf8.h"

#include "alloc.h"

#include <string.h>

size_t gf_utf8_decode(const unsigned char *s, uint32_t *value)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* less is overlong */
    uint32_t c = s[0];
    size_t size = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;

    if (size == 0)
        return 0;
    if (size > 1)
        c &= 0xffu >> (size + 1);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[size] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *value = c;
    return size;
}

bool gf_utf8_valid(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t value;

    while (*s) {
        size_t size = gf_utf8_decode(s, &value);
        if (size == 0)
            return false;
        s += size;
    }
    return true;
}

enum gf_status gf_utf8_from_latin1(const void *data, size_t size, char **text,
                                   struct gf_error *e)
{
    const unsigned char *from = data;
    void *block;
    char *to;

    GF_TRY(gf_allocate(&block, 2 * (uint64_t)size + 1, 1, "a text", e));
    to = *text = block;
    for (size_t i = 0; i < size && from[i]; i++) {
        if (from[i] < 0x80) {
            *to++ = (char)from[i];
        } else {
            *to++ = (char)(0xc0 | from[i] >> 6);
            *to++ = (char)(0x80 | (from[i] & 0x3f));
        }
    }
    *to = '\0';
    return GF_OK;
}

enum gf_status gf_utf8_from_bytes(const void *data, size_t size, char **text, struct gf_error *e)
{
    void *block;

    GF_TRY(gf_allocate(&block, (uint64_t)size + 1, 1, "a text", e));
    if (size > 0)
        memcpy(block, data, size);
    *text = block;
    (*text)[size] = '\0';
    if (gf_utf8_valid(*text))
        return GF_OK;
    gf_free(block);
    return gf_utf8_from_latin1(data, size, text, e);
}
