/* NRRD: a header of text, and samples behind it or in other files. */
#include "nrrd.h"

#include "../alloc.h"
#include "../message.h"
#include "../utf8.h"
#include "../util.h"
#include "parts.h"
#include "text_header.h"
#include "text_samples.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

static const struct gf_format text_format, parts_format;

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "NRRD000", 7) == 0;
}

/* ---- reading ---- */

/* An empty line ends the header, or the end of a file with a header alone. */
static size_t header_end(const char *text, size_t size, bool all)
{
    for (const char *s = text; (s = memchr(s, '\n', size - (size_t)(s - text))) != NULL; s++) {
        if (s[1] == '\n')
            return (size_t)(s + 2 - text);
        if (s[1] == '\r' && s[2] == '\n')
            return (size_t)(s + 3 - text);
    }
    return all ? size : 0;
}

/* A header, and what becomes of it. */
struct opening {
    char *text;
    size_t size;
    struct gf_nrrd h;
    struct gf_image image;
    uint64_t images;
    struct gf_in *data;         /* the one file of detached samples */
    struct gf_name_list names;  /* of several */
};

static void free_opening(struct opening *o)
{
    gf_free(o->text);
    gf_meta_free(&o->image.meta);
    gf_in_close(&o->data);
    gf_name_list_free(&o->names);
}

/* "\n" and "\\" of a value, in place. */
static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++) {
        if (*s == '\\' && (s[1] == 'n' || s[1] == '\\'))
            *to++ = *++s == 'n' ? '\n' : '\\';
        else
            *to++ = *s;
    }
    *to = '\0';
}

static enum gf_status take_key(struct gf_meta *meta, const char *line, const char *value,
                               struct gf_error *e)
{
    char *key = NULL, *text = NULL;
    enum gf_status status = gf_utf8_from_bytes(line, (size_t)(value - 2 - line), &key, e);
    if (status == GF_OK)
        status = gf_utf8_from_bytes(value, strlen(value), &text, e);
    if (status == GF_OK) {
        unescape(text);
        status = gf_meta_add_text(meta, key, text, e);
    }
    gf_free(key);
    gf_free(text);
    return status;
}

static enum gf_status take_keys(struct opening *o, struct gf_error *e)
{
    for (const char *line = o->text; line < o->h.end; line += strlen(line) + 1) {
        enum gf_nrrd_field field;
        const char *value;
        if (gf_nrrd_line(line, &field, &value) == GF_NRRD_KEY)
            GF_TRY(take_key(&o->image.meta, line, value, e));
    }
    return GF_OK;
}

static enum gf_status take_header(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    struct gf_meta *meta = &o->image.meta;

    GF_TRY(gf_text_header_read(r, header_end, "the empty line behind it", &o->text, &o->size, e));
    GF_TRY(gf_blob_set(&meta->native, o->text, o->size, e));
    meta->native_format = "nrrd";
    GF_TRY(gf_nrrd_parse(&o->h, o->text, r->name, e));
    GF_TRY(gf_nrrd_image(&o->h, &o->image, &o->images, e));
    GF_TRY(gf_nrrd_geometry(&o->h, meta, e));
    if (!gf_nrrd_units_known(&o->h))
        gf_print_warning("%s: its units are no lengths; taken for mm", r->name);
    if (o->h.directed && !meta->geometry.known)
        gf_print_warning("%s: its space directions are no vectors with a length; left out",
                         r->name);
    return take_keys(o, e);
}

/* The lines after "data file: LIST". */
static enum gf_status take_list(struct opening *o, const struct gf_reader *r, struct gf_error *e)
{
    char *rest = o->h.names, *line;
    while ((line = gf_next_line(&rest)) != NULL && *gf_trim(line))
        GF_TRY(gf_name_list_add(&o->names, gf_trim(line), e));
    if (o->names.count == 0)
        return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: no names of files follow 'data "
                       "file: LIST'", r->name);
    return GF_OK;
}

static unsigned count_words(const char *s)
{
    unsigned count = 0;
    while (*(s += strspn(s, " \t"))) {
        s += strcspn(s, " \t");
        count++;
    }
    return count;
}

/* How many axes each of several files has, when the header says it: together they must make up the
 * samples. */
static enum gf_status check_share(const struct opening *o, const char *text, struct gf_error *e)
{
    const struct gf_nrrd *h = &o->h;
    uint64_t axes, files = 1;

    text += strspn(text, " \t");
    if (*text == '\0')
        axes = h->dimension > 1 ? h->dimension - 1 : 1;
    else if (!gf_parse_u64(text, &axes) || axes < 1 || axes > h->dimension)
        return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: '%.40s' is no number of axes of "
                       "each data file", h->name, text);
    if (axes == h->dimension)
        return GF_OK;
    for (uint64_t a = axes; a < h->dimension; a++)
        if (!gf_mul(files, h->sizes[a], &files))
            files = UINT64_MAX;
    if (files == o->names.count || (*text == '\0' && h->sizes[axes] % o->names.count == 0))
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: damaged NRRD header: it names %zu data files, its sizes need "
                   "%llu", h->name, o->names.count, (unsigned long long)files);
}

/* Finds the file or files of the samples. */
static enum gf_status take_data_file(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    const char *value = o->h.field[GF_NRRD_DATA_FILE];
    char *copy, *rest;
    enum gf_status status;

    if (!value)
        return GF_OK;
    if (o->h.names) {
        GF_TRY(take_list(o, r, e));
        return check_share(o, value + strlen("LIST"), e);
    }
    if (!strchr(value, '%') || count_words(value) < 4)
        return gf_voxels_beside(r, value, &o->data, e);
    status = gf_utf8_from_bytes(value, strlen(value), &copy, e);
    if (status == GF_OK) {
        status = gf_name_list_pattern(&o->names, copy, &rest, r->name, e);
        if (status == GF_OK)
            status = check_share(o, rest, e);
        gf_free(copy);
    }
    return status;
}

static enum gf_status open_parts(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    const struct gf_nrrd *h = &o->h;
    struct gf_parts p = {
        .image = o->image,
        .images = o->images,
        .names = o->names,
        .lines = h->line_skip,
        .skip = h->byte_skip,
        .at_end = h->at_end,
        .coding = h->encoding == GF_NRRD_GZIP ? GF_GZIP : GF_PLAIN,
        .swap = h->big_endian != GF_BIG_ENDIAN_MACHINE && gf_type_bytes(h->type) > 1,
    };
    enum gf_status status;

    if (h->encoding == GF_NRRD_TEXT)
        return gf_fail(e, GF_EFEATURE, "%s: samples as text in several files cannot be read; "
                       "convert it with unu save -f nrrd -e raw", r->name);
    memset(&o->image.meta, 0, sizeof o->image.meta);
    o->names = (struct gf_name_list){NULL, 0};
    r->format = &parts_format;
    status = gf_parts_open(r, &p, e);
    gf_parts_free(&p);
    return status;
}

static enum gf_status open_text(struct gf_reader *r, struct opening *o, uint64_t offset,
                                struct gf_error *e)
{
    struct gf_text_samples t = {
        .image = o->image, .images = o->images, .data = o->data, .offset = offset};
    enum gf_status status;

    memset(&o->image.meta, 0, sizeof o->image.meta);
    o->data = NULL;
    r->format = &text_format;
    status = gf_text_samples_open(r, &t, e);
    gf_text_samples_free(&t);
    return status;
}

static enum gf_status open_voxels(struct gf_reader *r, struct opening *o, uint64_t offset,
                                  struct gf_error *e)
{
    const struct gf_nrrd *h = &o->h;
    const bool deflated = h->encoding == GF_NRRD_GZIP;
    struct gf_voxels v = {
        .image = o->image,
        .images = o->images,
        .data = o->data,
        .offset = offset,
        .skip = deflated ? h->byte_skip : 0,
        .coding = deflated ? GF_GZIP : GF_PLAIN,
        .swap = h->big_endian != GF_BIG_ENDIAN_MACHINE && gf_type_bytes(h->type) > 1,
        /* A compressed file of another format may be borrowed for its samples. */
        .more = deflated && o->data,
    };

    memset(&o->image.meta, 0, sizeof o->image.meta);
    o->data = NULL;
    return gf_voxels_open(r, &v, e);
}

/* *offset = where the samples, plain or deflated, begin in their file. */
static enum gf_status find_samples(struct gf_reader *r, struct opening *o, uint64_t *offset,
                                   struct gf_error *e)
{
    const struct gf_nrrd *h = &o->h;
    struct gf_in *in = o->data ? o->data : r->in;
    const uint64_t begin = o->data ? 0 : o->size;
    uint64_t bytes;

    if (h->at_end) {
        if (!gf_mul(gf_image_bytes(&o->image), o->images, &bytes) || bytes > gf_in_size(in) ||
            gf_in_size(in) - bytes < begin)
            return gf_fail(e, GF_EINPUT, "%s: truncated: the file has %llu bytes, fewer than the "
                           "samples that the header wants at its end", gf_in_name(in),
                           (unsigned long long)gf_in_size(in));
        *offset = gf_in_size(in) - bytes;
        return GF_OK;
    }
    GF_TRY(gf_skip_lines(in, begin, h->line_skip, offset, e));
    if (h->encoding != GF_NRRD_GZIP && !gf_add(*offset, h->byte_skip, offset))
        *offset = UINT64_MAX;
    return GF_OK;
}

static enum gf_status open_samples(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    uint64_t offset = 0;
    GF_TRY(take_data_file(r, o, e));
    if (o->names.count > 0)
        return open_parts(r, o, e);
    GF_TRY(find_samples(r, o, &offset, e));
    return o->h.encoding == GF_NRRD_TEXT ? open_text(r, o, offset, e)
                                         : open_voxels(r, o, offset, e);
}

static enum gf_status open_nrrd(struct gf_reader *r, struct gf_error *e)
{
    struct opening o = {0};
    enum gf_status status = take_header(r, &o, e);
    if (status == GF_OK)
        status = open_samples(r, &o, e);
    free_opening(&o);
    return status;
}

/* ---- writing ---- */

static bool is_detached(const char *path)
{
    const size_t size = strlen(path);
    return size > 5 && strcasecmp(path + size - 5, ".nhdr") == 0;
}

static bool wants_gzip(const struct gf_write_options *options)
{
    return options->compression && strcmp(options->compression, "gzip") == 0;
}

static bool second_file(const char *path, const struct gf_write_options *options, char *name,
                        size_t room)
{
    return is_detached(path) &&
           gf_voxels_data_name(path, wants_gzip(options) ? "raw.gz" : "raw", name, room);
}

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    (void)images;
    if (image->type == GF_F16)
        return gf_fail(e, GF_EFEATURE, "%s: NRRD has no type for f16; use -t f32, or write a .tif",
                       name);
    if (is_detached(name) && strpbrk(name, "\r\n"))
        return gf_fail(e, GF_EFEATURE, "%s: a name with a line end cannot stand in a header; "
                       "choose another, or write a .nrrd", name);
    return GF_OK;
}

/* As asked for, else as the input's. The name of a second file says how it is encoded, and is
 * chosen before there is an image: it is raw unless asked for. */
static enum gf_status choose_coding(const struct gf_writer *w, enum gf_coding *coding,
                                    struct gf_error *e)
{
    *coding = wants_gzip(&w->options) ? GF_GZIP : GF_PLAIN;
    return w->options.compression || is_detached(w->name)
               ? GF_OK : gf_nrrd_native_coding(&w->image.meta, coding, e);
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    enum gf_coding coding = GF_PLAIN;
    if (w->index == 0)
        GF_TRY(choose_coding(w, &coding, e));
    return gf_voxels_begin_made(w, is_detached(w->name), coding, gf_nrrd_make_header, e);
}

/* The formats below differ in where samples are read from. */
#define NRRD_COMMON                                                                              \
    .name = "nrrd",                                                                              \
    .extensions = "nrrd nhdr",                                                                   \
    .summary = "NRRD: volumes and pictures with their place in space; NHDR: header apart",       \
    .keeps = GF_KEEPS_TEXTS | GF_KEEPS_SPACING | GF_KEEPS_ORIGIN | GF_KEEPS_DIRECTIONS,          \
    .compressions = "none gzip",                                                                 \
    .accepts = accepts,                                                                          \
    .begin = begin,                                                                              \
    .second_file = second_file,                                                                  \
    GF_VOXELS_WRITER,                                                                            \
    .keeps_text = gf_nrrd_keeps_text

const struct gf_format gf_format_nrrd = {
    NRRD_COMMON,
    .probe = probe,
    .open = open_nrrd,
    GF_VOXELS_READER,
};

/* What an open file becomes whose samples are text, or in several files. */
static const struct gf_format text_format = {NRRD_COMMON, GF_TEXT_SAMPLES_READER};
static const struct gf_format parts_format = {NRRD_COMMON, GF_PARTS_READER};
