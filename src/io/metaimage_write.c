/* Headers of MetaImages that we write. Of the header that the image came with, what is untouched by
 * filtering stays as it was written there. */
#include "metaimage.h"

#include "../alloc.h"
#include "../geometry.h"
#include "../util.h"
#include "text_header.h"

#include <stdio.h>
#include <string.h>

/* What begins the header of compressed samples; the number of their bytes follows, in a place of
 * fixed width, as it is known at the end. */
#define BEGINNING(dimensions)                                                                    \
    "ObjectType = Image\nNDims = " dimensions "\nBinaryData = True\n"                            \
    "BinaryDataByteOrderMSB = False\nCompressedData = True\nCompressedDataSize = "
#define NUMBER_ROOM 20

struct draft {
    struct gf_buffer *to;
    const struct gf_writer *w;
    const struct gf_image *image;
    /* The header the image came with, its text cut into lines, and what it said. */
    bool has_old;
    char *text;
    struct gf_metaimage old;
    struct gf_meta old_meta;
    unsigned dimensions;
    double unit;                /* mm, that lengths are written in */
    bool same_space;            /* origin, directions and spacing are as in the old header */
};

static void put(struct draft *d, const char *text) { gf_buffer_text(d->to, text); }

/* "KEY = " and numbers. */
static void put_numbers(struct draft *d, enum gf_metaimage_field field, const double *numbers,
                        unsigned count)
{
    char text[GF_NUMBER_TEXT];
    gf_buffer_printf(d->to, "%s =", gf_metaimage_key(field));
    for (unsigned i = 0; i < count; i++) {
        put(d, " ");
        put(d, gf_format_double(text, numbers[i]));
    }
    put(d, "\n");
}

static void keep(struct draft *d, enum gf_metaimage_field field)
{
    if (d->has_old && d->old.field[field])
        gf_buffer_printf(d->to, "%s = %s\n", gf_metaimage_key(field), d->old.field[field]);
}

/* ---- the old header ---- */

static enum gf_status take_old(struct draft *d, struct gf_error *e)
{
    d->unit = 1;
    GF_TRY(gf_text_header_native(&d->image->meta, "metaimage", &d->text, e));
    if (!d->text)
        return GF_OK;
    GF_TRY(gf_metaimage_parse(&d->old, d->text, d->w->name, e));
    GF_TRY(gf_metaimage_geometry(&d->old, &d->old_meta, e));
    d->has_old = true;
    d->unit = d->old.unit;
    return GF_OK;
}

enum gf_status gf_metaimage_native_coding(const struct gf_meta *meta, enum gf_coding *coding,
                                          struct gf_error *e)
{
    const struct gf_writer w = {.name = "", .image = {.meta = *meta}};
    struct draft d = {.w = &w, .image = &w.image};
    const enum gf_status status = take_old(&d, e);
    *coding = d.has_old && d.old.compressed ? GF_ZLIB : GF_PLAIN;
    gf_free(d.text);
    return status;
}

/* ---- space ---- */

static bool same_numbers(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Whether a picture needs a third dimension to be in its place. */
static bool leaves_plane(const struct gf_geometry *g)
{
    if (!g->known)
        return false;
    return g->space != GF_SPACE_UNKNOWN || g->origin[2] < 0 || g->origin[2] > 0 ||
           g->step[0][2] < 0 || g->step[0][2] > 0 || g->step[1][2] < 0 || g->step[1][2] > 0;
}

static void take_space(struct draft *d)
{
    const struct gf_image *image = d->image;
    const struct gf_meta *meta = &image->meta, *old = &d->old_meta;

    d->dimensions = image->volume || image->depth > 1 || leaves_plane(&meta->geometry) ? 3 : 2;
    if (d->w->images > 1 || (d->has_old && d->old.dimensions == 4))
        d->dimensions = 4;
    d->same_space = d->has_old && d->dimensions == d->old.dimensions &&
                    same_numbers(meta->spacing, old->spacing, 3) &&
                    meta->geometry.known == old->geometry.known &&
                    same_numbers(meta->geometry.origin, old->geometry.origin, 3) &&
                    same_numbers(meta->geometry.step[0], old->geometry.step[0], 9);
}

/* The letters of where axes come from, as MetaImage has them: the other ends of where they lead. */
static void put_anatomy(struct draft *d)
{
    static const char from[] = "RLAPSI", to[] = "LRPAIS";
    char code[4];

    gf_geometry_orientation(&d->image->meta.geometry, code);
    for (char *s = code; *s; s++)
        *s = to[strchr(from, *s) - from];
    gf_buffer_printf(d->to, "AnatomicalOrientation = %s\n", *code ? code
                                                            : d->dimensions == 2 ? "??" : "???");
}

static void put_place(struct draft *d)
{
    const unsigned n = d->dimensions, axes = n > 2 ? 3 : 2;
    struct gf_geometry g = d->image->meta.geometry;
    double matrix[GF_METAIMAGE_AXES * GF_METAIMAGE_AXES] = {0};
    double offset[GF_METAIMAGE_AXES] = {0};
    const double *spacing = d->image->meta.spacing;

    if (g.space == GF_SPACE_RAS)
        gf_geometry_flip(&g);
    if (n == 4)
        matrix[15] = 1;
    for (unsigned a = 0; a < axes; a++) {
        offset[a] = g.origin[a] / d->unit;
        for (unsigned b = 0; b < axes; b++)
            matrix[a * n + b] = spacing[a] > 0 ? g.step[a][b] / spacing[a] : g.step[a][b];
    }
    put_numbers(d, GF_METAIMAGE_MATRIX, matrix, n * n);
    put_numbers(d, GF_METAIMAGE_OFFSET, offset, n);
}

static void put_spacing(struct draft *d)
{
    double spacing[GF_METAIMAGE_AXES];
    bool any = false;

    for (unsigned a = 0; a < GF_METAIMAGE_AXES; a++) {
        const double mm = a < 3 ? d->image->meta.spacing[a] : 0;
        any = any || mm > 0;
        spacing[a] = mm > 0 ? mm / d->unit : 1;
    }
    if (any)
        put_numbers(d, GF_METAIMAGE_SPACING, spacing, d->dimensions);
}

static void put_space(struct draft *d)
{
    static const enum gf_metaimage_field fields[] = {
        GF_METAIMAGE_MATRIX, GF_METAIMAGE_OFFSET, GF_METAIMAGE_CENTER, GF_METAIMAGE_ANATOMY,
        GF_METAIMAGE_SPACING, GF_METAIMAGE_ELEMENT_SIZE};

    for (size_t i = 0; d->same_space && i < GF_COUNT(fields); i++)
        keep(d, fields[i]);
    if (d->same_space)
        return;
    if (d->image->meta.geometry.known)
        put_place(d);
    if (d->has_old && d->dimensions == d->old.dimensions)
        keep(d, GF_METAIMAGE_CENTER);
    if (d->image->meta.geometry.known)
        put_anatomy(d);
    put_spacing(d);
}

/* ---- the header ---- */

bool gf_metaimage_keeps_text(const struct gf_meta *meta, const struct gf_text *text)
{
    (void)meta;
    return *text->key && !strpbrk(text->key, " \t\r\n=:") && !strpbrk(text->value, "\r\n") &&
           gf_metaimage_find(text->key) == GF_METAIMAGE_FIELD_COUNT;
}

static void put_texts(struct draft *d)
{
    const struct gf_meta *meta = &d->image->meta;
    for (size_t i = 0; i < meta->text_count; i++)
        if (gf_metaimage_keeps_text(meta, &meta->texts[i]))
            gf_buffer_printf(d->to, "%s = %s\n", meta->texts[i].key, meta->texts[i].value);
}

static void put_sizes(struct draft *d)
{
    const uint64_t sizes[GF_METAIMAGE_AXES] = {d->image->width, d->image->height, d->image->depth,
                                               d->w->images};
    put(d, "DimSize =");
    for (unsigned a = 0; a < d->dimensions; a++)
        gf_buffer_printf(d->to, " %llu", (unsigned long long)sizes[a]);
    put(d, "\n");
}

static void put_header(struct draft *d, bool compressed, const char *data_name)
{
    if (compressed)
        gf_buffer_printf(d->to, BEGINNING("%u") "%*s\n", d->dimensions, NUMBER_ROOM, "");
    else
        gf_buffer_printf(d->to, "ObjectType = Image\nNDims = %u\nBinaryData = True\n"
                         "BinaryDataByteOrderMSB = False\nCompressedData = False\n",
                         d->dimensions);
    for (int f = 0; f < GF_METAIMAGE_FIELD_COUNT; f++)
        if (gf_metaimage_kept((enum gf_metaimage_field)f))
            keep(d, (enum gf_metaimage_field)f);
    put_space(d);
    put_sizes(d);
    put_texts(d);
    if (d->image->channels > 1)
        gf_buffer_printf(d->to, "ElementNumberOfChannels = %lu\n",
                         (unsigned long)d->image->channels);
    gf_buffer_printf(d->to, "ElementType = %s\nElementDataFile = %s\n",
                     gf_metaimage_type_name(d->image->type), data_name ? data_name : "LOCAL");
}

enum gf_status gf_metaimage_make_header(struct gf_buffer *to, const struct gf_writer *w,
                                        enum gf_coding coding, const char *data_name,
                                        struct gf_error *e)
{
    struct draft d = {.to = to, .w = w, .image = &w->image};
    enum gf_status status = take_old(&d, e);

    if (status == GF_OK) {
        take_space(&d);
        put_header(&d, coding != GF_PLAIN, data_name);
        status = gf_buffer_status(to, "a header", e);
    }
    gf_free(d.text);
    return status;
}

enum gf_status gf_metaimage_put_size(struct gf_out *out, uint64_t size, struct gf_error *e)
{
    char digits[NUMBER_ROOM + 1];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
    return gf_out_write_at(out, digits, (size_t)length, sizeof BEGINNING("3") - 1, e);
}
