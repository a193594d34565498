/* The list of formats, and the reader and writer objects over it. */
#include "../alloc.h"
#include "../message.h"
#include "../text.h"
#include "../util.h"
#include "exif.h"
#include "format.h"
#include "raw.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Sure signs first; TGA, which has none, last of those that are found by content. */
const struct gf_format *const gf_formats[] = {
    &gf_format_png, &gf_format_tiff, &gf_format_jpeg, &gf_format_psd, &gf_format_hdr,
    &gf_format_pfm, &gf_format_pnm,  &gf_format_bmp,  &gf_format_tga, &gf_format_raw,
    NULL,
};

/* True when the format has the extension, in any case. */
static bool has_extension(const struct gf_format *format, const char *extension)
{
    char small[8] = "";
    for (size_t i = 0; extension[i]; i++) {
        char c = extension[i];
        if (i + 1 == sizeof small)
            return false;
        small[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return gf_word_in_list(small, format->extensions);
}

const struct gf_format *gf_format_by_name(const char *name)
{
    if (*name == '.')
        name++;
    for (size_t i = 0; gf_formats[i]; i++)
        if (strcasecmp(gf_formats[i]->name, name) == 0 || has_extension(gf_formats[i], name))
            return gf_formats[i];
    return NULL;
}

const char *gf_format_names(char *list, size_t room)
{
    size_t length = 0;
    list[0] = '\0';
    for (const struct gf_format *const *f = gf_formats; *f; f++)
        if ((*f)->create && length < room)
            length += (size_t)snprintf(list + length, room - length, "%s%s", length ? " " : "",
                                       (*f)->name);
    return list;
}

const struct gf_format *gf_format_by_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    if (!dot || dot[1] == '\0')
        return NULL;
    for (size_t i = 0; gf_formats[i]; i++)
        if (has_extension(gf_formats[i], dot + 1))
            return gf_formats[i];
    return NULL;
}

/* ---- reader ---- */

/* Kinds of files people have that are known by their first bytes and not read here. */
static const char *foreign_kind(const uint8_t *head, size_t size)
{
    static const struct {
        size_t at, length;
        const char *bytes, *kind;
    } kinds[] = {
        {0, 4, "GIF8", "a GIF"},           {8, 4, "WEBP", "a WebP"},
        {4, 8, "ftypavif", "an AVIF"},     {4, 8, "ftypheic", "a HEIC"},
        {0, 2, "\xff\x0a", "a JPEG XL"},   {4, 8, "JXL \r\n\x87\n", "a JPEG XL"},
        {4, 8, "jP  \r\n\x87\n", "a JPEG 2000"}, {0, 4, "\x76\x2f\x31\x01", "an OpenEXR"},
        {0, 2, "\x1f\x8b", "gzip-compressed"},   {0, 4, "%PDF", "a PDF"},
        {0, 4, "NRRD", "an NRRD"},         {344, 3, "n+1", "a NIfTI"},
        {0, 6, "\x93NUMPY", "an NPY"},     {0, 4, "\x89HDF", "an HDF5"},
    };
    for (size_t i = 0; i < GF_COUNT(kinds); i++)
        if (size >= kinds[i].at + kinds[i].length &&
            memcmp(head + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
            return kinds[i].kind;
    return NULL;
}

static enum gf_status unknown_format(const char *name, const uint8_t *head, size_t size,
                                     struct gf_error *e)
{
    const char *kind = foreign_kind(head, size);
    char bytes[3 * 8 + 1] = "", names[128] = "";
    size_t used = 0;

    for (size_t i = 0; i < gf_min(size, 8); i++)
        snprintf(bytes + 3 * i, sizeof bytes - 3 * i, "%02x ", head[i]);
    for (size_t i = 0; gf_formats[i] && used < sizeof names; i++)
        if (gf_formats[i]->probe)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "",
                                     gf_formats[i]->name);
    if (kind)
        return gf_fail(e, GF_EFEATURE, "%s: this is %s file, which cannot be read; known are: %s",
                       name, kind, names);
    return gf_fail(e, GF_EINPUT, "%s: unknown file type (it starts with %s); known are: %s; for "
                   "samples without a header give --raw WxH[xD]:TYPE", name,
                   size ? bytes : "nothing", names);
}

/* Finds the format of an open reader. */
static enum gf_status find_format(struct gf_reader *r, const char *path, struct gf_error *e)
{
    uint8_t head[GF_PROBE_BYTES];
    size_t size = 0;

    if (r->options.raw.given) {
        r->format = &gf_format_raw;
        return GF_OK;
    }
    GF_TRY(gf_in_read_some(r->in, head, sizeof head, 0, &size, e));
    for (size_t i = 0; gf_formats[i] && !r->format; i++)
        if (gf_formats[i]->probe && gf_formats[i]->probe(head, size))
            r->format = gf_formats[i];
    if (r->format)
        return GF_OK;
    if (gf_raw_spec_from_name(path, &r->options.raw)) {
        r->format = &gf_format_raw;
        return GF_OK;
    }
    return unknown_format(r->name, head, size, e);
}

enum gf_status gf_reader_open(struct gf_reader **out, const char *path,
                              const struct gf_read_options *options, struct gf_error *e)
{
    struct gf_reader *r;
    void *block = NULL;
    enum gf_status status;

    *out = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof *r, "reading", e));
    r = memset(block, 0, sizeof *r);
    if (options)
        r->options = *options;
    status = gf_in_open(&r->in, path, e);
    if (status == GF_OK) {
        r->name = gf_in_name(r->in);
        status = find_format(r, path, e);
    }
    if (status == GF_OK)
        status = gf_name_error(r->name, r->format->open(r, e), e);
    if (status != GF_OK)
        gf_reader_close(&r);
    *out = r;
    return status;
}

enum gf_status gf_reader_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                struct gf_error *e)
{
    enum gf_status status;
    memset(image, 0, sizeof *image);
    status = gf_name_error(r->name, r->format->select(r, index, image, e), e);
    if (status != GF_OK)
        gf_meta_free(&image->meta);
    return status;
}

enum gf_status gf_reader_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                              struct gf_error *e)
{
    return gf_name_error(r->name, r->format->read_rows(r, first, count, rows, e), e);
}

enum gf_status gf_reader_finish(struct gf_reader *r, struct gf_error *e)
{
    if (r->format->finish)
        GF_TRY(gf_name_error(r->name, r->format->finish(r, e), e));
    return gf_in_unchanged(r->in, e);
}

void gf_reader_close(struct gf_reader **pointer)
{
    struct gf_reader *r = *pointer;
    if (!r)
        return;
    if (r->format && r->format->close)
        r->format->close(r);
    else
        gf_free(r->state);
    gf_in_close(&r->in);
    gf_free(r);
    *pointer = NULL;
}

/* ---- writer ---- */

enum gf_status gf_writer_open(struct gf_writer **out, const char *path,
                              const struct gf_format *format, uint64_t images, uint64_t bytes,
                              const struct gf_write_options *options,
                              const struct gf_out_options *out_options, struct gf_error *e)
{
    struct gf_out_options opening = {0};
    struct gf_writer *w;
    void *block = NULL;
    enum gf_status status;

    *out = NULL;
    if (!format->create)
        return gf_fail(e, GF_EFEATURE, "%s: %s can only be read; write a .png, .tif or .ppm", path,
                       format->name);
    GF_TRY(gf_allocate(&block, 1, sizeof *w, "writing", e));
    w = memset(block, 0, sizeof *w);
    w->format = format;
    w->images = images;
    w->bytes = bytes;
    w->options.level = -1;
    if (options)
        w->options = *options;
    if (out_options)
        opening = *out_options;
    opening.seekable = opening.seekable || format->seekable_output;
    status = gf_out_open(&w->out, path, &opening, e);
    if (status == GF_OK) {
        w->name = gf_out_name(w->out);
        status = gf_name_error(w->name, format->create(w, e), e);
    }
    if (status != GF_OK)
        gf_writer_abort(&w);
    *out = w;
    return status;
}

/* Names in a note what of the image's metadata is not in the file. */
static void note_what_is_left_out(const struct gf_writer *w)
{
    const struct gf_meta *m = &w->image.meta;
    const unsigned keeps = w->format->keeps;
    const struct {
        unsigned bit;
        bool present;
        const char *name;
    } kinds[] = {
        {GF_KEEPS_ICC, m->icc.size > 0, "colour profile"},
        {GF_KEEPS_EXIF, m->exif.size > 0, "EXIF"},
        {GF_KEEPS_XMP, m->xmp.size > 0, "XMP"},
        {GF_KEEPS_RESOLUTION, m->resolution[0] > 0, "resolution"},
        {GF_KEEPS_SPACING, m->spacing[0] > 0 || m->spacing[2] > 0, "voxel size"},
        {GF_KEEPS_ORIENTATION, gf_meta_orientation(m) > 1, "orientation"},
        {GF_KEEPS_DESCRIPTION, m->description != NULL, "description"},
        /* sRGB is what is taken for granted where nothing is said. */
        {GF_KEEPS_GAMMA, (m->has_gamma || m->has_chroma) && !m->has_srgb, "gamma and primaries"},
    };
    struct gf_buffer list = {0};

    for (size_t i = 0; i < GF_COUNT(kinds); i++)
        if (kinds[i].present && !(keeps & kinds[i].bit))
            gf_buffer_printf(&list, "%s%s", list.size ? ", " : "", kinds[i].name);
    for (size_t i = 0; i < m->text_count; i++)
        if (!(keeps & GF_KEEPS_TEXTS) ||
            (w->format->keeps_text && !w->format->keeps_text(m, &m->texts[i])))
            gf_buffer_printf(&list, "%stext '%s'", list.size ? ", " : "", m->texts[i].key);
    /* Without memory for a note there is none. */
    if (list.size > 0 && !list.failed)
        gf_print_note("%s: left out, because %s does not hold it: %s", w->name, w->format->name,
                      list.data);
    gf_buffer_free(&list);
}

enum gf_status gf_writer_begin(struct gf_writer *w, const struct gf_image *image,
                               struct gf_error *e)
{
    /* Asked before, when the plan was made; a format never sees what it cannot hold. */
    GF_TRY(w->format->accepts(image, w->images, w->name, e));
    w->image = *image;
    w->rows = 0;
    if (w->index == 0)
        note_what_is_left_out(w);
    return gf_name_error(w->name, w->format->begin(w, e), e);
}

static enum gf_status wrong_rows(const struct gf_writer *w, uint64_t rows, struct gf_error *e)
{
    return gf_fail(e, GF_EOUTPUT, "%s: %llu rows were written where %llu are needed", w->name,
                   (unsigned long long)rows,
                   (unsigned long long)(w->image.height * w->image.depth));
}

enum gf_status gf_writer_rows(struct gf_writer *w, const void *rows, uint64_t count,
                              struct gf_error *e)
{
    if (count > w->image.height * w->image.depth - w->rows)
        return wrong_rows(w, w->rows + count, e);
    GF_TRY(gf_name_error(w->name, w->format->write_rows(w, rows, count, e), e));
    w->rows += count;
    return GF_OK;
}

enum gf_status gf_writer_end(struct gf_writer *w, struct gf_error *e)
{
    if (w->rows != w->image.height * w->image.depth)
        return wrong_rows(w, w->rows, e);
    if (w->format->end)
        GF_TRY(gf_name_error(w->name, w->format->end(w, e), e));
    w->index++;
    return GF_OK;
}

enum gf_status gf_writer_commit(struct gf_writer **pointer, struct gf_error *e)
{
    struct gf_writer *w = *pointer;
    enum gf_status status = GF_OK;
    if (w->format->complete)
        status = gf_name_error(w->name, w->format->complete(w, e), e);
    if (status == GF_OK)
        status = gf_out_commit(&w->out, e);
    gf_writer_abort(pointer);
    return status;
}

void gf_writer_abort(struct gf_writer **pointer)
{
    struct gf_writer *w = *pointer;
    if (!w)
        return;
    if (w->format->discard)
        w->format->discard(w);
    else
        gf_free(w->state);
    gf_out_abort(&w->out);
    gf_free(w);
    *pointer = NULL;
}
