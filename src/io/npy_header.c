#include "npy_header.h"

#include "../text.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

#define MOST_AXES 64   /* of NumPy */
#define WORD 32        /* bytes of a word in quotes, its end included */
/* What a header ends on, so that the samples are aligned. */
#define ALIGNMENT 64
/* Room that NumPy leaves for the first number of the shape to grow. */
#define GROWTH 21

static const struct {
    char kind;
    unsigned bytes;
    enum gf_type type;
} types[] = {
    {'u', 1, GF_U8},  {'i', 1, GF_I8},  {'u', 2, GF_U16}, {'i', 2, GF_I16}, {'u', 4, GF_U32},
    {'i', 4, GF_I32}, {'f', 2, GF_F16}, {'f', 4, GF_F32}, {'f', 8, GF_F64},
    {'b', 1, GF_U8}, /* truth, stored as 0 and 1 */
};

/* Types that are refused; `bytes` 0: of any size. */
static const struct {
    char kind;
    unsigned bytes;
    const char *what, *advice;
} foreign[] = {
    {'i', 8, "64-bit integers", "save a.astype('i4'), or a.astype('f8') where they are larger"},
    {'u', 8, "64-bit integers", "save a.astype('u4'), or a.astype('f8') where they are larger"},
    {'f', 12, "floats wider than 64 bits", "save a.astype('f8')"},
    {'f', 16, "floats wider than 64 bits", "save a.astype('f8')"},
    {'c', 0, "complex numbers", "save a.real and a.imag as files of their own"},
    {'O', 0, "Python objects", "save an array of numbers"},
    {'V', 0, "structures", "save one field of them"},
    {'S', 0, "texts", "save an array of numbers"},
    {'U', 0, "texts", "save an array of numbers"},
    {'M', 0, "dates", "save a.astype('f8')"},
    {'m', 0, "times", "save a.astype('f8')"},
};

/* ---- the text ---- */

struct cursor {
    const char *at, *end;
    const char *name;          /* of the file */
    struct gf_error *e;
};

static enum gf_status wrong(const struct cursor *c, const char *what)
{
    char found[4 * 16 + 1], some[17];
    size_t size = (size_t)gf_min((uint64_t)(c->end - c->at), sizeof some - 1);
    memcpy(some, c->at, size);
    some[size] = '\0';
    *gf_escape(found, some) = '\0';
    return gf_fail(c->e, GF_EINPUT, "%s: the NPY header is damaged: %s is needed where it has '%s'",
                   c->name, what, found);
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

/* Passes `sign`, and blanks before it. */
static bool take(struct cursor *c, char sign)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != sign)
        return false;
    c->at++;
    return true;
}

/* Letters and signs in quotes. */
static bool take_word(struct cursor *c, char word[WORD])
{
    size_t size = 0;
    char quote;
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    quote = *c->at;
    for (const char *s = c->at + 1; s < c->end && *s >= ' ' && *s < 127 && *s != '\\'; s++) {
        if (*s == quote) {
            word[size] = '\0';
            c->at = s + 1;
            return true;
        }
        if (size + 1 == WORD)
            return false;
        word[size++] = *s;
    }
    return false;
}

static bool take_name(struct cursor *c, const char *name)
{
    size_t size = strlen(name);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < size || memcmp(c->at, name, size) != 0)
        return false;
    c->at += size;
    return true;
}

/* ---- descr ---- */

static enum gf_status foreign_type(const struct cursor *c, const char *descr, char kind,
                                   unsigned bytes)
{
    for (size_t i = 0; i < GF_COUNT(foreign); i++)
        if (foreign[i].kind == kind && (foreign[i].bytes == 0 || foreign[i].bytes == bytes))
            return gf_fail(c->e, GF_EFEATURE, "%s: an array of %s ('%s'), which cannot be "
                           "filtered; %s", c->name, foreign[i].what, descr, foreign[i].advice);
    return gf_fail(c->e, GF_EFEATURE, "%s: the type of the array, '%s', is unknown; known are b1 "
                   "u1 i1 u2 i2 u4 i4 f2 f4 f8", c->name, descr);
}

static enum gf_status parse_descr(struct cursor *c, struct gf_npy_header *h)
{
    char descr[WORD], order;
    const char *s = descr;
    uint64_t bytes = 0;
    skip_blanks(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '(' || *c->at == '{'))
        return foreign_type(c, "several fields", 'V', 0);
    if (!take_word(c, descr))
        return wrong(c, "a type in quotes");
    order = *s && strchr("<>|=", *s) ? *s++ : '|';
    if (*s == '\0' || (s[1] != '\0' && !gf_is_digit(s[1])))
        return foreign_type(c, descr, *s, 0);
    const char *digits = s + 1;
    if (*digits != '\0' && (!gf_take_u64(&digits, &bytes) || bytes > 64 || *digits != '\0'))
        return foreign_type(c, descr, *s, 0);
    for (size_t i = 0; i < GF_COUNT(types); i++)
        if (types[i].kind == *s && types[i].bytes == bytes) {
            if (bytes > 1 && order != '<' && order != '>')
                return gf_fail(c->e, GF_EFEATURE, "%s: the type of the array, '%s', does not say "
                               "which byte comes first, '<' or '>'", c->name, descr);
            h->type = types[i].type;
            h->big_endian = order == '>';
            return GF_OK;
        }
    return foreign_type(c, descr, *s, (unsigned)bytes);
}

/* ---- the other values ---- */

static enum gf_status parse_order(struct cursor *c, struct gf_npy_header *h)
{
    h->fortran = take_name(c, "True");
    return h->fortran || take_name(c, "False") ? GF_OK : wrong(c, "True or False");
}

static bool take_count(struct cursor *c, uint64_t *count)
{
    const char *digits = c->at;
    char text[24];
    size_t size = 0;
    while (c->at < c->end && gf_is_digit(*c->at) && size + 1 < sizeof text)
        text[size++] = *c->at++;
    text[size] = '\0';
    if (!gf_parse_u64(text, count) || *count > INT64_MAX) {
        c->at = digits;
        return false;
    }
    if (c->at < c->end && *c->at == 'L') /* of Python 2 */
        c->at++;
    return true;
}

/* "(3, 4)", "(3,)" and "()". */
static enum gf_status parse_shape(struct cursor *c, struct gf_npy_header *h)
{
    uint64_t count;
    bool comma = true;
    h->axes = 0;
    if (!take(c, '('))
        return wrong(c, "a shape in parentheses");
    while (!take(c, ')')) {
        skip_blanks(c);
        if (!comma || h->axes == MOST_AXES || !take_count(c, &count))
            return wrong(c, comma ? "a number of the shape" : "a comma or the end of the shape");
        if (h->axes < GF_NPY_AXES)
            h->shape[h->axes] = count;
        h->axes++;
        comma = take(c, ',');
    }
    return h->axes == 1 && !comma ? wrong(c, "a comma in a shape of one number") : GF_OK;
}

static const struct {
    const char *key;
    enum gf_status (*parse)(struct cursor *c, struct gf_npy_header *h);
} keys[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};

static enum gf_status parse_dictionary(struct cursor *c, struct gf_npy_header *h)
{
    bool seen[GF_COUNT(keys)] = {false}, comma = true;
    char word[WORD];
    if (!take(c, '{'))
        return wrong(c, "'{'");
    while (!take(c, '}')) {
        size_t k = 0;
        const struct cursor before = *c;
        if (!comma || !take_word(c, word))
            return wrong(c, comma ? "a key in quotes" : "',' or '}'");
        while (k < GF_COUNT(keys) && strcmp(keys[k].key, word) != 0)
            k++;
        if (k == GF_COUNT(keys) || seen[k])
            return wrong(&before, "'descr', 'fortran_order' and 'shape', each once,");
        seen[k] = true;
        if (!take(c, ':'))
            return wrong(c, "':'");
        GF_TRY(keys[k].parse(c, h));
        comma = take(c, ',');
    }
    skip_blanks(c);
    if (c->at != c->end)
        return wrong(c, "the end after '}'");
    for (size_t k = 0; k < GF_COUNT(keys); k++)
        if (!seen[k])
            return gf_fail(c->e, GF_EINPUT, "%s: the NPY header is damaged: it has no '%s'",
                           c->name, keys[k].key);
    return GF_OK;
}

enum gf_status gf_npy_parse(struct gf_npy_header *h, const char *text, size_t size,
                            const char *name, struct gf_error *e)
{
    struct cursor c = {text, text + size, name, e};
    memset(h, 0, sizeof *h);
    GF_TRY(parse_dictionary(&c, h));
    if (h->axes == 0)
        return gf_fail(e, GF_EFEATURE, "%s: a single number, of shape (), which is no image; save "
                       "an array", name);
    if (h->axes > GF_NPY_AXES)
        return gf_fail(e, GF_EFEATURE, "%s: an array of %u axes; images have up to %d: images, z, "
                       "y, x, channels; save a.reshape(-1, z, y, x, 1)", name, h->axes,
                       GF_NPY_AXES);
    for (unsigned a = 0; a < h->axes; a++)
        if (h->shape[a] == 0)
            return gf_fail(e, GF_EINPUT, "%s: the array is empty: axis %u of %u has length 0",
                           name, a + 1, h->axes);
    return GF_OK;
}

/* ---- making one ---- */

size_t gf_npy_make(char to[GF_NPY_HEADER_ROOM], const struct gf_npy_header *h)
{
    char *text = to + 10, number[24];
    const size_t room = GF_NPY_HEADER_ROOM - 10;
    size_t size = 0, total, k = 0;
    while (types[k].type != h->type)
        k++;
    size += (size_t)snprintf(text, room, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
                             types[k].bytes > 1 ? '<' : '|', types[k].kind, types[k].bytes);
    for (unsigned a = 0; a < h->axes; a++)
        size += (size_t)snprintf(text + size, room - size, "%s%llu", a ? ", " : "",
                                 (unsigned long long)h->shape[a]);
    size += (size_t)snprintf(text + size, room - size, "%s), }", h->axes == 1 ? "," : "");
    size += (size_t)GROWTH - (size_t)snprintf(number, sizeof number, "%llu",
                                              (unsigned long long)h->shape[0]);
    total = (10 + size + 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    for (size_t i = strlen(text); i < total - 11; i++)
        text[i] = ' ';
    to[total - 1] = '\n';
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (char)((total - 10) & 0xff);
    to[9] = (char)((total - 10) >> 8);
    return total;
}
