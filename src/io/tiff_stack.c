/* ImageJ and OME descriptions: which pages make a volume, how large a voxel is, and the same
 * said again for what we write. */
#include "tiff.h"

#include "../alloc.h"
#include "../message.h"
#include "../text.h"
#include "../util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lengths ---- */

static double unit_in_mm(const char *text, size_t size)
{
    /* Micro as ImageJ escapes it, and in Latin-1. */
    static const char *const micro[] = {"\\u00B5m", "\\u00b5m", "\xb5m"};
    double mm;

    for (size_t i = 0; i < GF_COUNT(micro); i++)
        if (strlen(micro[i]) == size && memcmp(micro[i], text, size) == 0)
            return 1e-3;
    return gf_length_unit(text, size, &mm) ? mm : 0;
}

static double positive(double value)
{
    return isfinite(value) && value > 0 ? value : 0;
}

/* ---- ImageJ: lines of key=value ---- */

/* The value of `key`, up to the end of its line; NULL when absent. */
static const char *line_value(const char *text, const char *key, size_t *size)
{
    size_t key_size = strlen(key);

    while (text) {
        if (strncmp(text, key, key_size) == 0 && text[key_size] == '=') {
            text += key_size + 1;
            *size = strcspn(text, "\r\n");
            return text;
        }
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return NULL;
}

/* The number in the `size` bytes at `value`; `otherwise` when there is none. */
static uint64_t number_in(const char *value, size_t size, uint64_t otherwise)
{
    uint64_t number;
    char copy[24];

    if (!value || size == 0 || size >= sizeof copy)
        return otherwise;
    memcpy(copy, value, size);
    copy[size] = 0;
    return gf_parse_u64(copy, &number) && number <= UINT32_MAX ? number : otherwise;
}

static uint64_t line_count(const char *text, const char *key, uint64_t otherwise)
{
    size_t size = 0;
    const char *value = line_value(text, key, &size);
    uint64_t count = number_in(value, size, otherwise);

    return count > 0 ? count : otherwise;
}

static void parse_imagej(const char *text, struct gf_tiff_stack *s)
{
    size_t size;
    const char *value;

    s->kind = GF_TIFF_IMAGEJ;
    s->images = line_count(text, "images", 0);
    s->c = line_count(text, "channels", 1);
    s->z = line_count(text, "slices", 1);
    s->t = line_count(text, "frames", 1);
    s->step_c = 1;
    s->step_z = s->c;
    s->step_t = s->c * s->z;
    value = line_value(text, "unit", &size);
    if (value)
        s->unit = unit_in_mm(value, size);
    value = line_value(text, "spacing", &size);
    if (value)
        s->spacing[2] = positive(fabs(strtod(value, NULL))) * s->unit;
}

/* ---- OME: attributes of XML elements ---- */

/* All of these stop at the next '<' at the latest, which cannot be within a tag, so that going
 * through a text of many tags, damaged or not, takes time in proportion to its length. */

#define XML_BLANKS " \t\r\n"

/* The next start tag of that name from `text` on, whatever its prefix: what follows the name;
 * NULL for none. */
static const char *element(const char *text, const char *name)
{
    size_t size = strlen(name);

    while ((text = strchr(text, '<'))) {
        size_t length = strcspn(++text, XML_BLANKS "/>:<");
        if (text[length] == ':') {
            text += length + 1;
            length = strcspn(text, XML_BLANKS "/><");
        }
        if (length == size && memcmp(text, name, size) == 0)
            return text + size;
    }
    return NULL;
}

/* The value of an attribute of the tag whose attributes start at `text`; NULL when it has none. */
static const char *attribute(const char *text, const char *name, size_t *size)
{
    size_t name_size = strlen(name);

    for (;;) {
        const char *key;
        char stops[3] = "<";
        size_t key_size;
        text += strspn(text, XML_BLANKS "/");
        key = text;
        key_size = strcspn(key, XML_BLANKS "=<>");
        text += key_size + strspn(key + key_size, XML_BLANKS);
        if (*text != '=')
            return NULL;
        text++;
        text += strspn(text, XML_BLANKS);
        if (*text != '"' && *text != '\'')
            return NULL;
        stops[1] = *text++;
        *size = strcspn(text, stops);
        if (text[*size] != stops[1])
            return NULL;
        if (key_size == name_size && memcmp(key, name, name_size) == 0)
            return text;
        text += *size + 1;
    }
}

static uint64_t attribute_count(const char *text, const char *name, uint64_t otherwise)
{
    size_t size = 0;
    const char *value = attribute(text, name, &size);

    return number_in(value, size, otherwise);
}

static double attribute_length(const char *pixels, const char *name, const char *unit_name)
{
    size_t size, unit_size;
    const char *value = attribute(pixels, name, &size);
    const char *unit = attribute(pixels, unit_name, &unit_size);

    if (!value)
        return 0;
    /* The unit is micrometres unless given. */
    return positive(strtod(value, NULL)) * (unit ? unit_in_mm(unit, unit_size) : 1e-3);
}

static void parse_order(const char *pixels, struct gf_tiff_stack *s)
{
    size_t size;
    const char *order = attribute(pixels, "DimensionOrder", &size);
    uint64_t step = 1;

    if (!order || size != 5)
        order = "XYCZT";
    for (size_t i = 2; i < 5; i++) {
        uint64_t *to = order[i] == 'Z' ? &s->step_z : order[i] == 'C' ? &s->step_c : &s->step_t;
        *to = step;
        step *= order[i] == 'Z' ? s->z : order[i] == 'C' ? s->c : s->t;
    }
}

/* Planes in other files, and planes on other pages than their order says. */
static void parse_planes(const char *text, struct gf_tiff_stack *s)
{
    const char *data = element(text, "TiffData"), *file = element(text, "UUID");
    const char *first_name = NULL;
    size_t first_size = 0;

    for (; data; data = element(data, "TiffData")) {
        size_t size;
        uint64_t plane = attribute_count(data, "FirstZ", 0) * s->step_z +
                         attribute_count(data, "FirstC", 0) * s->step_c +
                         attribute_count(data, "FirstT", 0) * s->step_t;
        if (attribute(data, "IFD", &size) && attribute_count(data, "IFD", plane) != plane)
            s->in_order = false;
    }
    for (; file; file = element(file, "UUID")) {
        size_t size;
        const char *name = attribute(file, "FileName", &size);
        if (name && !first_name) {
            first_name = name;
            first_size = size;
        } else if (name && (size != first_size || memcmp(name, first_name, size) != 0)) {
            s->other_files++;
        }
    }
}

static void parse_ome(const char *text, uint32_t samples, struct gf_tiff_stack *s)
{
    const char *pixels = element(text, "Pixels");

    if (!pixels)
        return;
    s->kind = GF_TIFF_OME;
    s->z = gf_max(attribute_count(pixels, "SizeZ", 1), 1);
    s->c = gf_max(attribute_count(pixels, "SizeC", 1), 1);
    s->t = gf_max(attribute_count(pixels, "SizeT", 1), 1);
    if (samples > 0 && s->c % samples == 0)
        s->c /= samples;
    s->spacing[0] = attribute_length(pixels, "PhysicalSizeX", "PhysicalSizeXUnit");
    s->spacing[1] = attribute_length(pixels, "PhysicalSizeY", "PhysicalSizeYUnit");
    s->spacing[2] = attribute_length(pixels, "PhysicalSizeZ", "PhysicalSizeZUnit");
    parse_order(pixels, s);
    parse_planes(pixels, s);
    if (element(pixels, "Pixels"))
        s->in_order = false; /* several images in one file */
}

void gf_tiff_stack_parse(const char *description, uint32_t samples, struct gf_tiff_stack *stack)
{
    *stack = (struct gf_tiff_stack){.z = 1, .c = 1, .t = 1, .step_z = 1, .step_c = 1,
                                    .step_t = 1, .in_order = true};
    if (!description)
        return;
    if (strncmp(description, "ImageJ=", 7) == 0)
        parse_imagej(description, stack);
    else if (description[0] == '<' && element(description, "OME"))
        parse_ome(description, samples, stack);
}

/* ---- writing ---- */

uint32_t gf_tiff_pages_per_plane(const struct gf_image *image)
{
    uint32_t pages = image->meta.tiff.known ? image->meta.tiff.pages_per_plane : 1;

    return pages > 1 && image->channels % pages == 0 ? pages : 1;
}

static void counts(struct gf_buffer *b, uint64_t z, uint64_t c, uint64_t t)
{
    gf_buffer_printf(b, "images=%llu\n", (unsigned long long)(z * c * t));
    if (c > 1)
        gf_buffer_printf(b, "channels=%llu\n", (unsigned long long)c);
    if (z > 1)
        gf_buffer_printf(b, "slices=%llu\n", (unsigned long long)z);
    if (t > 1)
        gf_buffer_printf(b, "frames=%llu\n", (unsigned long long)t);
}

static void spacing_lines(struct gf_buffer *b, const struct gf_image *image, double unit)
{
    char number[GF_NUMBER_TEXT];

    if (image->meta.spacing[2] > 0)
        gf_buffer_printf(b, "spacing=%s\n",
                         gf_format_double(number, image->meta.spacing[2] / unit));
}

/* The kept ImageJ lines of `text`, with the counts and the spacing of now. */
static void describe_imagej(struct gf_buffer *b, const struct gf_image *image, const char *text,
                            uint64_t t, struct gf_tiff_stack *s)
{
    static const char *const ours[] = {"images=", "channels=", "slices=", "frames=", "spacing=",
                                       "unit="};
    const char *all = text;
    bool known = image->meta.spacing[0] > 0 || image->meta.spacing[2] > 0;
    bool first = true, set_unit = s->unit == 0 && known;
    size_t size;
    const char *unit = line_value(text, "unit", &size);
    double step = s->spacing[2];

    while (*text) {
        size_t line = strcspn(text, "\n");
        bool skip = false;
        for (size_t i = 0; i < GF_COUNT(ours); i++)
            skip |= strncmp(text, ours[i], strlen(ours[i])) == 0;
        if (!skip) {
            gf_buffer_append(b, text, line);
            gf_buffer_text(b, "\n");
        }
        if (first) {
            if (image->depth == 1 && gf_tiff_pages_per_plane(image) == 1 &&
                t == s->z * s->c * s->t) /* channels, slices and frames filtered page by page */
                counts(b, s->z, s->c, s->t);
            else
                counts(b, image->depth, gf_tiff_pages_per_plane(image), t);
            if (set_unit) {
                gf_buffer_text(b, "unit=mm\n");
                s->unit = 1;
            } else if (unit) {
                gf_buffer_text(b, "unit=");
                gf_buffer_append(b, unit, size);
                gf_buffer_text(b, "\n");
            }
            unit = line_value(all, "spacing", &size);
            if (s->unit > 0 && fabs(image->meta.spacing[2] - step) > 1e-12 * step) {
                spacing_lines(b, image, s->unit);
            } else if (unit) {
                gf_buffer_text(b, "spacing=");
                gf_buffer_append(b, unit, size);
                gf_buffer_text(b, "\n");
            }
        }
        first = false;
        text += line + (text[line] == '\n');
    }
}

static const char *ome_type(enum gf_type type)
{
    static const char *const names[GF_TYPE_COUNT] = {
        [GF_U8] = "uint8", [GF_I8] = "int8", [GF_U16] = "uint16", [GF_I16] = "int16",
        [GF_U32] = "uint32", [GF_I32] = "int32", [GF_F32] = "float", [GF_F64] = "double",
    };
    return names[type];
}

/* The kept XML when it still is true but for type and size of a plane; false otherwise. */
static bool describe_ome(struct gf_buffer *b, const struct gf_image *image, const char *text,
                         uint64_t t, const struct gf_tiff_stack *s)
{
    uint32_t c = gf_tiff_pages_per_plane(image);
    const char *pixels = element(text, "Pixels"), *type = ome_type(image->type);
    char width[24], height[24];
    bool whole = image->depth == s->z && c == s->c && t == s->t && (c == 1 || s->step_c == 1);
    bool as_pages = image->depth == 1 && c == 1 && t == s->z * s->c * s->t;

    /* --spacing may have changed what the XML says. */
    for (int a = 0; a < 3; a++)
        if (image->meta.spacing[a] != s->spacing[a])
            return false;
    if (!type || s->other_files > 0 || !s->in_order || (!whole && !as_pages))
        return false;
    snprintf(width, sizeof width, "%llu", (unsigned long long)image->width);
    snprintf(height, sizeof height, "%llu", (unsigned long long)image->height);
    {
        const struct {
            const char *name, *value;
        } edits[] = {{"SizeX", width}, {"SizeY", height}, {"Type", type}};
        const char *from = text;
        for (;;) {
            const char *next = NULL, *value = NULL;
            size_t next_size = 0;
            for (size_t i = 0; i < GF_COUNT(edits); i++) {
                size_t size;
                const char *at = attribute(pixels, edits[i].name, &size);
                if (at && at >= from && (!next || at < next)) {
                    next = at;
                    next_size = size;
                    value = edits[i].value;
                }
            }
            if (!next)
                break;
            gf_buffer_append(b, from, (size_t)(next - from));
            gf_buffer_text(b, value);
            from = next + next_size;
        }
        gf_buffer_text(b, from);
    }
    return true;
}

enum gf_status gf_tiff_describe(const struct gf_writer *w, struct gf_tiff_words *words,
                                struct gf_error *e)
{
    const struct gf_image *image = &w->image;
    const char *old = gf_tiff_description(&image->meta);
    struct gf_buffer b = {0};
    struct gf_tiff_stack s;
    enum gf_status status;
    /* What makes volumes of pages stands on the first one, for all of them. */
    bool first = w->index == 0, done = false;

    gf_free(words->text);
    words->text = NULL;
    gf_tiff_stack_parse(old, image->channels / gf_tiff_pages_per_plane(image), &s);
    if (!words->imagej)
        words->unit = 0;
    if (words->imagej) {
        /* The first image's words hold for all; a page's own are kept beside them. */
        if (old && s.kind == GF_TIFF_PLAIN && image->depth == 1)
            gf_buffer_text(&b, old);
        done = true;
    } else if (s.kind == GF_TIFF_IMAGEJ && first) {
        describe_imagej(&b, image, old, w->images, &s);
        words->imagej = true;
        words->unit = s.unit;
        done = true;
    } else if (s.kind == GF_TIFF_OME) {
        done = describe_ome(&b, image, old, w->images, &s);
        if (!done && !b.failed && !words->said)
            gf_print_warning("%s: the OME-XML description does not fit the result and is left out",
                             w->name);
        words->said |= !done;
    }
    if (!done && first && (image->depth > 1 || image->meta.spacing[0] > 0)) {
        gf_buffer_text(&b, "ImageJ=1.53\n");
        if (image->depth > 1)
            counts(&b, image->depth, gf_tiff_pages_per_plane(image), w->images);
        if (image->depth > 1 && (w->images > 1 || gf_tiff_pages_per_plane(image) > 1))
            gf_buffer_text(&b, "hyperstack=true\n");
        if (image->meta.spacing[0] > 0 || image->meta.spacing[2] > 0) {
            gf_buffer_text(&b, "unit=mm\n");
            spacing_lines(&b, image, 1.0);
            words->unit = 1;
        }
        if (old && s.kind == GF_TIFF_PLAIN) /* ImageJ keeps lines that it does not know */
            gf_buffer_text(&b, old);
        words->imagej = true;
    } else if (!done && old && s.kind != GF_TIFF_OME) {
        gf_buffer_text(&b, old);
    }
    status = gf_buffer_status(&b, "the description", e);
    if (status != GF_OK) {
        gf_buffer_free(&b);
        return status;
    }
    words->text = b.data; /* gf_buffer's memory is gf_alloc's */
    return GF_OK;
}
