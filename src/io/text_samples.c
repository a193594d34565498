#include "text_samples.h"

#include "../alloc.h"
#include "../text.h"
#include "../util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART_BYTES 65536
#define LONGEST 63              /* characters of a number */

struct state {
    struct gf_text_samples t;
    uint64_t first;             /* sample of the selected image, counted over all */
    uint64_t next;              /* sample that the text goes on with */
    uint64_t offset;            /* in the file, of the byte after the part */
    size_t at, size;            /* in the part */
    uint8_t part[PART_BYTES];
};

static struct gf_in *file_of(const struct gf_reader *r)
{
    const struct state *s = r->state;
    return s->t.data ? s->t.data : r->in;
}

static void rewind_text(struct state *s)
{
    s->next = 0;
    s->offset = s->t.offset;
    s->at = s->size = 0;
}

/* Samples of all images; fits because it was checked. */
static uint64_t sample_count(const struct state *s)
{
    return gf_image_bytes(&s->t.image) / gf_type_bytes(s->t.image.type) * s->t.images;
}

enum gf_status gf_text_samples_open(struct gf_reader *r, struct gf_text_samples *t,
                                    struct gf_error *e)
{
    struct state *s;
    void *block = NULL;
    uint64_t total, size;

    GF_TRY(gf_image_check(&t->image, r->name, e));
    if (!gf_mul(gf_image_bytes(&t->image), t->images, &total) || total > INT64_MAX)
        return gf_fail(e, GF_EINPUT, "%s: the header wants more than 2^63 bytes; it is probably "
                       "damaged", r->name);
    GF_TRY(gf_allocate(&block, 1, sizeof *s, "reading", e));
    s = r->state = memset(block, 0, sizeof *s);
    s->t = *t;
    memset(t, 0, sizeof *t);
    rewind_text(s);
    r->images = s->t.images;
    r->random_access = false;
    size = gf_in_size(file_of(r));
    /* A digit each, and something between them. */
    if (size < s->t.offset || (size - s->t.offset) / 2 + 1 < sample_count(s))
        return gf_fail(e, GF_EINPUT, "%s: truncated: %llu bytes of text cannot hold the %llu "
                       "samples that the header wants", gf_in_name(file_of(r)),
                       (unsigned long long)(size - gf_min(size, s->t.offset)),
                       (unsigned long long)sample_count(s));
    return GF_OK;
}

void gf_text_samples_free(struct gf_text_samples *t)
{
    gf_meta_free(&t->image.meta);
    gf_in_close(&t->data);
    memset(t, 0, sizeof *t);
}

/* The next byte, or -1 at the end; it stays there. */
static enum gf_status look(struct gf_reader *r, int *byte, struct gf_error *e)
{
    struct state *s = r->state;
    if (s->at == s->size) {
        s->at = s->size = 0;
        GF_TRY(gf_in_read_some(file_of(r), s->part, PART_BYTES, s->offset, &s->size, e));
        s->offset += s->size;
    }
    *byte = s->size == 0 ? -1 : s->part[s->at];
    return GF_OK;
}

static bool separates(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == ',';
}

/* The next word; "" at the end of the text. */
static enum gf_status next_word(struct gf_reader *r, char word[LONGEST + 1], struct gf_error *e)
{
    struct state *s = r->state;
    size_t length = 0;
    int byte;

    GF_TRY(look(r, &byte, e));
    while (separates(byte)) {
        s->at++;
        GF_TRY(look(r, &byte, e));
    }
    while (byte >= 0 && !separates(byte)) {
        if (length == LONGEST || byte == 0)
            return gf_fail(e, GF_EINPUT, "%s: damaged data: sample %llu is not a number",
                           gf_in_name(file_of(r)), (unsigned long long)s->next);
        word[length++] = (char)byte;
        s->at++;
        GF_TRY(look(r, &byte, e));
    }
    word[length] = '\0';
    return GF_OK;
}

/* A whole number within the type's range; both fit in a double. */
static bool parse_whole(const char *word, const struct gf_type_row *row, int64_t *value)
{
    const bool negative = *word == '-';
    uint64_t digits;
    if (!gf_parse_u64(word + (negative || *word == '+'), &digits) || digits > UINT32_MAX)
        return false;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return (double)*value >= row->lowest && (double)*value <= row->highest;
}

static bool parse_float(const char *word, double *value, float *narrow)
{
    if (!gf_parse_double(word, true, value))
        return false;
    *narrow = isfinite(*value) ? strtof(word, NULL) : (float)*value;
    return true;
}

/* False when the word is no sample of the type. */
static bool store(const char *word, enum gf_type type, uint8_t *to)
{
    const struct gf_type_row *row = gf_type_row(type);
    double value;
    float narrow;
    int64_t whole;

    if (row->is_float) {
        if (!parse_float(word, &value, &narrow) || (type != GF_F64 && type != GF_F32))
            return false;
        memcpy(to, type == GF_F64 ? (const void *)&value : (const void *)&narrow, row->bytes);
        return type == GF_F64 || isfinite(narrow) || !isfinite(value);
    }
    if (!parse_whole(word, row, &whole))
        return false;
    if (row->bytes == 1)
        memcpy(to, &(uint8_t){(uint8_t)whole}, 1);
    else if (row->bytes == 2)
        memcpy(to, &(uint16_t){(uint16_t)whole}, 2);
    else
        memcpy(to, &(uint32_t){(uint32_t)whole}, 4);
    return true;
}

static enum gf_status next_sample(struct gf_reader *r, uint8_t *to, struct gf_error *e)
{
    struct state *s = r->state;
    char word[LONGEST + 1];

    GF_TRY(next_word(r, word, e));
    if (*word == '\0')
        return gf_fail(e, GF_EINPUT, "%s: truncated: %llu samples where the header wants %llu",
                       gf_in_name(file_of(r)), (unsigned long long)s->next,
                       (unsigned long long)sample_count(s));
    if (!store(word, s->t.image.type, to))
        return gf_fail(e, GF_EINPUT, "%s: damaged data: sample %llu is '%s', not a number of type "
                       "%s", gf_in_name(file_of(r)), (unsigned long long)s->next, word,
                       gf_type_name(s->t.image.type));
    s->next++;
    return GF_OK;
}

/* Goes to a sample: back to the beginning where need be. */
static enum gf_status seek(struct gf_reader *r, uint64_t sample, struct gf_error *e)
{
    struct state *s = r->state;
    uint8_t dropped[8];
    if (sample < s->next)
        rewind_text(s);
    while (s->next < sample)
        GF_TRY(next_sample(r, dropped, e));
    return GF_OK;
}

enum gf_status gf_text_samples_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                      struct gf_error *e)
{
    struct state *s = r->state;
    *image = s->t.image;
    s->first = sample_count(s) / s->t.images * index;
    return gf_meta_copy(&image->meta, &s->t.image.meta, e);
}

enum gf_status gf_text_samples_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                         void *rows, struct gf_error *e)
{
    struct state *s = r->state;
    const uint64_t row = s->t.image.width * s->t.image.channels;
    const unsigned bytes = gf_type_bytes(s->t.image.type);
    uint8_t *to = rows;

    GF_TRY(seek(r, s->first + first * row, e));
    for (uint64_t i = 0; i < count * row; i++, to += bytes)
        GF_TRY(next_sample(r, to, e));
    return GF_OK;
}

enum gf_status gf_text_samples_finish(struct gf_reader *r, struct gf_error *e)
{
    struct state *s = r->state;
    char word[LONGEST + 1];
    if (s->next < sample_count(s))
        return GF_OK;
    GF_TRY(next_word(r, word, e));
    if (*word == '\0')
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: more numbers follow the %llu samples that the header wants",
                   gf_in_name(file_of(r)), (unsigned long long)sample_count(s));
}

void gf_text_samples_close(struct gf_reader *r)
{
    struct state *s = r->state;
    if (!s)
        return;
    gf_text_samples_free(&s->t);
    gf_free(s);
    r->state = NULL;
}
