#include "raw.h"

#include "../text.h"
#include "../util.h"
#include "voxels.h"

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

bool gf_raw_bytes(const struct gf_raw_spec *spec, uint64_t *bytes)
{
    *bytes = 0;
    return gf_mul(spec->width, spec->height, bytes) && gf_mul(*bytes, spec->depth, bytes) &&
           gf_mul(*bytes, spec->channels, bytes) &&
           gf_mul(*bytes, gf_type_bytes(spec->type), bytes) && gf_add(*bytes, spec->offset, bytes);
}

/* ---- reading ---- */

static enum gf_status raw_open(struct gf_reader *r, struct gf_error *e)
{
    const struct gf_raw_spec *spec = &r->options.raw;
    struct gf_voxels v = {.images = 1, .offset = spec->offset, .whole = r->gzipped,
                          .coding = r->gzipped ? GF_GZIP : GF_PLAIN, .swap = spec->big_endian};
    uint64_t need;

    if (!spec->given)
        return gf_fail(e, GF_EUSAGE,
                       "%s: a raw file needs --raw WxH[xD]:TYPE or a name such as "
                       "ct_512x512x300_u16le.raw",
                       r->name);
    v.image = (struct gf_image){
        .width = spec->width, .height = spec->height, .depth = spec->depth,
        .channels = spec->channels, .type = spec->type, .alpha = -1, .volume = spec->depth > 1,
        .color = spec->channels == 1 ? GF_GRAY : spec->channels == 3 ? GF_RGB : GF_OTHER};
    GF_TRY(gf_image_check(&v.image, r->name, e));
    if (!r->gzipped && (!gf_raw_bytes(spec, &need) || need != gf_in_size(r->in)))
        return gf_fail(e, GF_EINPUT,
                       "%s: the file has %llu bytes, %llux%llux%llu samples of %u x %s after %llu "
                       "bytes need %llu; correct --raw or the size in the name",
                       r->name, (unsigned long long)gf_in_size(r->in),
                       (unsigned long long)spec->width, (unsigned long long)spec->height,
                       (unsigned long long)spec->depth, spec->channels, gf_type_name(spec->type),
                       (unsigned long long)spec->offset, (unsigned long long)need);
    return gf_voxels_open(r, &v, e);
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

static enum gf_status raw_begin(struct gf_writer *w, struct gf_error *e)
{
    struct gf_raw_spec spec;
    const struct gf_voxels_out out = {
        .coding = w->gzipped ? GF_GZIP : GF_PLAIN, .whole = w->gzipped,
        .swap = gf_raw_spec_from_name(w->name, &spec) && spec.big_endian};
    return gf_voxels_begin(w, &out, e);
}

const struct gf_format gf_format_raw = {
    .name = "raw",
    .extensions = "raw bin",
    .summary = "samples without a header; --raw or the size in the name to read",
    .associated_alpha = true,
    .gzip = true,
    .open = raw_open,
    GF_VOXELS_READER,
    .accepts = raw_accepts,
    .begin = raw_begin,
    GF_VOXELS_WRITER,
};
