/* Headers of NRRDs that we write. Of the header that the image came with, what is untouched by
 * filtering stays as it was written there. */
#include "nrrd.h"

#include "../alloc.h"
#include "../geometry.h"
#include "../util.h"
#include "text_header.h"

#include <string.h>

static const char *const type_names[GF_TYPE_COUNT] = {
    [GF_U8] = "unsigned char", [GF_I8] = "signed char",  [GF_U16] = "unsigned short",
    [GF_I16] = "short",        [GF_U32] = "unsigned int", [GF_I32] = "int",
    [GF_F16] = NULL,           [GF_F32] = "float",        [GF_F64] = "double",
};

struct draft {
    struct gf_buffer *to;
    const struct gf_writer *w;
    const struct gf_image *image;
    /* The header the image came with, its text cut into lines, and what it said. */
    bool has_old;
    char *text;
    struct gf_nrrd old;
    struct gf_meta old_meta;
    /* Axes: */
    bool channels, list;
    unsigned space_axes;
    bool same_axes;             /* as in the old header, channels too */
    bool same_sizes;
};

static void put(struct draft *d, const char *text) { gf_buffer_text(d->to, text); }

static void put_number(struct draft *d, double value)
{
    char text[GF_NUMBER_TEXT];
    put(d, gf_format_double(text, value));
}

static bool had(const struct draft *d, enum gf_nrrd_field field)
{
    return d->has_old && d->old.field[field];
}

/* The old header's line, if there is one. */
static void keep(struct draft *d, enum gf_nrrd_field field)
{
    if (had(d, field))
        gf_buffer_printf(d->to, "%s: %s\n", gf_nrrd_field_name(field), d->old.field[field]);
}

/* ---- the old header ---- */

static enum gf_status take_old(struct draft *d, struct gf_error *e)
{
    struct gf_image shape = {0};
    uint64_t images;

    GF_TRY(gf_text_header_native(&d->image->meta, "nrrd", &d->text, e));
    if (!d->text)
        return GF_OK;
    GF_TRY(gf_nrrd_parse(&d->old, d->text, d->w->name, e));
    GF_TRY(gf_nrrd_image(&d->old, &shape, &images, e));
    GF_TRY(gf_nrrd_geometry(&d->old, &d->old_meta, e));
    d->has_old = true;
    d->same_sizes = shape.width == d->image->width && shape.height == d->image->height &&
                    shape.depth == d->image->depth;
    return GF_OK;
}

enum gf_status gf_nrrd_native_coding(const struct gf_meta *meta, enum gf_coding *coding,
                                     struct gf_error *e)
{
    const struct gf_writer w = {.name = "", .image = {.meta = *meta}};
    struct draft d = {.w = &w, .image = &w.image};
    const enum gf_status status = take_old(&d, e);
    *coding = d.has_old && d.old.encoding == GF_NRRD_GZIP ? GF_GZIP : GF_PLAIN;
    gf_free(d.text);
    return status;
}

/* ---- axes ---- */

static void take_axes(struct draft *d)
{
    const struct gf_image *image = d->image;
    const struct gf_nrrd *old = d->has_old ? &d->old : NULL;

    d->space_axes = image->depth > 1 || image->volume ? 3 : 2;
    if (d->space_axes == 2 && old && old->space_axes == 1 && image->height == 1)
        d->space_axes = 1;
    d->channels = image->channels > 1 || (old && old->first && old->sizes[0] == 1);
    d->list = d->w->images > 1 || (old && old->list);
    d->same_axes = old && d->space_axes == old->space_axes && d->list == old->list &&
                   d->channels == (old->first == 1) &&
                   (!d->channels || old->sizes[0] == image->channels);
}

static unsigned dimension_of(const struct draft *d)
{
    return d->channels + d->space_axes + d->list;
}

static void put_sizes(struct draft *d)
{
    const uint64_t sizes[3] = {d->image->width, d->image->height, d->image->depth};
    put(d, "sizes:");
    if (d->channels)
        gf_buffer_printf(d->to, " %lu", (unsigned long)d->image->channels);
    for (unsigned a = 0; a < d->space_axes; a++)
        gf_buffer_printf(d->to, " %llu", (unsigned long long)sizes[a]);
    if (d->list)
        gf_buffer_printf(d->to, " %llu", (unsigned long long)d->w->images);
    put(d, "\n");
}

static const char *channel_kind(const struct gf_image *image)
{
    if (image->color == GF_RGB && image->channels == 3 && image->alpha < 0)
        return "RGB-color";
    if (image->color == GF_RGB && image->channels == 4 && image->alpha == 3)
        return "RGBA-color";
    return "vector";
}

static void put_kinds(struct draft *d)
{
    /* Planes that are pages come one after the other as a list does. */
    const bool pages = d->space_axes == 3 && !d->image->volume && !d->list;

    if (d->same_axes) {
        keep(d, GF_NRRD_KINDS);
        if (had(d, GF_NRRD_KINDS) || (!d->channels && !d->list))
            return;
    }
    put(d, "kinds:");
    if (d->channels)
        gf_buffer_printf(d->to, " %s", channel_kind(d->image));
    for (unsigned a = 0; a < d->space_axes; a++)
        put(d, a == 2 && pages ? " list" : " domain");
    put(d, d->list ? " list\n" : "\n");
}

/* ---- space ---- */

static bool same_numbers(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* "(1,0,0)" */
static void put_vector(struct draft *d, const double *v, const double *unit, unsigned count)
{
    for (unsigned b = 0; b < count; b++) {
        put(d, b == 0 ? "(" : ",");
        put_number(d, v[b] / unit[b]);
    }
    put(d, ")");
}

/* One number for each axis of space, of the others none. */
static void put_axis_numbers(struct draft *d, enum gf_nrrd_field field, const double numbers[3])
{
    gf_buffer_printf(d->to, "%s:%s", gf_nrrd_field_name(field), d->channels ? " nan" : "");
    for (unsigned a = 0; a < d->space_axes; a++) {
        put(d, " ");
        put_number(d, numbers[a]);
    }
    put(d, d->list ? " nan\n" : "\n");
}

static double axis_unit(const struct draft *d, unsigned axis)
{
    return d->same_axes ? gf_nrrd_axis_unit(&d->old, axis) : 1;
}

static void put_spacings(struct draft *d)
{
    const double *spacing = d->image->meta.spacing;
    double numbers[3];
    bool any = false;

    if (d->same_axes && same_numbers(spacing, d->old_meta.spacing, 3)) {
        keep(d, GF_NRRD_SPACINGS);
        return;
    }
    for (unsigned a = 0; a < d->space_axes; a++) {
        any = any || spacing[a] > 0;
        numbers[a] = spacing[a] > 0 ? spacing[a] / axis_unit(d, a) : (double)__builtin_nanf("");
    }
    if (any)
        put_axis_numbers(d, GF_NRRD_SPACINGS, numbers);
}

/* The places of the first samples, as the old header had them. */
static void put_axis_mins(struct draft *d)
{
    const struct gf_meta *meta = &d->image->meta;
    const bool same = same_numbers(meta->spacing, d->old_meta.spacing, 3);
    double numbers[3];

    if (same && same_numbers(meta->geometry.origin, d->old_meta.geometry.origin, 3)) {
        keep(d, GF_NRRD_AXIS_MINS);
        if (d->same_sizes)
            keep(d, GF_NRRD_AXIS_MAXS);
        return;
    }
    for (unsigned a = 0; a < d->space_axes; a++)
        numbers[a] = (meta->geometry.origin[a] -
                      (gf_nrrd_is_cell(&d->old, a) ? meta->spacing[a] / 2 : 0)) / axis_unit(d, a);
    put_axis_numbers(d, GF_NRRD_AXIS_MINS, numbers);
}

/* The name of space to write in: the old one where it says as much as is known. */
static const struct gf_nrrd_space *choose_space(const struct draft *d)
{
    const bool known = d->image->meta.geometry.space == GF_SPACE_RAS;
    if (d->has_old && d->old.space && d->old.space->known == known)
        return d->old.space;
    return known ? gf_nrrd_default_space() : NULL;
}

/* How many dimensions an unnamed space needs. */
static unsigned choose_dimension(const struct draft *d)
{
    const struct gf_geometry *g = &d->image->meta.geometry;
    unsigned need = d->space_axes;
    for (unsigned b = need; b < 3; b++) {
        bool used = g->origin[b] < 0 || g->origin[b] > 0;
        for (unsigned a = 0; a < d->space_axes; a++)
            used = used || g->step[a][b] < 0 || g->step[a][b] > 0;
        need = used ? b + 1 : need;
    }
    return d->has_old ? (unsigned)gf_max(need, d->old.space_dimension) : need;
}

static void put_directions(struct draft *d, const struct gf_geometry *g, const double *unit,
                           unsigned dimension)
{
    gf_buffer_printf(d->to, "space directions:%s", d->channels ? " none" : "");
    for (unsigned a = 0; a < d->space_axes; a++) {
        put(d, " ");
        put_vector(d, g->step[a], unit, dimension);
    }
    put(d, d->list ? " none\n" : "\n");
}

/* What comes after the sizes, where directions are known. */
static void put_space(struct draft *d)
{
    static const double mm[3] = {1, 1, 1};
    struct gf_geometry g = d->image->meta.geometry;
    const struct gf_geometry *was = &d->old_meta.geometry;
    const struct gf_nrrd_space *space = choose_space(d);
    const unsigned dimension = space ? 3 : choose_dimension(d);
    const bool same = d->has_old && d->old.directed && was->known && space == d->old.space &&
                      dimension == d->old.space_dimension;
    const double *unit = same ? d->old.unit : mm;
    const bool same_steps = same && d->same_axes && same_numbers(g.step[0], was->step[0], 9);
    const bool same_origin = same && same_numbers(g.origin, was->origin, 3);

    gf_nrrd_turn(space, &g);
    if (same_steps)
        keep(d, GF_NRRD_SPACE_DIRECTIONS);
    else
        put_directions(d, &g, unit, dimension);
    if (same)
        keep(d, GF_NRRD_SPACE_UNITS);
    else if (!d->has_old)
        put(d, dimension == 3   ? "space units: \"mm\" \"mm\" \"mm\"\n"
               : dimension == 2 ? "space units: \"mm\" \"mm\"\n"
                                : "space units: \"mm\"\n");
    if (same_origin) {
        keep(d, GF_NRRD_SPACE_ORIGIN);
    } else {
        put(d, "space origin: ");
        put_vector(d, g.origin, unit, dimension);
        put(d, "\n");
    }
    if (same)
        keep(d, GF_NRRD_MEASUREMENT_FRAME);
}

/* Space comes before the sizes. */
static void put_space_name(struct draft *d)
{
    const struct gf_nrrd_space *space = choose_space(d);
    if (space)
        gf_buffer_printf(d->to, "space: %s\n", space->name);
    else
        gf_buffer_printf(d->to, "space dimension: %u\n", choose_dimension(d));
}

/* ---- the header ---- */

static void put_old_lines(struct draft *d, enum gf_nrrd_line kind)
{
    for (const char *line = d->text; d->has_old && line < d->old.end; line += strlen(line) + 1) {
        enum gf_nrrd_field field;
        const char *value;
        if (line != d->text && gf_nrrd_line(line, &field, &value) == kind)
            gf_buffer_printf(d->to, "%s\n", line);
    }
}

bool gf_nrrd_keeps_text(const struct gf_meta *meta, const struct gf_text *text)
{
    const char *key = text->key;
    (void)meta;
    return *key && *key != '#' && *key != ' ' && !strpbrk(key, "\r\n\t") && !strstr(key, ": ") &&
           !strstr(key, ":=") && key[strlen(key) - 1] != ':' && key[strlen(key) - 1] != ' ' &&
           !strchr(text->value, '\r');
}

static void put_texts(struct draft *d)
{
    const struct gf_meta *meta = &d->image->meta;
    for (size_t i = 0; i < meta->text_count; i++) {
        if (!gf_nrrd_keeps_text(meta, &meta->texts[i]))
            continue;
        gf_buffer_printf(d->to, "%s:=", meta->texts[i].key);
        for (const char *s = meta->texts[i].value; *s; s++) {
            if (*s == '\n' || *s == '\\')
                put(d, *s == '\n' ? "\\n" : "\\\\");
            else
                gf_buffer_append(d->to, s, 1);
        }
        put(d, "\n");
    }
}

/* Fields of axes, which hold while the axes are the same. */
static void put_axis_fields(struct draft *d)
{
    static const enum gf_nrrd_field fields[] = {GF_NRRD_THICKNESSES, GF_NRRD_CENTERINGS,
                                                GF_NRRD_LABELS, GF_NRRD_UNITS};
    for (size_t i = 0; d->same_axes && i < GF_COUNT(fields); i++)
        keep(d, fields[i]);
}

/* Fields of samples, which hold while their type is the same. min and max are those of the samples
 * before. */
static void put_sample_fields(struct draft *d)
{
    static const enum gf_nrrd_field fields[] = {GF_NRRD_OLD_MIN, GF_NRRD_OLD_MAX,
                                                GF_NRRD_SAMPLE_UNITS};
    for (size_t i = 0; d->has_old && d->old.type == d->image->type && i < GF_COUNT(fields); i++)
        keep(d, fields[i]);
}

static void put_header(struct draft *d, enum gf_nrrd_encoding encoding, const char *data_name)
{
    const bool known = d->image->meta.geometry.known;
    const bool by_mins = known && d->same_axes && !d->old.directed &&
                         had(d, GF_NRRD_AXIS_MINS) &&
                         d->image->meta.geometry.space == GF_SPACE_UNKNOWN &&
                         gf_geometry_plain_axes(&d->image->meta.geometry);
    const bool by_space = known && !by_mins;

    put(d, had(d, GF_NRRD_MEASUREMENT_FRAME) ? "NRRD0005\n" : "NRRD0004\n");
    put_old_lines(d, GF_NRRD_COMMENT);
    keep(d, GF_NRRD_CONTENT);
    gf_buffer_printf(d->to, "type: %s\ndimension: %u\n", type_names[d->image->type],
                     dimension_of(d));
    if (by_space)
        put_space_name(d);
    put_sizes(d);
    if (by_space)
        put_space(d);
    else
        put_spacings(d);
    if (by_mins)
        put_axis_mins(d);
    put_kinds(d);
    put_axis_fields(d);
    if (!d->has_old && !known && d->image->meta.spacing[0] > 0)
        gf_buffer_printf(d->to, "units:%s \"mm\"%s%s%s\n", d->channels ? " \"\"" : "",
                         d->space_axes > 1 ? " \"mm\"" : "", d->space_axes > 2 ? " \"mm\"" : "",
                         d->list ? " \"\"" : "");
    put_sample_fields(d);
    put_old_lines(d, GF_NRRD_UNKNOWN);
    if (gf_type_bytes(d->image->type) > 1)
        put(d, "endian: little\n");
    put(d, encoding == GF_NRRD_GZIP ? "encoding: gzip\n" : "encoding: raw\n");
    put_texts(d);
    if (data_name)
        gf_buffer_printf(d->to, "data file: %s\n", data_name);
    put(d, "\n");
}

enum gf_status gf_nrrd_make_header(struct gf_buffer *to, const struct gf_writer *w,
                                   enum gf_coding coding, const char *data_name,
                                   struct gf_error *e)
{
    struct draft d = {.to = to, .w = w, .image = &w->image};
    enum gf_status status = take_old(&d, e);

    if (status == GF_OK) {
        take_axes(&d);
        put_header(&d, coding == GF_GZIP ? GF_NRRD_GZIP : GF_NRRD_RAW, data_name);
        status = gf_buffer_status(to, "a header", e);
    }
    gf_free(d.text);
    return status;
}
