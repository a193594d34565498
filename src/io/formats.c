/* The list of formats, and the reader and writer objects over it. */
#include "../alloc.h"
#include "../geometry.h"
#include "../message.h"
#include "../text.h"
#include "../util.h"
#include "exif.h"
#include "format.h"
#include "raw.h"
#include "source.h"
#include "stack.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Sure signs first; TGA, which has none, last of those that are found by content. */
const struct gf_format *const gf_formats[] = {
    &gf_format_png, &gf_format_tiff, &gf_format_jpeg, &gf_format_psd, &gf_format_nifti,
    &gf_format_hdr, &gf_format_nrrd, &gf_format_metaimage, &gf_format_npy, &gf_format_pfm,
    &gf_format_pnm, &gf_format_bmp, &gf_format_tga, &gf_format_raw,
    NULL,
};

/* True when the extension, in any case, is one of the list. */
static bool extension_in_list(const char *extension, const char *list)
{
    char small[16] = "";
    for (size_t i = 0; extension[i]; i++) {
        char c = extension[i];
        if (i + 1 == sizeof small)
            return false;
        small[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return gf_word_in_list(small, list);
}

static const struct gf_format *by_extension(const char *extension)
{
    for (size_t i = 0; gf_formats[i]; i++)
        if (extension_in_list(extension, gf_formats[i]->extensions))
            return gf_formats[i];
    return NULL;
}

bool gf_name_gzipped(const char *name)
{
    size_t size = strlen(name);
    return size > 3 && strcasecmp(name + size - 3, ".gz") == 0;
}

const struct gf_format *gf_format_by_name(const char *name)
{
    const struct gf_format *format = NULL;
    char plain[16];

    if (*name == '.')
        name++;
    if (gf_name_gzipped(name) && strlen(name) < sizeof plain) {
        snprintf(plain, sizeof plain, "%.*s", (int)strlen(name) - 3, name);
        format = gf_format_by_name(plain);
        /* A format's name may be another one's extension: "hdr". */
        if (!format || !format->gzip)
            format = by_extension(plain);
        return format && format->gzip ? format : NULL;
    }
    for (size_t i = 0; gf_formats[i]; i++)
        if (strcasecmp(gf_formats[i]->name, name) == 0)
            return gf_formats[i];
    return by_extension(name);
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

const char *gf_path_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *end = base + strlen(base);
    const char *dot = strrchr(base, '.');

    if (dot && gf_name_gzipped(base) && dot > base) {
        const char *before = dot - 1;
        while (before > base && *before != '.')
            before--;
        if (*before == '.' && gf_format_by_name(before))
            dot = before;
    }
    return dot ? dot + 1 : end;
}

const struct gf_format *gf_format_by_path(const char *path)
{
    const char *extension = gf_path_extension(path);
    if (*extension == '\0')
        return NULL;
    return gf_name_gzipped(extension) ? gf_format_by_name(extension) : by_extension(extension);
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
        {0, 4, "NRRD", "an NRRD"},
        {0, 4, "PK\x03\x04", "a ZIP (such as NPZ)"},
        {0, 4, "\x89HDF", "an HDF5"},
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

static const struct gf_format *by_content(const uint8_t *head, size_t size)
{
    for (size_t i = 0; gf_formats[i]; i++)
        if (gf_formats[i]->probe && gf_formats[i]->probe(head, size))
            return gf_formats[i];
    return NULL;
}

static const struct gf_format *by_data_extension(const char *path)
{
    const char *extension = gf_path_extension(path);
    char plain[16];
    snprintf(plain, sizeof plain, "%.*s",
             (int)strlen(extension) - (gf_name_gzipped(extension) ? 3 : 0), extension);
    for (size_t i = 0; gf_formats[i]; i++)
        if (gf_formats[i]->data_extensions && *plain &&
            extension_in_list(plain, gf_formats[i]->data_extensions))
            return gf_formats[i];
    return NULL;
}

/* Samples may begin as gzip does: where the file is as long as they are, they are plain. */
static enum gf_status take_as_raw(struct gf_reader *r, bool gzipped)
{
    uint64_t bytes;
    r->format = &gf_format_raw;
    r->gzipped = gzipped &&
                 !(gf_raw_bytes(&r->options.raw, &bytes) && bytes == gf_in_size(r->in));
    return GF_OK;
}

/* Finds the format of an open reader. */
static enum gf_status find_format(struct gf_reader *r, const char *path, struct gf_error *e)
{
    uint8_t head[GF_PROBE_BYTES], inner[GF_PROBE_BYTES];
    size_t size = 0, inner_size = 0;
    bool gzipped;

    GF_TRY(gf_in_read_some(r->in, head, sizeof head, 0, &size, e));
    gzipped = size >= 3 && memcmp(head, "\x1f\x8b\x08", 3) == 0;
    if (r->options.raw.given)
        return take_as_raw(r, gzipped);
    r->format = by_content(head, size);
    if (r->format)
        return GF_OK;
    if (gf_raw_spec_from_name(path, &r->options.raw))
        return take_as_raw(r, gzipped);
    if (gzipped) {
        GF_TRY(gf_gunzip_head(r->in, inner, sizeof inner, &inner_size, e));
        r->format = by_content(inner, inner_size);
        r->gzipped = r->format && r->format->gzip;
        if (r->gzipped)
            return GF_OK;
    }
    r->format = by_data_extension(path);
    return r->format ? GF_OK : unknown_format(r->name, head, size, e);
}

static enum gf_status open_file(struct gf_reader *r, const char *path, struct gf_error *e)
{
    GF_TRY(gf_in_open(&r->in, path, e));
    r->name = gf_in_name(r->in);
    GF_TRY(find_format(r, path, e));
    return gf_name_error(r->name, r->format->open(r, e), e);
}

static enum gf_status open_reader(struct gf_reader **out, const char *path, bool stack,
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
    status = stack ? gf_name_error(path, gf_stack_open(r, path, e), e) : open_file(r, path, e);
    if (status != GF_OK)
        gf_reader_close(&r);
    *out = r;
    return status;
}

enum gf_status gf_reader_open(struct gf_reader **r, const char *path,
                              const struct gf_read_options *options, struct gf_error *e)
{
    return open_reader(r, path, gf_slices_wanted(path), options, e);
}

enum gf_status gf_reader_open_file(struct gf_reader **r, const char *path,
                                   const struct gf_read_options *options, struct gf_error *e)
{
    return open_reader(r, path, false, options, e);
}

enum gf_status gf_reader_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                struct gf_error *e)
{
    enum gf_status status;
    memset(image, 0, sizeof *image);
    r->selected = index;
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

enum gf_status gf_reader_samples(struct gf_reader *r, uint64_t first, uint64_t count,
                                 void *samples, struct gf_error *e)
{
    return gf_name_error(r->name, r->format->read_samples(r, first, count, samples, e), e);
}

static void close_state(struct gf_reader *r)
{
    if (r->format && r->format->close)
        r->format->close(r);
    else
        gf_free(r->state);
    r->state = NULL;
}

enum gf_status gf_reader_restart(struct gf_reader *r, const struct gf_image *image,
                                 struct gf_error *e)
{
    struct gf_image again;
    enum gf_status status;
    close_state(r);
    GF_TRY(gf_name_error(r->name, r->format->open(r, e), e));
    status = gf_reader_select(r, r->selected, &again, e);
    if (status != GF_OK)
        return status;
    gf_meta_free(&again.meta);
    return gf_same_shape(&again, image)
               ? GF_OK : gf_fail(e, GF_EINPUT, "%s: changed while it was read", r->name);
}

enum gf_status gf_reader_finish(struct gf_reader *r, struct gf_error *e)
{
    if (r->format->finish)
        GF_TRY(gf_name_error(r->name, r->format->finish(r, e), e));
    return r->in ? gf_in_unchanged(r->in, e) : GF_OK;
}

void gf_reader_close(struct gf_reader **pointer)
{
    struct gf_reader *r = *pointer;
    if (!r)
        return;
    close_state(r);
    gf_in_close(&r->in);
    gf_free(r);
    *pointer = NULL;
}

/* ---- writer ---- */

static void add_words(char *list, size_t room, const char *words)
{
    char word[16];
    int size;
    for (; *words; words += strspn(words, " ")) {
        size_t used = strlen(list);
        size = snprintf(word, sizeof word, "%.*s", (int)strcspn(words, " "), words);
        words += size;
        if (!gf_word_in_list(word, list) && used + (size_t)size + 2 <= room)
            snprintf(list + used, room - used, "%s%s", used ? " " : "", word);
    }
}

const char *gf_compression_names(char *list, size_t room)
{
    snprintf(list, room, "%s", gf_tiff_compression_names());
    add_words(list, room, "none gzip");
    for (size_t i = 0; gf_formats[i]; i++)
        if (gf_formats[i]->compressions)
            add_words(list, room, gf_formats[i]->compressions);
    return list;
}

static bool asks_gzip(const struct gf_write_options *options)
{
    return options->compression && strcmp(options->compression, "gzip") == 0;
}

enum gf_status gf_compression_check(const struct gf_format *format, const char *path,
                                    const struct gf_write_options *options, struct gf_error *e)
{
    const char *asked = options->compression;
    const char *names = format == &gf_format_tiff ? gf_tiff_compression_names()
                        : format->gzip && !format->compressions ? "none gzip"
                                                                : format->compressions;
    const bool gzip = gf_name_gzipped(path) || options->gzip, streamed = strcmp(path, "-") == 0;

    if (!asked)
        return GF_OK;
    if (!names)
        return gf_fail(e, GF_EUSAGE, "%s: --compression is not for %s; --level sets the effort of "
                       "PNG", path, format->name);
    if (!gf_word_in_list(asked, names))
        return gf_fail(e, GF_EUSAGE, "%s: --compression '%s': %s has %s", path, asked, format->name,
                       names);
    /* Programs tell a file that is deflated as a whole by its name. */
    if (format->gzip && !format->compressions && !streamed && gzip != asks_gzip(options))
        return gf_fail(e, GF_EUSAGE, gzip ? "%s: --compression %s, and the name says gzip; leave "
                       "out one of them" : "%s: --compression %s needs a name that ends in .gz",
                       path, asked);
    return GF_OK;
}

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
    w->gzipped = format->gzip &&
                 (w->options.gzip || gf_name_gzipped(path) ||
                  (!format->compressions && asks_gzip(&w->options)));
    if (out_options)
        opening = *out_options;
    w->out_options = opening;
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

/* Says in one line what of the image's metadata is not in the file: where a volume lies, whoever
 * measures in it has to know; the rest is a note. */
static void note_what_is_left_out(const struct gf_writer *w)
{
    const struct gf_meta *m = &w->image.meta;
    const struct gf_geometry *g = &m->geometry;
    const unsigned keeps = w->format->keeps;
    const bool placed = g->known && (g->origin[0] != 0 || g->origin[1] != 0 || g->origin[2] != 0);
    const bool turned = g->known && (g->space != GF_SPACE_UNKNOWN || !gf_geometry_plain_axes(g));
    const struct {
        unsigned bit;
        bool present, matters;
        const char *name;
    } kinds[] = {
        {GF_KEEPS_ICC, m->icc.size > 0, false, "colour profile"},
        {GF_KEEPS_EXIF, m->exif.size > 0, false, "EXIF"},
        {GF_KEEPS_XMP, m->xmp.size > 0, false, "XMP"},
        {GF_KEEPS_RESOLUTION, m->resolution[0] > 0, false, "resolution"},
        {GF_KEEPS_SPACING, m->spacing[0] > 0 || m->spacing[2] > 0, w->image.depth > 1,
         "voxel size"},
        {GF_KEEPS_ORIGIN, placed, true, "origin"},
        {GF_KEEPS_DIRECTIONS, turned, true, "directions of the axes"},
        {GF_KEEPS_ORIENTATION, gf_meta_orientation(m) > 1, false, "orientation"},
        {GF_KEEPS_DESCRIPTION, m->description != NULL, false, "description"},
        /* sRGB is what is taken for granted where nothing is said. */
        {GF_KEEPS_GAMMA, (m->has_gamma || m->has_chroma) && !m->has_srgb, false,
         "gamma and primaries"},
    };
    struct gf_buffer list = {0};
    bool matters = false;

    for (size_t i = 0; i < GF_COUNT(kinds); i++)
        if (kinds[i].present && !(keeps & kinds[i].bit)) {
            gf_buffer_printf(&list, "%s%s", list.size ? ", " : "", kinds[i].name);
            matters |= kinds[i].matters;
        }
    for (size_t i = 0; i < m->text_count; i++)
        if (!(keeps & GF_KEEPS_TEXTS) ||
            (w->format->keeps_text && !w->format->keeps_text(m, &m->texts[i])))
            gf_buffer_printf(&list, "%stext '%s'", list.size ? ", " : "", m->texts[i].key);
    /* Without memory for a note there is none. */
    if (list.size > 0 && !list.failed)
        (matters ? gf_print_warning : gf_print_note)(
            "%s: left out, because %s does not hold it: %s", w->name, w->format->name, list.data);
    gf_buffer_free(&list);
}

enum gf_status gf_writer_begin(struct gf_writer *w, const struct gf_image *image,
                               struct gf_error *e)
{
    /* Asked before, when the plan was made; a format never sees what it cannot hold. */
    GF_TRY(w->format->accepts(image, w->images, w->name, e));
    w->image = *image;
    w->rows = 0;
    if (w->index == 0 && !w->options.quiet)
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
    /* Without a file of its own it is a stack, whose slices have their names by now. */
    if (status == GF_OK && w->out)
        status = w->second ? gf_out_commit_both(&w->second, &w->out, e)
                           : gf_out_commit(&w->out, e);
    gf_writer_abort(pointer);
    return status;
}

enum gf_status gf_writer_park(struct gf_writer **pointer, struct gf_parked **parked,
                              struct gf_error *e)
{
    struct gf_writer *w = *pointer;
    enum gf_status status = GF_OK;
    if (w->format->complete)
        status = gf_name_error(w->name, w->format->complete(w, e), e);
    if (status == GF_OK)
        status = gf_out_park(&w->out, parked, e);
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
    gf_out_abort(&w->second);
    gf_out_abort(&w->out);
    gf_free(w);
    *pointer = NULL;
}
