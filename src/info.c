#include "info.h"

#include "geometry.h"
#include "message.h"
#include "output.h"
#include "signals.h"

#include <string.h>

static const char *const color_names[] = {
    [GF_GRAY] = "gray", [GF_RGB] = "rgb", [GF_CMYK] = "cmyk", [GF_OTHER] = "other"};

static const char *alpha_name(const struct gf_image *image)
{
    return image->alpha < 0 ? "none" : image->alpha_associated ? "associated" : "unassociated";
}

static const char *unit_name(int unit)
{
    static const char *const names[] = {"none", "metre", "inch", "cm"};
    return unit >= 0 && unit < 4 ? names[unit] : "none";
}

/* ---- text ---- */

/* The first line of a text that came from the file, not more than SHOWN bytes of it. */
#define SHOWN 200
static void first_line(struct gf_buffer *t, const char *text)
{
    size_t length = strcspn(text, "\r\n");
    bool cut = text[length] != '\0' || length > SHOWN;
    gf_buffer_escaped(t, text, length > SHOWN ? SHOWN : length);
    gf_buffer_text(t, cut ? " ...\n" : "\n");
}

/* For people: a spacing that went through a TIFF's fractions is not shown to its last digit. */
static void text_spacing(struct gf_buffer *t, const double spacing[3])
{
    double largest = 0;
    int axes = spacing[2] > 0 ? 3 : 2;
    for (int a = 0; a < axes; a++)
        largest = spacing[a] > largest ? spacing[a] : largest;
    if (!(largest > 0))
        return;
    gf_buffer_text(t, "  spacing      ");
    for (int a = 0; a < axes; a++)
        gf_buffer_printf(t, "%s%.7g", a ? " x " : "", spacing[a] * (largest < 0.1 ? 1e3 : 1));
    gf_buffer_text(t, largest < 0.1 ? " um\n" : " mm\n");
}

/* One of the cosines of the directions, without the -0 and the dust of single precision. */
static double cosine(const struct gf_meta *m, int axis, int along)
{
    double share = m->geometry.step[axis][along] / m->spacing[axis];
    return share > -5e-8 && share < 5e-8 ? 0 : share;
}

static void text_geometry(struct gf_buffer *t, const struct gf_meta *m)
{
    const struct gf_geometry *g = &m->geometry;
    char code[4];
    if (!g->known)
        return;
    gf_buffer_printf(t, "  origin       %.9g, %.9g, %.9g mm\n", g->origin[0], g->origin[1],
                     g->origin[2]);
    gf_buffer_text(t, "  directions   ");
    for (int a = 0; a < 3; a++)
        gf_buffer_printf(t, "%s%c %.7g %.7g %.7g", a ? ", " : "", "xyz"[a], cosine(m, a, 0),
                         cosine(m, a, 1), cosine(m, a, 2));
    gf_geometry_orientation(g, code);
    gf_buffer_text(t, "\n");
    if (*code)
        gf_buffer_printf(t, "  orientation  %s\n", code);
}

/* How the samples are packed; NULL for not at all. */
static const char *compression_name(const struct gf_reader *r, const struct gf_image *image)
{
    if (image->meta.tiff.known)
        return gf_tiff_compression_name(image->meta.tiff.compression);
    return r->compression;
}

static void text_image(struct gf_buffer *t, const struct gf_reader *r,
                       const struct gf_image *image)
{
    const struct gf_meta *m = &image->meta;
    gf_buffer_printf(t, "  size         %llu x %llu", (unsigned long long)image->width,
                     (unsigned long long)image->height);
    if (image->depth > 1)
        gf_buffer_printf(t, " x %llu", (unsigned long long)image->depth);
    gf_buffer_printf(t, "\n  type         %s\n", gf_type_name(image->type));
    gf_buffer_printf(t, "  channels     %u (%s%s)\n", image->channels, color_names[image->color],
                     image->alpha < 0 ? "" : image->alpha_associated ? ", alpha multiplied in"
                                                                     : ", alpha");
    gf_buffer_printf(t, "  filtered in  %s\n", gf_is_volume(image) ? "3D" : "2D");
    text_spacing(t, m->spacing);
    text_geometry(t, m);
    if (r->compression)
        gf_buffer_printf(t, "  compression  %s\n", r->compression);
    if (m->resolution[0] > 0)
        gf_buffer_printf(t, "  resolution   %.7g x %.7g per %s\n", m->resolution[0],
                         m->resolution[1],
                         m->resolution_unit ? unit_name(m->resolution_unit) : "unit not given");
    if (m->tiff.known)
        gf_buffer_printf(t, "  layout       %s, compression %s, %s\n",
                         m->tiff.tile_width ? "tiles" : "strips",
                         gf_tiff_compression_name(m->tiff.compression),
                         m->tiff.bigtiff ? "BigTIFF" : "TIFF");
    if (m->icc.size)
        gf_buffer_printf(t, "  icc          %zu bytes\n", m->icc.size);
    if (m->exif.size)
        gf_buffer_printf(t, "  exif         %zu bytes\n", m->exif.size);
    if (m->xmp.size)
        gf_buffer_printf(t, "  xmp          %zu bytes\n", m->xmp.size);
    if (m->description) {
        gf_buffer_text(t, "  description  ");
        first_line(t, m->description);
    }
    for (size_t i = 0; i < m->text_count; i++) {
        gf_buffer_text(t, "  text         ");
        gf_buffer_escaped(t, m->texts[i].key, strlen(m->texts[i].key));
        gf_buffer_text(t, ": ");
        first_line(t, m->texts[i].value);
    }
}

/* Appends "image 3" or "images 3 to 9" and their one description. */
static void text_run(struct gf_buffer *t, uint64_t first, uint64_t last, uint64_t images,
                     struct gf_buffer *block)
{
    if (images > 1 && first == last)
        gf_buffer_printf(t, "  image %llu\n", (unsigned long long)first + 1);
    else if (images > 1)
        gf_buffer_printf(t, "  images %llu to %llu\n", (unsigned long long)first + 1,
                         (unsigned long long)last + 1);
    gf_buffer_append(t, block->data, block->size);
    t->failed |= block->failed;
    gf_buffer_free(block);
}

static bool same_text(const struct gf_buffer *a, const struct gf_buffer *b)
{
    return a->size == b->size && a->size > 0 && memcmp(a->data, b->data, a->size) == 0;
}

/* ---- JSON ---- */

static void json_number_or_null(struct gf_buffer *t, double value)
{
    char number[GF_NUMBER_TEXT];
    gf_buffer_text(t, value > 0 ? gf_format_double(number, value) : "null");
}

/* The members "origin_mm", "directions" and "orientation". */
static void json_geometry(struct gf_buffer *t, const struct gf_meta *m)
{
    const struct gf_geometry *g = &m->geometry;
    char number[GF_NUMBER_TEXT], code[4];
    if (!g->known) {
        gf_buffer_text(t, ", \"origin_mm\": null, \"directions\": null, \"orientation\": null");
        return;
    }
    for (int a = 0; a < 3; a++)
        gf_buffer_printf(t, "%s%s", a ? ", " : ", \"origin_mm\": [",
                         gf_format_double(number, g->origin[a]));
    gf_buffer_text(t, "], \"directions\": [");
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            gf_buffer_printf(t, "%s%s%s", b ? ", " : a ? ", [" : "[",
                             gf_format_double(number, g->step[a][b] / m->spacing[a] + 0.0),
                             b == 2 ? "]" : "");
    gf_geometry_orientation(g, code);
    gf_buffer_text(t, "], \"orientation\": ");
    if (*code)
        gf_buffer_json(t, code);
    else
        gf_buffer_text(t, "null");
}

static void json_image(struct gf_buffer *t, const struct gf_reader *r,
                       const struct gf_image *image)
{
    const struct gf_meta *m = &image->meta;
    gf_buffer_printf(t, "{\"width\": %llu, \"height\": %llu, \"depth\": %llu, \"channels\": %u, "
                     "\"type\": \"%s\", \"color\": \"%s\", \"alpha\": \"%s\", \"dimensions\": %d",
                     (unsigned long long)image->width, (unsigned long long)image->height,
                     (unsigned long long)image->depth, image->channels, gf_type_name(image->type),
                     color_names[image->color], alpha_name(image),
                     gf_is_volume(image) ? 3 : 2);
    gf_buffer_text(t, ", \"compression\": ");
    if (compression_name(r, image))
        gf_buffer_json(t, compression_name(r, image));
    else
        gf_buffer_text(t, "null");
    gf_buffer_text(t, ", \"spacing_mm\": [");
    for (int a = 0; a < 3; a++) {
        json_number_or_null(t, m->spacing[a]);
        gf_buffer_text(t, a < 2 ? ", " : "], \"resolution\": [");
    }
    json_number_or_null(t, m->resolution[0]);
    gf_buffer_text(t, ", ");
    json_number_or_null(t, m->resolution[1]);
    gf_buffer_text(t, "]");
    json_geometry(t, m);
    gf_buffer_printf(t, ", \"resolution_unit\": \"%s\", \"icc_bytes\": %zu, "
                     "\"exif_bytes\": %zu, \"xmp_bytes\": %zu, \"description\": ",
                     unit_name(m->resolution_unit), m->icc.size, m->exif.size, m->xmp.size);
    if (m->description)
        gf_buffer_json(t, m->description);
    else
        gf_buffer_text(t, "null");
    gf_buffer_text(t, ", \"texts\": [");
    for (size_t i = 0; i < m->text_count; i++) {
        gf_buffer_text(t, i ? ", {\"key\": " : "{\"key\": ");
        gf_buffer_json(t, m->texts[i].key);
        gf_buffer_text(t, ", \"value\": ");
        gf_buffer_json(t, m->texts[i].value);
        gf_buffer_text(t, "}");
    }
    gf_buffer_text(t, "]}");
}

static enum gf_status info_file(const struct gf_request *r, const char *path, struct gf_buffer *t,
                                bool first, struct gf_error *e)
{
    struct gf_reader *reader = NULL;
    struct gf_buffer run = {0}; /* what the images from run_first on have in common */
    uint64_t run_first = 0, i;
    size_t start = t->size;
    enum gf_status status = gf_reader_open(&reader, path, &r->read, e);
    if (status == GF_OK && r->json) {
        gf_buffer_text(t, first ? "\n  {\"file\": " : ",\n  {\"file\": ");
        gf_buffer_json(t, reader->name);
        gf_buffer_printf(t, ", \"format\": \"%s\", \"images\": [", reader->format->name);
    } else if (status == GF_OK) {
        gf_buffer_escaped(t, reader->name, strlen(reader->name));
        gf_buffer_printf(t, "\n  format       %s", reader->format->name);
        gf_buffer_printf(t, reader->images > 1 ? ", %llu images\n" : "\n",
                         (unsigned long long)reader->images);
    }
    for (i = 0; status == GF_OK && i < reader->images; i++) {
        struct gf_image image = {.alpha = -1};
        struct gf_buffer one = {0};
        status = gf_reader_select(reader, i, &image, e);
        gf_meta_override_spacing(&image.meta, r->spacing);
        if (status == GF_OK && r->json) {
            gf_buffer_text(t, i ? ", " : "");
            json_image(t, reader, &image);
        } else if (status == GF_OK) {
            text_image(&one, reader, &image);
            if (i > 0 && same_text(&run, &one)) {
                gf_buffer_free(&one);
            } else {
                if (i > 0)
                    text_run(t, run_first, i - 1, reader->images, &run);
                run_first = i;
                run = one;
            }
        }
        gf_meta_free(&image.meta);
        if (gf_signal_pending())
            status = GF_ESIGNAL;
    }
    if (status == GF_OK && r->json)
        gf_buffer_text(t, "]}");
    else if (status == GF_OK)
        text_run(t, run_first, i - 1, reader->images, &run);
    gf_buffer_free(&run);
    gf_reader_close(&reader);
    if (status != GF_OK && t->data) {
        /* A file that failed half-way leaves no half of a record. */
        t->size = start;
        t->data[start] = '\0';
    }
    return status;
}

enum gf_status gf_info_run(const struct gf_request *r, struct gf_error *e)
{
    struct gf_buffer text = {0};
    size_t failed = 0;
    enum gf_status worst = GF_OK;
    if (r->json)
        gf_buffer_text(&text, "[");
    for (size_t i = 0; i < r->operand_count; i++) {
        enum gf_status status = info_file(r, r->operands[i], &text, i == failed, e);
        if (status == GF_OK)
            continue;
        if (status == GF_ESIGNAL || r->operand_count == 1) {
            gf_buffer_free(&text);
            return status;
        }
        gf_print_error("%s", e->text);
        failed++;
        worst = GF_EBATCH;
    }
    if (r->json)
        gf_buffer_text(&text, "\n]\n");
    GF_TRY(gf_output_text(&text, false, e));
    if (worst != GF_OK)
        return gf_fail(e, worst, "%zu of %zu files failed", failed, r->operand_count);
    return GF_OK;
}
