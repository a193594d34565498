#include "pnm_header.h"

#include "../util.h"

enum gf_status gf_pnm_fill(struct gf_pnm_cursor *c, uint64_t offset, struct gf_error *e)
{
    c->offset = offset;
    c->at = 0;
    return gf_in_read_some(c->in, c->bytes, sizeof c->bytes, offset, &c->size, e);
}

static void skip_space(struct gf_pnm_cursor *c)
{
    bool comment = false;
    for (; c->at < c->size; c->at++) {
        uint8_t byte = c->bytes[c->at];
        if (comment)
            comment = byte != '\n' && byte != '\r';
        else if (byte == '#')
            comment = true;
        else if (!gf_pnm_is_space(byte))
            break;
    }
}

bool gf_pnm_word(struct gf_pnm_cursor *c, char *word, size_t room)
{
    size_t length = 0;
    skip_space(c);
    while (c->at < c->size && !gf_pnm_is_space(c->bytes[c->at]) && length + 1 < room)
        word[length++] = (char)c->bytes[c->at++];
    word[length] = '\0';
    return length > 0 && c->at < c->size && gf_pnm_is_space(c->bytes[c->at]);
}

enum gf_status gf_pnm_number(struct gf_pnm_cursor *c, const char *what, uint64_t highest,
                             uint64_t *number, struct gf_error *e)
{
    uint64_t value = 0;
    size_t first;
    bool fits = true;

    skip_space(c);
    first = c->at;
    for (; c->at < c->size && c->bytes[c->at] >= '0' && c->bytes[c->at] <= '9'; c->at++)
        fits = fits && gf_mul(value, 10, &value) && gf_add(value, c->bytes[c->at] - '0', &value);
    if (c->at == c->size)
        return gf_fail(e, GF_EINPUT, c->size == sizeof c->bytes
                       ? "%s: damaged header: no %s within %llu bytes"
                       : "%s: truncated in the header: no %s within %llu bytes", c->name, what,
                       (unsigned long long)c->size);
    if (c->at == first || !fits || value == 0 || value > highest)
        return gf_fail(e, GF_EINPUT, "%s: damaged header: the %s at byte %llu must be a number "
                       "from 1 to %llu", c->name, what, (unsigned long long)(c->offset + first),
                       (unsigned long long)highest);
    *number = value;
    return GF_OK;
}

enum gf_status gf_pnm_check_size(const struct gf_reader *r, uint64_t offset, uint64_t bytes,
                                 struct gf_error *e)
{
    uint64_t size = gf_in_size(r->in), end;
    if (gf_add(offset, bytes, &end) && end <= size)
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: truncated after %llu bytes of image data; the header "
                   "promises %llu", r->name,
                   (unsigned long long)(size > offset ? size - offset : 0),
                   (unsigned long long)bytes);
}
