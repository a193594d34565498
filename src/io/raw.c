#include "raw.h"

#include "../alloc.h"
#include "../text.h"
#include "../util.h"

#include <stdio.h>
#include <string.h>

/* Decimal digits at *text, which is moved past them; false without any or beyond 2^63. */
static bool take_number(const char **text, uint64_t *value)
{
    return gf_take_u64(text, value) && *value <= INT64_MAX;
}

/* WxH[xD] */
static bool take_size(const char **text, struct gf_raw_spec *spec)
{
    spec->depth = 1;
    if (!take_number(text, &spec->width) || **text != 'x')
        return false;
    ++*text;
    if (!take_number(text, &spec->height))
        return false;
    if (**text == 'x' && gf_is_digit((*text)[1])) {
        ++*text;
        return take_number(text, &spec->depth);
    }
    return true;
}

/* TYPE[xCHANNELS][le|be] */
static bool take_type(const char **text, struct gf_raw_spec *spec)
{
    uint64_t channels = 1;
    for (int t = 0; t < GF_TYPE_COUNT; t++) {
        const char *name = gf_type_name((enum gf_type)t);
        size_t length = strlen(name);
        if (strncmp(*text, name, length) != 0 || gf_is_digit((*text)[length]))
            continue;
        spec->type = (enum gf_type)t;
        *text += length;
        if (**text == 'x' && gf_is_digit((*text)[1])) {
            ++*text;
            if (!take_number(text, &channels) || channels == 0 || channels > 65535)
                return false;
        }
        spec->channels = (uint32_t)channels;
        spec->big_endian = strncmp(*text, "be", 2) == 0;
        if (spec->big_endian || strncmp(*text, "le", 2) == 0)
            *text += 2;
        return true;
    }
    return false;
}

enum gf_status gf_raw_parse(struct gf_raw_spec *spec, const char *text, struct gf_error *e)
{
    const char *s = text;
    memset(spec, 0, sizeof *spec);
    if (take_size(&s, spec) && *s == ':' && (s++, take_type(&s, spec))) {
        if (*s == '+') {
            s++;
            if (!take_number(&s, &spec->offset))
                s = "?";
        }
        if (*s == '\0' && spec->width && spec->height && spec->depth) {
            spec->given = true;
            return GF_OK;
        }
    }
    return gf_fail(e, GF_EUSAGE,
                   "--raw '%s': not of the form WxH[xD]:TYPE[xCHANNELS][le|be][+OFFSET]; for "
                   "example 512x512x300:u16le+1024 (types: u8 i8 u16 i16 u32 i32 f16 f32 f64)",
                   text);
}

bool gf_raw_spec_from_name(const char *path, struct gf_raw_spec *spec)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (const char *s = name; *s; s++) {
        const char *t = s;
        bool starts = s == name || strchr("_-.", s[-1]);
        if (!starts || !gf_is_digit(*s))
            continue;
        memset(spec, 0, sizeof *spec);
        if (!take_size(&t, spec) || *t == '\0' || !strchr("_-.", *t))
            continue;
        t++;
        if (take_type(&t, spec) && (*t == '\0' || strchr("_-.", *t)) && spec->width &&
            spec->height && spec->depth) {
            spec->given = true;
            return true;
        }
    }
    return false;
}

static void swap_bytes(void *samples, uint64_t count, unsigned bytes)
{
    if (bytes == 2) {
        uint16_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap16(s[i]);
    } else if (bytes == 4) {
        uint32_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap32(s[i]);
    } else if (bytes == 8) {
        uint64_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap64(s[i]);
    }
}

/* ---- reading: the state is the image ---- */

static enum gf_status raw_open(struct gf_reader *r, struct gf_error *e)
{
    const struct gf_raw_spec *spec = &r->options.raw;
    struct gf_image *image;
    uint64_t need;
    if (!spec->given)
        return gf_fail(e, GF_EUSAGE,
                       "%s: a raw file needs --raw WxH[xD]:TYPE or a name such as "
                       "ct_512x512x300_u16le.raw",
                       r->name);
    r->state = gf_alloc_zero(1, sizeof *image);
    if (!r->state)
        return gf_fail(e, GF_EMEMORY, "%s: out of memory", r->name);
    image = r->state;
    image->width = spec->width;
    image->height = spec->height;
    image->depth = spec->depth;
    image->channels = spec->channels;
    image->type = spec->type;
    image->color = spec->channels == 1 ? GF_GRAY : spec->channels == 3 ? GF_RGB : GF_OTHER;
    image->alpha = -1;
    image->volume = spec->depth > 1;
    GF_TRY(gf_image_check(image, r->name, e));
    if (!gf_add(gf_image_bytes(image), spec->offset, &need) || need != gf_in_size(r->in))
        return gf_fail(e, GF_EINPUT,
                       "%s: the file has %llu bytes, %llux%llux%llu samples of %u x %s after %llu "
                       "bytes need %llu; correct --raw or the size in the name",
                       r->name, (unsigned long long)gf_in_size(r->in),
                       (unsigned long long)spec->width, (unsigned long long)spec->height,
                       (unsigned long long)spec->depth, spec->channels, gf_type_name(spec->type),
                       (unsigned long long)spec->offset, (unsigned long long)need);
    r->images = 1;
    r->random_access = true;
    return GF_OK;
}

static enum gf_status raw_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                 struct gf_error *e)
{
    (void)index;
    (void)e;
    *image = *(const struct gf_image *)r->state;
    return GF_OK;
}

static enum gf_status raw_read_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                    struct gf_error *e)
{
    const struct gf_image *image = r->state;
    size_t row = gf_row_bytes(image);
    GF_TRY(gf_in_read(r->in, rows, count * row, r->options.raw.offset + first * row, e));
    if (r->options.raw.big_endian)
        swap_bytes(rows, count * image->width * image->channels, gf_type_bytes(image->type));
    return GF_OK;
}

/* ---- writing: images one after another, packed ---- */

/* A name that gives a size is read by it, so that it must be true of what is written. */
static enum gf_status raw_accepts(const struct gf_image *image, uint64_t images, const char *name,
                                  struct gf_error *e)
{
    struct gf_raw_spec spec;
    if (!gf_raw_spec_from_name(name, &spec) ||
        (spec.width == image->width && spec.height == image->height &&
         spec.depth == image->depth * images && spec.channels == image->channels &&
         spec.type == image->type))
        return GF_OK;
    return gf_fail(e, GF_EFEATURE,
                   "%s: the name says %llux%llux%llu samples of %u x %s, the result has "
                   "%llux%llux%llu of %u x %s; choose another name, or -f tiff", name,
                   (unsigned long long)spec.width, (unsigned long long)spec.height,
                   (unsigned long long)spec.depth, spec.channels, gf_type_name(spec.type),
                   (unsigned long long)image->width, (unsigned long long)image->height,
                   (unsigned long long)(image->depth * images), image->channels,
                   gf_type_name(image->type));
}

static enum gf_status raw_create(struct gf_writer *w, struct gf_error *e)
{
    return gf_out_reserve(w->out, w->bytes, e);
}

struct raw_writer {
    struct gf_image first; /* its shape is kept: a raw file cannot say that shapes differ */
    bool big_endian;       /* by the name */
};

static enum gf_status raw_begin(struct gf_writer *w, struct gf_error *e)
{
    struct raw_writer *state = w->state;
    const struct gf_image *first;
    struct gf_raw_spec spec;
    if (!state) {
        w->state = state = gf_alloc(1, sizeof *state);
        if (!state)
            return gf_fail(e, GF_EMEMORY, "%s: out of memory", w->name);
        state->first = w->image;
        state->big_endian = gf_raw_spec_from_name(w->name, &spec) && spec.big_endian;
    }
    first = &state->first;
    if (!gf_same_shape(first, &w->image))
        return gf_fail(e, GF_EFEATURE,
                       "%s: raw cannot hold images of different sizes or types; write a .tif",
                       w->name);
    return GF_OK;
}

static enum gf_status raw_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                     struct gf_error *e)
{
    const struct raw_writer *state = w->state;
    const uint64_t samples = count * w->image.width * w->image.channels;
    const unsigned bytes = gf_type_bytes(w->image.type);
    enum gf_status status;
    void *swapped;
    if (!state->big_endian || bytes == 1)
        return gf_out_write(w->out, rows, samples * bytes, e);
    GF_TRY(gf_allocate(&swapped, samples, bytes, "swapping bytes", e));
    memcpy(swapped, rows, samples * bytes);
    swap_bytes(swapped, samples, bytes);
    status = gf_out_write(w->out, swapped, samples * bytes, e);
    gf_free(swapped);
    return status;
}

const struct gf_format gf_format_raw = {
    .name = "raw",
    .extensions = "raw bin",
    .summary = "samples without a header; --raw or the size in the name to read",
    .associated_alpha = true,
    .open = raw_open,
    .select = raw_select,
    .read_rows = raw_read_rows,
    .accepts = raw_accepts,
    .create = raw_create,
    .begin = raw_begin,
    .write_rows = raw_write_rows,
};
