#include "voxels.h"

#include "../alloc.h"
#include "../util.h"
#include "deflate.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (256u << 10)   /* bytes converted at once, which stay in the cache */

void gf_swap_samples(void *samples, uint64_t count, unsigned bytes)
{
    if (bytes == 2) {
        uint16_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap16(s[i]);
    } else if (bytes == 4) {
        uint32_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap32(s[i]);
    } else if (bytes == 8) {
        uint64_t *s = samples;
        for (uint64_t i = 0; i < count; i++)
            s[i] = __builtin_bswap64(s[i]);
    }
}

/* ---- reading ---- */

struct reading {
    struct gf_voxels v;
    struct gf_source *source;
    uint64_t base;            /* of what the source has, bytes before the first sample */
    uint64_t total;           /* bytes up to the end of the last sample */
    uint64_t image_bytes;     /* stored, of each image */
    unsigned bytes;           /* of a stored sample */
    uint64_t selected;
};

void gf_voxels_free(struct gf_voxels *v)
{
    gf_in_close(&v->data);
    gf_meta_free(&v->image.meta);
    memset(v, 0, sizeof *v);
}

static uint64_t sample_count(const struct gf_image *image)
{
    return image->width * image->height * image->depth * image->channels;
}

/* "512x512x300 samples of 3 x u16, 2 times" */
static const char *describe(char text[160], const struct gf_voxels *v)
{
    const struct gf_image *m = &v->image;
    int size = snprintf(text, 160, "%llux%llux%llu samples of %lu x %s",
                        (unsigned long long)m->width, (unsigned long long)m->height,
                        (unsigned long long)m->depth, (unsigned long)m->channels,
                        gf_type_name(v->convert ? v->stored_type : m->type));
    if (v->images > 1)
        snprintf(text + size, 160 - (size_t)size, ", %llu times", (unsigned long long)v->images);
    return text;
}

/* Before anything is allocated that the file cannot hold. */
static enum gf_status check_size(const struct reading *s, const struct gf_in *in,
                                 struct gf_error *e)
{
    const struct gf_voxels *v = &s->v;
    const uint64_t file = gf_in_size(in), begin = v->whole ? 0 : v->offset;
    uint64_t held = file - gf_min(begin, file), needed = s->total;
    char text[160];

    if (v->stored > held)
        return gf_fail(e, GF_EINPUT, "%s: truncated: %llu compressed bytes at byte %llu are "
                       "needed, the file has %llu bytes", gf_in_name(in),
                       (unsigned long long)v->stored, (unsigned long long)begin,
                       (unsigned long long)file);
    if (v->coding != GF_PLAIN) {
        held = v->stored ? v->stored : held;
        if (needed / GF_DEFLATE_RATIO <= held)
            return GF_OK;
        return gf_fail(e, GF_EINPUT, "%s: %llu compressed bytes cannot hold the %llu bytes that "
                       "the header promises, %s; the file is truncated, or the header is wrong",
                       gf_in_name(in), (unsigned long long)held, (unsigned long long)needed,
                       describe(text, v));
    }
    if (held == needed || (held > needed && v->more))
        return GF_OK;
    return gf_fail(e, GF_EINPUT, "%s: the file has %llu bytes, %s after %llu bytes need %llu; %s",
                   gf_in_name(in), (unsigned long long)file, describe(text, v),
                   (unsigned long long)v->offset, (unsigned long long)(v->offset + needed),
                   held < needed ? "it is truncated, or the header is wrong"
                                 : "what follows them is unknown: correct the header");
}

static enum gf_status check_voxels(struct reading *s, const struct gf_reader *r,
                                   struct gf_error *e)
{
    const struct gf_voxels *v = &s->v;
    uint64_t end;

    GF_TRY(gf_image_check(&v->image, r->name, e));
    s->bytes = gf_type_bytes(v->convert ? v->stored_type : v->image.type);
    s->base = v->whole ? v->offset : v->coding == GF_PLAIN ? 0 : v->skip;
    if (v->images == 0 || !gf_mul(sample_count(&v->image), s->bytes, &s->image_bytes) ||
        !gf_mul(s->image_bytes, v->images, &s->total) || !gf_add(s->total, s->base, &s->total) ||
        !gf_add(s->total, v->offset, &end) || end > INT64_MAX)
        return gf_fail(e, GF_EINPUT, "%s: the header promises more bytes than any file has, or "
                       "none", r->name);
    return check_size(s, v->data ? v->data : r->in, e);
}

enum gf_status gf_voxels_open(struct gf_reader *r, struct gf_voxels *v, struct gf_error *e)
{
    static const char *const names[] = {[GF_GZIP] = "gzip", [GF_ZLIB] = "zlib"};
    struct reading *s;
    void *block = NULL;
    enum gf_status status = gf_allocate(&block, 1, sizeof *s, r->name, e);

    if (status != GF_OK) {
        gf_voxels_free(v);
        return status;
    }
    s = memset(block, 0, sizeof *s);
    s->v = *v;
    memset(v, 0, sizeof *v);
    r->state = s;
    GF_TRY(check_voxels(s, r, e));
    GF_TRY(gf_source_open(&s->source, s->v.data ? s->v.data : r->in, s->v.whole ? 0 : s->v.offset,
                          s->v.stored ? s->v.stored : UINT64_MAX, s->v.coding, e));
    r->images = s->v.images;
    r->random_access = gf_source_random(s->source);
    r->compression = s->v.coding < GF_COUNT(names) ? names[s->v.coding] : NULL;
    return GF_OK;
}

enum gf_status gf_voxels_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                struct gf_error *e)
{
    struct reading *s = r->state;
    s->selected = index;
    *image = s->v.image;
    memset(&image->meta, 0, sizeof image->meta);
    return gf_meta_copy(&image->meta, &s->v.image.meta, e);
}

/* Stored samples of the selected image, in this machine's byte order. */
static enum gf_status read_stored(const struct reading *s, uint64_t first, uint64_t count,
                                  void *samples, struct gf_error *e)
{
    GF_TRY(gf_source_read(s->source, samples, (size_t)(count * s->bytes),
                          s->base + s->selected * s->image_bytes + first * s->bytes, e));
    if (s->v.swap)
        gf_swap_samples(samples, count, s->bytes);
    return GF_OK;
}

enum gf_status gf_voxels_read_samples(struct gf_reader *r, uint64_t first, uint64_t count,
                                      void *samples, struct gf_error *e)
{
    const struct reading *s = r->state;
    const unsigned bytes = gf_type_bytes(s->v.image.type);
    enum gf_status status = GF_OK;
    uint8_t *to = samples;
    void *piece = NULL;

    if (!s->v.convert)
        return read_stored(s, first, count, samples, e);
    GF_TRY(gf_allocate(&piece, PIECE, 1, r->name, e));
    while (count > 0 && status == GF_OK) {
        const uint64_t part = gf_min(count, PIECE / s->bytes);
        status = read_stored(s, first, part, piece, e);
        if (status == GF_OK)
            s->v.convert(&s->v, piece, to, part);
        first += part;
        count -= part;
        to += part * bytes;
    }
    gf_free(piece);
    return status;
}

enum gf_status gf_voxels_read_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                   struct gf_error *e)
{
    const struct reading *s = r->state;
    const uint64_t row = s->v.image.width * s->v.image.channels;
    return gf_voxels_read_samples(r, first * row, count * row, rows, e);
}

enum gf_status gf_voxels_finish(struct gf_reader *r, struct gf_error *e)
{
    const struct reading *s = r->state;
    GF_TRY(gf_source_end(s->source, s->v.more ? UINT64_MAX : s->total, e));
    return s->v.data ? gf_in_unchanged(s->v.data, e) : GF_OK;
}

void gf_voxels_close(struct gf_reader *r)
{
    struct reading *s = r->state;
    if (!s)
        return;
    gf_source_close(&s->source);
    gf_voxels_free(&s->v);
    gf_free(s);
    r->state = NULL;
}

/* ---- headers ---- */

enum gf_status gf_voxels_header_some(struct gf_reader *r, void *to, size_t size, uint64_t offset,
                                     size_t *got, struct gf_error *e)
{
    struct gf_source *source;
    enum gf_status status;

    GF_TRY(gf_source_open(&source, r->in, 0, UINT64_MAX, r->gzipped ? GF_GZIP : GF_PLAIN, e));
    status = gf_source_read_some(source, to, size, offset, got, e);
    gf_source_close(&source);
    return status;
}

enum gf_status gf_voxels_header(struct gf_reader *r, void *to, size_t size, uint64_t offset,
                                struct gf_error *e)
{
    struct gf_source *source;
    enum gf_status status;

    GF_TRY(gf_source_open(&source, r->in, 0, UINT64_MAX, r->gzipped ? GF_GZIP : GF_PLAIN, e));
    status = gf_source_read(source, to, size, offset, e);
    gf_source_close(&source);
    return status;
}

/* Where a name in the header of `path` leads; false when there is no room. */
static bool beside(const char *path, const char *name, char *to, size_t room)
{
    const char *slash = strrchr(path, '/');
    int folder = slash && *name != '/' ? (int)(slash + 1 - path) : 0;
    /* A file named "-" is not standard input. */
    const char *here = *name == '-' && folder == 0 ? "./" : "";
    int size = snprintf(to, room, "%.*s%s%s", folder, path, here, name);
    return size >= 0 && (size_t)size < room;
}

enum gf_status gf_voxels_beside(struct gf_reader *r, const char *name, struct gf_in **in,
                                struct gf_error *e)
{
    char path[PATH_MAX];
    struct gf_error inner = {""};
    struct stat info;
    enum gf_status status;

    *in = NULL;
    if (gf_in_is_standard(r->in))
        return gf_fail(e, GF_EINPUT, "%s: its samples are in another file, '%s', which cannot be "
                       "found from here; name the header's file", r->name, name);
    if (*name == '\0' || !beside(r->name, name, path, sizeof path))
        return gf_fail(e, GF_EINPUT, "%s: the name of the file with its samples is %s", r->name,
                       *name ? "too long" : "empty");
    /* A header may come from anywhere; what it names is not to hang or to end us. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return gf_fail(e, GF_EINPUT, "%s: its samples should be in %s, which is no plain file",
                       r->name, path);
    status = gf_in_open(in, path, &inner);
    if (status == GF_OK || status == GF_ESIGNAL || status == GF_EMEMORY) {
        if (e)
            *e = inner;
        return status;
    }
    return gf_fail(e, status, "%s: its samples are in another file: %s", r->name, inner.text);
}

/* ---- writing ---- */

struct writing {
    struct gf_image first;    /* all must be of its shape */
    struct gf_out *samples;   /* where these go */
    struct gf_deflate *deflate;
    uint8_t *swapped;         /* PIECE bytes, when the byte order is the other one */
    uint64_t stored;          /* bytes of samples in the file so far */
};

static enum gf_status put_deflated(void *context, uint8_t *data, size_t size, struct gf_error *e)
{
    struct writing *s = context;
    s->stored += size;
    return gf_out_write(s->samples, data, size, e);
}

static enum gf_status put(struct writing *s, const void *data, size_t size, struct gf_error *e)
{
    if (s->deflate)
        return gf_deflate_write(s->deflate, data, size, e);
    s->stored += size;
    return gf_out_write(s->samples, data, size, e);
}

bool gf_voxels_data_name(const char *path, const char *extension, char *name, size_t room)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int stem = (int)(dot && dot != base ? dot - path : (ptrdiff_t)strlen(path));
    int size = snprintf(name, room, "%.*s.%s", stem, path, extension);
    return size >= 0 && (size_t)size < room;
}

enum gf_status gf_voxels_create(struct gf_writer *w, struct gf_error *e)
{
    char name[PATH_MAX];
    if (w->gzipped || w->options.compression || w->format->compressions ||
        (w->format->second_file &&
         w->format->second_file(w->name, &w->options, name, sizeof name)))
        return GF_OK;
    return gf_out_reserve(w->out, w->bytes, e);
}

static enum gf_status open_deflate(struct gf_writer *w, struct writing *s, enum gf_coding coding,
                                   struct gf_error *e)
{
    const struct gf_deflate_options options = {
        .level = w->options.level >= 0 ? w->options.level : GF_VOXELS_LEVEL,
        .gzip = coding == GF_GZIP,
        .threads = w->options.threads,
        .bytes = w->bytes,
        .emit = put_deflated,
        .context = s,
    };
    return gf_deflate_open(&s->deflate, &options, e);
}

static enum gf_status open_output(struct gf_writer *w, const struct gf_voxels_out *out,
                                  struct gf_error *e)
{
    struct writing *s = w->state;
    void *block = NULL;

    s->first = w->image;
    s->samples = w->out;
    if (out->detached) {
        GF_TRY(gf_out_open(&w->second, out->data_name, &w->out_options, e));
        s->samples = w->second;
    }
    if (out->swap && gf_type_bytes(w->image.type) > 1) {
        GF_TRY(gf_allocate(&block, PIECE, 1, "swapping bytes", e));
        s->swapped = block;
    }
    if (out->coding == GF_PLAIN) {
        GF_TRY(gf_out_reserve(s->samples, w->bytes + (out->detached ? 0 : out->header_size), e));
        return gf_out_write(w->out, out->header, out->header_size, e);
    }
    if (!out->whole)
        GF_TRY(gf_out_write(w->out, out->header, out->header_size, e));
    GF_TRY(open_deflate(w, s, out->coding, e));
    return out->whole ? gf_deflate_write(s->deflate, out->header, out->header_size, e) : GF_OK;
}

enum gf_status gf_voxels_begin(struct gf_writer *w, const struct gf_voxels_out *out,
                               struct gf_error *e)
{
    const struct writing *s = w->state;
    void *block = NULL;

    if (s && !gf_same_shape(&s->first, &w->image))
        return gf_fail(e, GF_EFEATURE, "%s: %s cannot hold images of different sizes or types; "
                       "write a .tif", w->name, w->format->name);
    if (s)
        return GF_OK;
    GF_TRY(gf_allocate(&block, 1, sizeof *s, "writing", e));
    w->state = memset(block, 0, sizeof *s);
    return open_output(w, out, e);
}

enum gf_status gf_voxels_begin_made(struct gf_writer *w, bool detached, enum gf_coding coding,
                                    gf_voxels_make *make, struct gf_error *e)
{
    char path[PATH_MAX];
    struct gf_voxels_out out = {.detached = detached, .data_name = path, .coding = coding,
                                .swap = GF_BIG_ENDIAN_MACHINE};
    struct gf_buffer header = {0};
    const char *slash;
    enum gf_status status;

    if (w->index > 0)
        return gf_voxels_begin(w, &out, e);
    if (detached && !w->format->second_file(w->name, &w->options, path, sizeof path))
        return gf_fail(e, GF_EOUTPUT, "%s: the name is too long", w->name);
    slash = detached ? strrchr(path, '/') : NULL;
    status = make(&header, w, coding, !detached ? NULL : slash ? slash + 1 : path, e);
    out.header = header.data;
    out.header_size = header.size;
    if (status == GF_OK)
        status = gf_voxels_begin(w, &out, e);
    gf_buffer_free(&header);
    return status;
}

enum gf_status gf_voxels_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                    struct gf_error *e)
{
    struct writing *s = w->state;
    const unsigned bytes = gf_type_bytes(w->image.type);
    uint64_t left = count * gf_row_bytes(&w->image);
    const uint8_t *from = rows;

    if (!s->swapped)
        return put(s, rows, (size_t)left, e);
    while (left > 0) {
        const size_t part = (size_t)gf_min(left, PIECE);
        memcpy(s->swapped, from, part);
        gf_swap_samples(s->swapped, part / bytes, bytes);
        GF_TRY(put(s, s->swapped, part, e));
        from += part;
        left -= part;
    }
    return GF_OK;
}

enum gf_status gf_voxels_complete(struct gf_writer *w, struct gf_error *e)
{
    struct writing *s = w->state;
    return s && s->deflate ? gf_deflate_finish(s->deflate, e) : GF_OK;
}

uint64_t gf_voxels_stored(const struct gf_writer *w)
{
    return ((const struct writing *)w->state)->stored;
}

bool gf_voxels_deflated(const struct gf_writer *w)
{
    return ((const struct writing *)w->state)->deflate != NULL;
}

void gf_voxels_discard(struct gf_writer *w)
{
    struct writing *s = w->state;
    if (!s)
        return;
    gf_deflate_close(&s->deflate);
    gf_free(s->swapped);
    gf_free(s);
    w->state = NULL;
}
