#include "png_chunks.h"

#include "../alloc.h"
#include "../message.h"
#include "../utf8.h"
#include "../util.h"
#include "exif.h"

#include <math.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#define XMP_KEY "XML:com.adobe.xmp"
#define KEY_BYTES 79 /* longest keyword PNG allows */

const uint8_t gf_png_signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

void *gf_zlib_alloc(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    return gf_alloc(items, size);
}

void gf_zlib_free(void *opaque, void *block)
{
    (void)opaque;
    gf_free(block);
}

/* ---- reading ---- */

/* What a chunk is read into: everything the take_ functions need. */
struct chunk {
    struct gf_meta *meta;
    const uint8_t *data;
    size_t size;
    uint64_t *room; /* bytes that compressed metadata may still become */
    bool damaged; /* the content makes no sense: left out with a warning */
};

/* Inflates a zlib stream into a fresh block that the caller frees, one byte longer than
 * *out_size and zero there. Sets c->damaged, *out NULL, when it is not one whole stream
 * or gives more than *c->room bytes. */
static enum gf_status inflate_all(struct chunk *c, const uint8_t *data, size_t size, uint8_t **out,
                                  size_t *out_size, struct gf_error *e)
{
    z_stream z = {.zalloc = gf_zlib_alloc, .zfree = gf_zlib_free};
    const uint64_t most = *c->room;
    uint64_t room = gf_min(most, gf_max(1024, (uint64_t)size * 4));
    enum gf_status status = GF_OK;
    uint8_t *block = NULL;
    int code = Z_OK;

    *out = NULL;
    z.next_in = data;
    z.avail_in = (uInt)size;
    if (inflateInit(&z) != Z_OK)
        return gf_fail(e, GF_EMEMORY, "out of memory for a text or colour profile");
    status = gf_allocate((void **)&block, room + 1, 1, "PNG metadata", e);
    while (status == GF_OK) {
        z.next_out = block + z.total_out;
        z.avail_out = (uInt)(room - z.total_out);
        code = inflate(&z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            status = gf_fail(e, GF_EMEMORY, "out of memory for a text or colour profile");
        if (code != Z_OK || z.avail_out != 0 || room == most)
            break;
        room = gf_min(most, room * 2);
        void *larger = gf_realloc(block, room + 1, 1);
        if (!larger)
            status = gf_fail(e, GF_EMEMORY, "out of memory for a text or colour profile");
        else
            block = larger;
    }
    if (status == GF_OK && code == Z_STREAM_END) {
        *out_size = z.total_out;
        block[z.total_out] = 0;
        *out = block;
        block = NULL;
    } else if (status == GF_OK) {
        c->damaged = true;
    }
    gf_free(block);
    *c->room -= z.total_out;
    inflateEnd(&z);
    return status;
}

/* Length of the string that ends within c->data at or after `from`, or SIZE_MAX. */
static size_t string_length(const struct chunk *c, size_t from)
{
    const uint8_t *end;
    if (from >= c->size)
        return SIZE_MAX;
    end = memchr(c->data + from, 0, c->size - from);
    return end ? (size_t)(end - (c->data + from)) : SIZE_MAX;
}

/* Adds a text whose value is NUL-terminated UTF-8. */
static enum gf_status add_text(struct chunk *c, size_t key_length, const char *value,
                               struct gf_error *e)
{
    char *key = NULL;
    enum gf_status status = gf_utf8_from_latin1(c->data, key_length, &key, e);
    if (status == GF_OK)
        status = gf_meta_add_text(c->meta, key, value, e);
    gf_free(key);
    return status;
}

static enum gf_status take_text(struct chunk *c, struct gf_error *e)
{
    size_t key = string_length(c, 0);
    char *value = NULL;
    enum gf_status status;
    if (key == SIZE_MAX || key == 0 || key > KEY_BYTES) {
        c->damaged = true;
        return GF_OK;
    }
    GF_TRY(gf_utf8_from_latin1(c->data + key + 1, c->size - key - 1, &value, e));
    status = add_text(c, key, value, e);
    gf_free(value);
    return status;
}

static enum gf_status take_ztext(struct chunk *c, struct gf_error *e)
{
    size_t key = string_length(c, 0), size = 0;
    uint8_t *latin1 = NULL;
    char *value = NULL;
    enum gf_status status;
    if (key == SIZE_MAX || key == 0 || key > KEY_BYTES || c->size < key + 2 ||
        c->data[key + 1] != 0) {
        c->damaged = true;
        return GF_OK;
    }
    GF_TRY(inflate_all(c, c->data + key + 2, c->size - key - 2, &latin1, &size, e));
    if (!latin1)
        return GF_OK;
    status = gf_utf8_from_latin1(latin1, size, &value, e);
    if (status == GF_OK)
        status = add_text(c, key, value, e);
    gf_free(value);
    gf_free(latin1);
    return status;
}

static enum gf_status take_itext(struct chunk *c, struct gf_error *e)
{
    size_t key = string_length(c, 0), at = 0, size = 0;
    uint8_t *value = NULL;
    char *text = NULL;
    enum gf_status status;
    bool compressed = false;

    /* Keyword, 0, compression flag, method, language, 0, translated keyword, 0, text. */
    c->damaged = key == SIZE_MAX || key == 0 || key > KEY_BYTES || c->size - key < 3;
    if (!c->damaged) {
        compressed = c->data[key + 1] != 0;
        at = key + 3;
        for (int i = 0; i < 2 && !c->damaged; i++) {
            size_t length = string_length(c, at);
            c->damaged = length == SIZE_MAX;
            at += c->damaged ? 0 : length + 1;
        }
    }
    if (c->damaged)
        return GF_OK;
    if (compressed) {
        GF_TRY(inflate_all(c, c->data + at, c->size - at, &value, &size, e));
        if (!value)
            return GF_OK;
    } else {
        size = c->size - at;
        GF_TRY(gf_allocate((void **)&value, (uint64_t)size + 1, 1, "a text", e));
        memcpy(value, c->data + at, size);
        value[size] = 0;
    }
    if (key == strlen(XMP_KEY) && memcmp(c->data, XMP_KEY, key) == 0)
        status = gf_blob_set(&c->meta->xmp, value, size, e);
    else
        status = gf_utf8_from_bytes(value, size, &text, e); /* it should be UTF-8 */
    if (status == GF_OK && text)
        status = add_text(c, key, text, e);
    gf_free(text);
    gf_free(value);
    return status;
}

static enum gf_status take_icc(struct chunk *c, struct gf_error *e)
{
    size_t key = string_length(c, 0), size = 0;
    uint8_t *profile = NULL;
    enum gf_status status;
    if (key == SIZE_MAX || c->size < key + 2 || c->data[key + 1] != 0) {
        c->damaged = true;
        return GF_OK;
    }
    GF_TRY(inflate_all(c, c->data + key + 2, c->size - key - 2, &profile, &size, e));
    if (!profile)
        return GF_OK;
    status = gf_blob_set(&c->meta->icc, profile, size, e);
    gf_free(profile);
    return status;
}

static enum gf_status take_exif(struct chunk *c, struct gf_error *e)
{
    /* A TIFF header in one of its two byte orders. */
    if (c->size < 8 || (memcmp(c->data, "II*\0", 4) != 0 && memcmp(c->data, "MM\0*", 4) != 0)) {
        c->damaged = true;
        return GF_OK;
    }
    return gf_blob_set(&c->meta->exif, c->data, c->size, e);
}

static enum gf_status take_phys(struct chunk *c, struct gf_error *e)
{
    (void)e;
    c->damaged = c->size != 9 || c->data[8] > 1;
    if (!c->damaged) {
        c->meta->resolution[0] = gf_png_u32(c->data);
        c->meta->resolution[1] = gf_png_u32(c->data + 4);
        c->meta->resolution_unit = c->data[8];
    }
    return GF_OK;
}

static enum gf_status take_gamma(struct chunk *c, struct gf_error *e)
{
    (void)e;
    c->damaged = c->size != 4 || gf_png_u32(c->data) == 0;
    if (!c->damaged) {
        c->meta->gamma = gf_png_u32(c->data);
        c->meta->has_gamma = true;
    }
    return GF_OK;
}

static enum gf_status take_chroma(struct chunk *c, struct gf_error *e)
{
    (void)e;
    c->damaged = c->size != 32;
    for (size_t i = 0; i < 8 && !c->damaged; i++)
        c->meta->chroma[i] = gf_png_u32(c->data + 4 * i);
    c->meta->has_chroma = c->meta->has_chroma || !c->damaged;
    return GF_OK;
}

static enum gf_status take_srgb(struct chunk *c, struct gf_error *e)
{
    (void)e;
    c->damaged = c->size != 1 || c->data[0] > 3;
    if (!c->damaged) {
        c->meta->srgb_intent = c->data[0];
        c->meta->has_srgb = true;
    }
    return GF_OK;
}

static const struct {
    char type[5];
    enum gf_status (*take)(struct chunk *c, struct gf_error *e);
} takers[] = {
    {"tEXt", take_text}, {"zTXt", take_ztext}, {"iTXt", take_itext},
    {"iCCP", take_icc},  {"eXIf", take_exif},  {"pHYs", take_phys},
    {"gAMA", take_gamma}, {"cHRM", take_chroma}, {"sRGB", take_srgb},
};

bool gf_png_is_meta(const uint8_t type[4])
{
    for (size_t i = 0; i < GF_COUNT(takers); i++)
        if (memcmp(takers[i].type, type, 4) == 0)
            return true;
    return false;
}

enum gf_status gf_png_take_chunk(struct gf_meta *meta, const uint8_t type[4], const uint8_t *data,
                                 size_t size, uint64_t *room, const char *name,
                                 struct gf_error *e)
{
    struct chunk c = {.meta = meta, .data = data, .size = size, .room = room};
    for (size_t i = 0; i < GF_COUNT(takers); i++) {
        if (memcmp(takers[i].type, type, 4) != 0)
            continue;
        GF_TRY(takers[i].take(&c, e));
        if (c.damaged && *room == 0)
            gf_print_warning("%s: more than %u MiB of metadata, a %s chunk is left out", name,
                             (unsigned)(GF_PNG_META_BYTES >> 20), takers[i].type);
        else if (c.damaged)
            gf_print_warning("%s: damaged %s chunk; its metadata is left out", name,
                             takers[i].type);
    }
    return GF_OK;
}

/* ---- writing ---- */

/* Where the chunks go. */
struct sink {
    gf_png_put *put;
    void *context;
};

static enum gf_status emit(const struct sink *s, const char *type, const void *data, size_t size,
                           struct gf_error *e)
{
    return s->put(s->context, type, data, size, e);
}

/* How a string can be written. Bytes that are not UTF-8 are kept as they are. */
enum text_form { TEXT_LATIN1, TEXT_BYTES, TEXT_UTF8 };

static enum text_form text_form(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    enum text_form form = TEXT_LATIN1;
    uint32_t value;
    while (*p) {
        size_t size = gf_utf8_decode(p, &value);
        if (size == 0)
            return TEXT_BYTES;
        if (value > 0xff)
            form = TEXT_UTF8;
        p += size;
    }
    return form;
}

/* Copies `text` in Latin-1 to `to`, which has room for strlen(text); the length. */
static size_t copy_latin1(uint8_t *to, const char *text, enum text_form form)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t length = 0;
    while (*p) {
        uint32_t value = *p;
        p += form == TEXT_LATIN1 ? gf_utf8_decode(p, &value) : 1;
        to[length++] = (uint8_t)value;
    }
    return length;
}

static enum gf_status put_text(const struct sink *s, const char *name, const char *key,
                               const char *value, struct gf_error *e)
{
    enum text_form key_form = text_form(key), form = text_form(value);
    size_t value_length = strlen(value), key_length;
    uint8_t latin1_key[4 * KEY_BYTES + 1];
    uint8_t *data = NULL;
    enum gf_status status;

    key_length = strlen(key) > sizeof latin1_key || key_form == TEXT_UTF8
                     ? 0 : copy_latin1(latin1_key, key, key_form);
    if (key_length == 0 || key_length > KEY_BYTES || value_length > GF_PNG_META_BYTES) {
        gf_print_warning("%s: a text that PNG cannot hold is left out (its keyword must have 1 "
                         "to 79 Latin-1 characters)", name);
        return GF_OK;
    }
    GF_TRY(gf_allocate((void **)&data, (uint64_t)key_length + value_length + 5, 1, "a text", e));
    memcpy(data, latin1_key, key_length);
    memset(data + key_length, 0, 5);
    if (form == TEXT_UTF8) {
        memcpy(data + key_length + 5, value, value_length);
        status = emit(s, "iTXt", data, key_length + 5 + value_length, e);
    } else {
        value_length = copy_latin1(data + key_length + 1, value, form);
        status = emit(s, "tEXt", data, key_length + 1 + value_length, e);
    }
    gf_free(data);
    return status;
}

static enum gf_status put_texts(const struct sink *s, const char *name, const struct gf_meta *meta,
                                struct gf_error *e)
{
    bool described = false;
    for (size_t i = 0; i < meta->text_count; i++) {
        GF_TRY(put_text(s, name, meta->texts[i].key, meta->texts[i].value, e));
        described = described || strcmp(meta->texts[i].key, "Description") == 0;
    }
    if (meta->description && !described)
        GF_TRY(put_text(s, name, "Description", meta->description, e));
    return GF_OK;
}

static enum gf_status put_xmp(const struct sink *s, const struct gf_blob *xmp, struct gf_error *e)
{
    const size_t head = sizeof XMP_KEY + 4; /* keyword, 0, no compression, two empty strings */
    uint8_t *data = NULL;
    enum gf_status status;
    GF_TRY(gf_allocate((void **)&data, (uint64_t)xmp->size + head, 1, "XMP metadata", e));
    memset(data, 0, head);
    memcpy(data, XMP_KEY, sizeof XMP_KEY);
    memcpy(data + head, xmp->data, xmp->size);
    status = emit(s, "iTXt", data, head + xmp->size, e);
    gf_free(data);
    return status;
}

static enum gf_status put_icc(const struct sink *s, const struct gf_blob *icc, struct gf_error *e)
{
    static const uint8_t head[] = {'I', 'C', 'C', 0, 0};
    z_stream z = {.zalloc = gf_zlib_alloc, .zfree = gf_zlib_free};
    uint64_t room = compressBound((uLong)icc->size);
    uint8_t *data = NULL;
    enum gf_status status;

    GF_TRY(gf_allocate((void **)&data, room + sizeof head, 1, "the colour profile", e));
    memcpy(data, head, sizeof head);
    if (deflateInit(&z, 9) != Z_OK) {
        gf_free(data);
        return gf_fail(e, GF_EMEMORY, "out of memory for the colour profile");
    }
    z.next_in = icc->data;
    z.avail_in = (uInt)icc->size;
    z.next_out = data + sizeof head;
    z.avail_out = (uInt)room;
    /* All the output fits, so this ends in one call. */
    (void)deflate(&z, Z_FINISH);
    status = emit(s, "iCCP", data, sizeof head + z.total_out, e);
    deflateEnd(&z);
    gf_free(data);
    return status;
}

/* True when the profile is for the colours of this image: a reader rejects another one. */
static bool icc_fits(const struct gf_image *image)
{
    const struct gf_blob *icc = &image->meta.icc;
    return icc->size >= 132 && icc->size <= GF_PNG_META_BYTES &&
           memcmp(icc->data + 16, image->channels < 3 ? "GRAY" : "RGB ", 4) == 0;
}

/* Pixels per metre, or per unit when only the aspect is known, rounded; 0: unknown. */
static uint32_t pixels_per_unit(const struct gf_meta *meta, int axis, uint8_t *unit)
{
    static const double per_metre[] = {1, 1, 1 / 0.0254, 100};
    double value = 0;
    *unit = 1;
    if (meta->resolution[axis] > 0 && meta->resolution_unit >= 0 && meta->resolution_unit <= 3) {
        value = meta->resolution[axis] * per_metre[meta->resolution_unit];
        *unit = meta->resolution_unit != 0;
    } else if (meta->spacing[axis] > 0) {
        value = 1000 / meta->spacing[axis];
    }
    value = nearbyint(value);
    return value >= 1 && value <= 0x7fffffff ? (uint32_t)value : 0;
}

enum gf_status gf_png_put_meta(const struct gf_image *image, const char *name, gf_png_put *put,
                               void *context, struct gf_error *e)
{
    const struct sink s = {put, context};
    const struct gf_meta *meta = &image->meta;
    uint8_t data[32];
    uint32_t x, y;

    if (meta->has_gamma) {
        gf_png_set_u32(data, meta->gamma);
        GF_TRY(emit(&s, "gAMA", data, 4, e));
    }
    if (meta->has_chroma) {
        for (int i = 0; i < 8; i++)
            gf_png_set_u32(data + 4 * i, meta->chroma[i]);
        GF_TRY(emit(&s, "cHRM", data, 32, e));
    }
    if (meta->icc.size > 0 && !icc_fits(image))
        gf_print_warning("%s: the colour profile is not for %s samples; it is left out", name,
                         image->channels < 3 ? "gray" : "RGB");
    /* PNG allows one of the two. */
    if (meta->icc.size > 0 && icc_fits(image))
        GF_TRY(put_icc(&s, &meta->icc, e));
    else if (meta->has_srgb)
        GF_TRY(emit(&s, "sRGB", &meta->srgb_intent, 1, e));
    x = pixels_per_unit(meta, 0, &data[8]);
    y = pixels_per_unit(meta, 1, &data[8]);
    if (x > 0 && y > 0) {
        gf_png_set_u32(data, x);
        gf_png_set_u32(data + 4, y);
        GF_TRY(emit(&s, "pHYs", data, 9, e));
    }
    if (meta->exif.size > 0 && meta->exif.size <= GF_PNG_META_BYTES) {
        GF_TRY(emit(&s, "eXIf", meta->exif.data, meta->exif.size, e));
    } else if (gf_meta_orientation(meta) > 1) {
        gf_exif_make_orientation(data, gf_meta_orientation(meta));
        GF_TRY(emit(&s, "eXIf", data, GF_EXIF_ORIENTATION_BYTES, e));
    }
    if (meta->xmp.size > 0 && meta->xmp.size <= GF_PNG_META_BYTES)
        GF_TRY(put_xmp(&s, &meta->xmp, e));
    return put_texts(&s, name, meta, e);
}
