/* MetaImage: a header of text, and samples behind it (.mha) or in other files (.mhd). */
#include "metaimage.h"

#include "../alloc.h"
#include "../message.h"
#include "../utf8.h"
#include "../util.h"
#include "parts.h"
#include "text_header.h"
#include "text_samples.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct gf_format text_format, parts_format;

/* ---- lines of a text that is not cut yet ---- */

/* The length of the word at `s`; what follows it must be the sign between key and value. */
static size_t key_length(const char *s, const char *end)
{
    const char *key = s;
    while (s < end && ((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z')))
        s++;
    end = s < end ? end : s;
    for (const char *t = s; t < end; t++) {
        if (*t == '=' || *t == ':')
            return (size_t)(s - key);
        if (*t != ' ' && *t != '\t')
            break;
    }
    return 0;
}

/* Begins with a field, and says within the first bytes how many dimensions there are. */
static bool probe(const uint8_t *head, size_t size)
{
    const char *s = (const char *)head, *end = s + size;
    char key[32];
    size_t length;
    bool first = true;

    while (s < end) {
        length = key_length(s, end);
        if (first && (length == 0 || length >= sizeof key))
            return false;
        if (first) {
            snprintf(key, sizeof key, "%.*s", (int)length, s);
            if (gf_metaimage_find(key) == GF_METAIMAGE_FIELD_COUNT && strcmp(key, "Comment") != 0 &&
                strcmp(key, "Name") != 0)
                return false;
        }
        first = false;
        if (length == 5 && memcmp(s, "NDims", 5) == 0)
            return true;
        s = memchr(s, '\n', (size_t)(end - s));
        if (!s)
            return false;
        s++;
    }
    return false;
}

/* The line of ElementDataFile is the last; only names of files may follow. */
static size_t header_end(const char *text, size_t size, bool all)
{
    const char *end = text + size, *s = text, *line_end;
    for (; s < end; s = line_end + 1) {
        line_end = memchr(s, '\n', (size_t)(end - s));
        if (key_length(s, end) == 15 && memcmp(s, "ElementDataFile", 15) == 0) {
            const char *value = s + 15 + strspn(s + 15, " \t=:");
            if (!line_end || strncmp(value, "LIST", 4) == 0)
                return all ? size : 0;
            return (size_t)(line_end + 1 - text);
        }
        if (!line_end)
            break;
    }
    return 0;
}

/* ---- reading ---- */

struct opening {
    char *text;
    size_t size;
    struct gf_metaimage h;
    struct gf_image image;
    uint64_t images;
    bool local;                 /* samples are behind the header */
    struct gf_in *data;         /* else: the one file of samples, */
    struct gf_name_list names;  /* or several */
};

static void free_opening(struct opening *o)
{
    gf_free(o->text);
    gf_meta_free(&o->image.meta);
    gf_in_close(&o->data);
    gf_name_list_free(&o->names);
}

static enum gf_status take_text(struct gf_meta *meta, const char *key, const char *value,
                                struct gf_error *e)
{
    char *clean_key = NULL, *clean = NULL;
    enum gf_status status = gf_utf8_from_bytes(key, strlen(key), &clean_key, e);
    if (status == GF_OK)
        status = gf_utf8_from_bytes(value, strlen(value), &clean, e);
    if (status == GF_OK)
        status = gf_meta_add_text(meta, clean_key, clean, e);
    gf_free(clean_key);
    gf_free(clean);
    return status;
}

/* Fields that are not the format's own; from a copy, as their lines have been cut. */
static enum gf_status take_texts(struct opening *o, const char *text, struct gf_error *e)
{
    const size_t size = strlen(text) + 1;
    char *line, *rest, *key, *value;
    enum gf_status status = GF_OK;
    void *copy;

    GF_TRY(gf_allocate(&copy, size, 1, "a header", e));
    rest = memcpy(copy, text, size);
    while (status == GF_OK && (line = gf_next_line(&rest)) != NULL) {
        enum gf_metaimage_field field;
        if (!gf_metaimage_cut(line, &key, &value))
            continue;
        field = gf_metaimage_find(key);
        if (field == GF_METAIMAGE_DATA_FILE)
            break;
        if (field == GF_METAIMAGE_FIELD_COUNT)
            status = take_text(&o->image.meta, key, value, e);
    }
    gf_free(copy);
    return status;
}

static enum gf_status take_header(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    struct gf_meta *meta = &o->image.meta;

    GF_TRY(gf_text_header_read(r, header_end, "the line 'ElementDataFile = ...'", &o->text,
                               &o->size, e));
    GF_TRY(gf_blob_set(&meta->native, o->text, o->size, e));
    meta->native_format = "metaimage";
    GF_TRY(take_texts(o, o->text, e));
    GF_TRY(gf_metaimage_parse(&o->h, o->text, r->name, e));
    GF_TRY(gf_metaimage_image(&o->h, &o->image, &o->images, e));
    GF_TRY(gf_metaimage_geometry(&o->h, meta, e));
    if (o->h.field[GF_METAIMAGE_MATRIX] && !meta->geometry.known)
        gf_print_warning("%s: its TransformMatrix has no directions with a length; left out",
                         r->name);
    return GF_OK;
}

/* The lines after "ElementDataFile = LIST [AXES]". */
static enum gf_status take_list(struct opening *o, const char *axes, struct gf_error *e)
{
    const struct gf_metaimage *h = &o->h;
    char *rest = h->names, *line;
    uint64_t each = h->dimensions - 1, files = 1;

    axes += strspn(axes, " \t");
    if (*axes && (!gf_take_u64(&axes, &each) || (*axes && strcasecmp(axes, "D") != 0) ||
                  each < 1 || each > h->dimensions))
        return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: 'ElementDataFile = %.40s', "
                       "where LIST is followed by nothing or a number of dimensions, as in LIST 2D",
                       h->name, h->field[GF_METAIMAGE_DATA_FILE]);
    while ((line = gf_next_line(&rest)) != NULL)
        if (*gf_trim(line))
            GF_TRY(gf_name_list_add(&o->names, gf_trim(line), e));
    for (uint64_t a = each; a < h->dimensions; a++)
        if (!gf_mul(files, h->sizes[a], &files))
            files = UINT64_MAX;
    if (files != o->names.count)
        return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: it lists %zu data files, its "
                       "sizes need %llu", h->name, o->names.count, (unsigned long long)files);
    return GF_OK;
}

static enum gf_status take_data_file(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    const char *value = o->h.field[GF_METAIMAGE_DATA_FILE];

    o->local = strcmp(value, "LOCAL") == 0 || strcmp(value, "Local") == 0 ||
               strcmp(value, "local") == 0;
    if (o->local)
        return GF_OK;
    if (strncmp(value, "LIST", 4) == 0 && (value[4] == '\0' || value[4] == ' '))
        return take_list(o, value + 4, e);
    if (strchr(value, '%') && strpbrk(value, " \t"))
        return gf_fail(e, GF_EFEATURE, "%s: a pattern of names ('ElementDataFile = %.60s') cannot "
                       "be read; write LIST and the names below it, a line each", r->name, value);
    return gf_voxels_beside(r, value, &o->data, e);
}

/* Compressed samples are a zlib stream, but some writers make it gzip. */
static enum gf_status find_coding(const struct opening *o, struct gf_in *in, uint64_t offset,
                                  enum gf_coding *coding, struct gf_error *e)
{
    uint8_t head[2] = {0};
    size_t got;
    *coding = GF_PLAIN;
    if (!o->h.compressed)
        return GF_OK;
    GF_TRY(gf_in_read_some(in, head, sizeof head, offset, &got, e));
    *coding = head[0] == 0x1f && head[1] == 0x8b ? GF_GZIP : GF_ZLIB;
    return GF_OK;
}

/* HeaderSize counts from the beginning of the file of the samples, also where that is the
 * header's. */
static enum gf_status find_samples(struct gf_reader *r, const struct opening *o, uint64_t *offset,
                                   struct gf_error *e)
{
    const struct gf_metaimage *h = &o->h;
    struct gf_in *in = o->data ? o->data : r->in;
    uint64_t bytes;

    *offset = h->header_size ? h->header_size : o->local ? o->size : 0;
    if (h->at_end) {
        if (!gf_mul(gf_image_bytes(&o->image), o->images, &bytes) || bytes > gf_in_size(in) ||
            (o->local && gf_in_size(in) - bytes < o->size))
            return gf_fail(e, GF_EINPUT, "%s: truncated: the file has %llu bytes, fewer than the "
                           "samples that the header wants at its end", gf_in_name(in),
                           (unsigned long long)gf_in_size(in));
        *offset = gf_in_size(in) - bytes;
    }
    if (o->local && *offset < o->size)
        return gf_fail(e, GF_EINPUT, "%s: damaged MetaImage header: HeaderSize is %llu, the header "
                       "itself has %zu bytes", r->name, (unsigned long long)*offset, o->size);
    return GF_OK;
}

static bool swapped(const struct gf_metaimage *h)
{
    return h->big_endian != GF_BIG_ENDIAN_MACHINE && gf_type_bytes(h->type) > 1;
}

static enum gf_status open_parts(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    const struct gf_metaimage *h = &o->h;
    struct gf_parts p = {
        .image = o->image,
        .images = o->images,
        .names = o->names,
        .skip = h->header_size,
        .at_end = h->at_end,
        .swap = swapped(h),
    };
    enum gf_status status;

    if (h->text || h->compressed)
        return gf_fail(e, GF_EFEATURE, "%s: compressed samples or text in several files cannot be "
                       "read; write them as plain binary", r->name);
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
    const struct gf_metaimage *h = &o->h;
    struct gf_voxels v = {
        .images = o->images,
        .offset = offset,
        .stored = h->compressed_size,
        .swap = swapped(h),
    };

    GF_TRY(find_coding(o, o->data ? o->data : r->in, offset, &v.coding, e));
    v.image = o->image;
    v.data = o->data;
    memset(&o->image.meta, 0, sizeof o->image.meta);
    o->data = NULL;
    return gf_voxels_open(r, &v, e);
}

static enum gf_status open_samples(struct gf_reader *r, struct opening *o, struct gf_error *e)
{
    uint64_t offset = 0;
    GF_TRY(take_data_file(r, o, e));
    if (o->names.count > 0)
        return open_parts(r, o, e);
    GF_TRY(find_samples(r, o, &offset, e));
    return o->h.text ? open_text(r, o, offset, e) : open_voxels(r, o, offset, e);
}

static enum gf_status open_metaimage(struct gf_reader *r, struct gf_error *e)
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
    return size > 4 && strcasecmp(path + size - 4, ".mhd") == 0;
}

static bool asks_compression(const struct gf_write_options *options)
{
    return options->compression && strcmp(options->compression, "none") != 0;
}

static bool second_file(const char *path, const struct gf_write_options *options, char *name,
                        size_t room)
{
    return is_detached(path) &&
           gf_voxels_data_name(path, asks_compression(options) ? "zraw" : "raw", name, room);
}

/* As asked for, else as the input. The name of a second file says how it is stored, and is chosen
 * before there is an image: it is plain unless asked for. */
static enum gf_status choose_coding(const struct gf_writer *w, enum gf_coding *coding,
                                    struct gf_error *e)
{
    *coding = asks_compression(&w->options) ? GF_ZLIB : GF_PLAIN;
    return w->options.compression || is_detached(w->name)
               ? GF_OK : gf_metaimage_native_coding(&w->image.meta, coding, e);
}

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    (void)images;
    if (!gf_metaimage_type_name(image->type))
        return gf_fail(e, GF_EFEATURE, "%s: MetaImage has no type for %s; use -t f32, or write a "
                       ".tif", name, gf_type_name(image->type));
    if (is_detached(name) && strpbrk(name, "\r\n"))
        return gf_fail(e, GF_EFEATURE, "%s: a name with a line end cannot stand in a header; "
                       "choose another, or write a .mha", name);
    return GF_OK;
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    enum gf_coding coding = GF_PLAIN;
    if (w->index == 0)
        GF_TRY(choose_coding(w, &coding, e));
    return gf_voxels_begin_made(w, is_detached(w->name), coding, gf_metaimage_make_header, e);
}

static enum gf_status complete(struct gf_writer *w, struct gf_error *e)
{
    GF_TRY(gf_voxels_complete(w, e));
    return gf_voxels_deflated(w) ? gf_metaimage_put_size(w->out, gf_voxels_stored(w), e) : GF_OK;
}

/* The formats below differ in where samples are read from. */
#define METAIMAGE_COMMON                                                                         \
    .name = "metaimage",                                                                         \
    .extensions = "mha mhd",                                                                     \
    .summary = "MetaImage: volumes and pictures with their place in space; MHD: header apart",   \
    .keeps = GF_KEEPS_TEXTS | GF_KEEPS_SPACING | GF_KEEPS_ORIGIN | GF_KEEPS_DIRECTIONS,          \
    .compressions = "none gzip zlib",                                                            \
    .seekable_output = true,                                                                     \
    .accepts = accepts,                                                                          \
    .begin = begin,                                                                              \
    .second_file = second_file,                                                                  \
    .create = gf_voxels_create,                                                                  \
    .write_rows = gf_voxels_write_rows,                                                          \
    .complete = complete,                                                                        \
    .discard = gf_voxels_discard,                                                                \
    .keeps_text = gf_metaimage_keeps_text

const struct gf_format gf_format_metaimage = {
    METAIMAGE_COMMON,
    .probe = probe,
    .open = open_metaimage,
    GF_VOXELS_READER,
};

/* What an open file becomes whose samples are text, or in several files. */
static const struct gf_format text_format = {METAIMAGE_COMMON, GF_TEXT_SAMPLES_READER};
static const struct gf_format parts_format = {METAIMAGE_COMMON, GF_PARTS_READER};
