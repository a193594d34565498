/* NIfTI-1 and NIfTI-2: one file, or a header and its samples in two. */
#include "nifti_space.h"

#include "../alloc.h"
#include "../message.h"
#include "../text.h"
#include "../util.h"
#include "deflate.h"
#include "voxels.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_SHORT 32767    /* the largest size of an axis in NIfTI-1 */
#define EXTENDER 4          /* bytes between header and extensions: whether there are any */
#define PIECE (64u << 10)   /* of the extensions that is read first */

/* ---- names ---- */

/* The name of the other file of a pair: `path` with `extension` ("img", "hdr") for `own`, gzipped
 * or not, in capitals where the name has them. False when the name does not end so. */
static bool paired_name(const char *path, const char *own, const char *extension, bool gzipped,
                        char *name, size_t room)
{
    const size_t length = strlen(path) - (gf_name_gzipped(path) ? 3 : 0), part = strlen(own);
    size_t at = length - part;
    bool big;
    if (length <= part || path[at - 1] != '.' || strncasecmp(path + at, own, part) != 0 ||
        length + 4 > room)
        return false;
    big = path[at] >= 'A' && path[at] <= 'Z';
    memcpy(name, path, at);
    for (const char *c = extension; *c; c++)
        name[at++] = big ? (char)(*c - 'a' + 'A') : *c;
    memcpy(name + at, !gzipped ? "" : gf_name_gzipped(path) ? path + length : big ? ".GZ" : ".gz",
           gzipped ? 4 : 1);
    return true;
}

/* Opens the other file of the pair that r->name is of, as it is or gzipped. */
static enum gf_status open_other(struct gf_reader *r, const char *own, const char *extension,
                                 struct gf_in **in, struct gf_error *e)
{
    const bool gzipped = gf_name_gzipped(r->name);
    const char *slash = strrchr(r->name, '/'), *base = slash ? slash + 1 : r->name;
    char names[2][PATH_MAX];

    *in = NULL;
    for (int i = 0; i < 2; i++) {
        enum gf_status status;
        if (gf_in_is_standard(r->in) ||
            !paired_name(base, own, extension, i == 0 ? gzipped : !gzipped, names[i],
                         sizeof names[i]))
            return gf_fail(e, GF_EINPUT, "%s: the header says that the samples are in a file of "
                           "their own, which is found beside a file that is named .hdr", r->name);
        status = gf_voxels_beside(r, names[i], in, e);
        if (status != GF_EINPUT)
            return status;
    }
    return gf_fail(e, GF_EINPUT, "%s: needed is its %s, but neither %s nor %s can be opened beside "
                   "it", r->name, strcmp(extension, "img") == 0 ? "file of samples" : "header",
                   names[0], names[1]);
}

/* ---- reading ---- */

static bool starts_gzipped(struct gf_in *in, bool *gzipped, struct gf_error *e, enum gf_status *s)
{
    uint8_t head[3];
    size_t got = 0;
    *s = gf_in_read_some(in, head, sizeof head, 0, &got, e);
    *gzipped = got == 3 && memcmp(head, "\x1f\x8b\x08", 3) == 0;
    return *s == GF_OK;
}

/* Whether the header's file can have as many bytes. */
static bool can_hold(const struct gf_reader *r, uint64_t bytes)
{
    const uint64_t size = gf_in_size(r->in);
    return r->gzipped ? bytes / GF_DEFLATE_RATIO <= size : bytes <= size;
}

static enum gf_status take_sizes(const struct gf_nifti_header *h, const struct gf_reader *r,
                                 struct gf_voxels *v, struct gf_error *e)
{
    const int64_t axes = gf_nifti_int(h, GF_NIFTI_DIM, 0);
    uint64_t size[8];

    if (axes < 1 || axes > 7)
        return gf_fail(e, GF_EINPUT, "%s: damaged NIfTI header: it says %lld dimensions, there can "
                       "be 1 to 7", r->name, (long long)axes);
    for (int i = 1; i < 8; i++) {
        const int64_t n = i <= axes ? gf_nifti_int(h, GF_NIFTI_DIM, i) : 1;
        if (n < 1)
            return gf_fail(e, GF_EINPUT, "%s: the NIfTI header says that dimension %d has size "
                           "%lld, needed is at least 1%s", r->name, i, (long long)n,
                           n < 0 && h->version == 1 ? "; a size above 32767 needs NIfTI-2" : "");
        size[i] = (uint64_t)n;
    }
    v->image.width = size[1];
    v->image.height = size[2];
    v->image.depth = size[3];
    v->images = 1;
    for (int i = 4; i < 8; i++)
        if (!gf_mul(v->images, size[i], &v->images))
            return gf_fail(e, GF_EINPUT, "%s: the NIfTI header says a size that no file has: "
                           "%llu x %llu x %llu x %llu volumes", r->name,
                           (unsigned long long)size[4], (unsigned long long)size[5],
                           (unsigned long long)size[6], (unsigned long long)size[7]);
    if (r->options.stack_pages && v->image.depth == 1) {
        v->image.depth = v->images;
        v->images = 1;
    }
    v->image.volume = v->image.depth > 1;
    return GF_OK;
}

/* In double, rounded once more where the result is float. */
static void scale_samples(const struct gf_voxels *v, const void *stored, void *samples,
                          uint64_t count)
{
    const double slope = v->scale[0], intercept = v->scale[1];
#define SCALE(ctype, result)                                                \
    for (uint64_t i = 0; i < count; i++)                                    \
        ((result *)samples)[i] =                                            \
            (result)(slope * (double)((const ctype *)stored)[i] + intercept)
    switch (v->stored_type) {
    case GF_U8:
        SCALE(uint8_t, float);
        break;
    case GF_I8:
        SCALE(int8_t, float);
        break;
    case GF_U16:
        SCALE(uint16_t, float);
        break;
    case GF_I16:
        SCALE(int16_t, float);
        break;
    case GF_F32:
        SCALE(float, float);
        break;
    case GF_U32:
        SCALE(uint32_t, double);
        break;
    case GF_I32:
        SCALE(int32_t, double);
        break;
    default:
        SCALE(double, double);
        break;
    }
#undef SCALE
}

static enum gf_status take_type(const struct gf_nifti_header *h, const struct gf_reader *r,
                                struct gf_voxels *v, struct gf_error *e)
{
    const int64_t code = gf_nifti_int(h, GF_NIFTI_DATATYPE, 0);
    const struct gf_nifti_type *type = gf_nifti_type(code);
    const double slope = gf_nifti_real(h, GF_NIFTI_SLOPE, 0);
    const double intercept = gf_nifti_real(h, GF_NIFTI_INTER, 0);

    if (!type)
        return gf_fail(e, GF_EINPUT, "%s: the NIfTI header has the sample type %lld, which is none",
                       r->name, (long long)code);
    if (!type->read)
        return gf_fail(e, GF_EFEATURE, "%s: samples of %s cannot be filtered; %s", r->name,
                       type->name, type->advice);
    v->image.type = type->type;
    v->image.channels = type->channels;
    v->image.color = type->channels == 1 ? GF_GRAY : GF_RGB;
    v->image.alpha = type->channels == 4 ? 3 : -1;
    /* A slope of 0, or one that is no number, says that there is none; colours have none. */
    if (type->channels > 1 || slope == 0 || !isfinite(slope) || (slope == 1 && intercept == 0))
        return GF_OK;
    if (!isfinite(intercept))
        return gf_fail(e, GF_EINPUT, "%s: the NIfTI header scales samples by %g and adds what is "
                       "no number", r->name, slope);
    v->stored_type = type->type;
    v->scale[0] = slope;
    v->scale[1] = intercept;
    v->convert = scale_samples;
    v->image.type = type->type == GF_U32 || type->type == GF_I32 || type->type == GF_F64 ? GF_F64
                                                                                         : GF_F32;
    return GF_OK;
}

/* Where the samples begin in their file. */
static enum gf_status take_offset(const struct gf_nifti_header *h, const struct gf_reader *r,
                                  struct gf_voxels *v, struct gf_error *e)
{
    const size_t least = h->single ? gf_nifti_size(h) + EXTENDER : 0;
    const double offset = gf_nifti_real(h, GF_NIFTI_VOX_OFFSET, 0);

    if (offset == 0) {
        v->offset = least;
        return GF_OK;
    }
    /* 2^62 is beyond every file, and below what a cast takes. */
    if (!(offset >= (double)least && offset < 0x1p62) || offset != rint(offset))
        return gf_fail(e, GF_EINPUT, "%s: the NIfTI header says that the samples begin at byte %g, "
                       "needed is a whole number of at least %zu", r->name, offset, least);
    v->offset = h->version == 2 ? (uint64_t)gf_nifti_int(h, GF_NIFTI_VOX_OFFSET, 0)
                                : (uint64_t)offset;
    return GF_OK;
}

/* Of `size` bytes behind the header, those that are extensions, and the four before them; 0 when
 * there are none. */
static enum gf_status measure_extensions(const struct gf_nifti_header *h, const uint8_t *bytes,
                                         size_t size, const char *name, size_t *used,
                                         struct gf_error *e)
{
    size_t at = EXTENDER;
    *used = 0;
    while (size >= EXTENDER && bytes[0] != 0 && size - at >= 8) {
        uint32_t length = 0;
        for (int i = 0; i < 4; i++)
            length = length << 8 | bytes[at + (size_t)(h->big ? i : 3 - i)];
        if (length == 0)
            break;
        if (length < 8 || length > size - at)
            return gf_fail(e, GF_EINPUT, "%s: damaged NIfTI header: an extension at byte %zu says "
                           "that it has %lu bytes, there is room for 8 to %zu", name,
                           gf_nifti_size(h) + at, (unsigned long)length, size - at);
        at += length;
        *used = at;
    }
    return GF_OK;
}

/* The bytes between the header and the samples, or to the end of a header's own file; none of a
 * file that says that it has no extensions. */
static enum gf_status read_behind(struct gf_reader *r, const struct gf_nifti_header *h,
                                  uint64_t end, uint8_t **bytes, size_t *size, struct gf_error *e)
{
    const uint64_t at = gf_nifti_size(h);
    uint64_t room = EXTENDER;

    /* Reading begins anew each time, so that the pieces grow. */
    for (;; room = room == EXTENDER ? PIECE : room * 8) {
        uint8_t *grown;
        room = gf_min(room, end - at);
        grown = gf_realloc(*bytes, room, 1);
        if (!grown)
            return gf_fail(e, GF_EMEMORY, "%s: not enough memory for the header's extensions; "
                           "raise --max-memory", r->name);
        *bytes = grown;
        GF_TRY(gf_voxels_header_some(r, grown, (size_t)room, at, size, e));
        if (*size < EXTENDER || grown[0] == 0)
            *size = 0;
        if (*size < room || room == end - at)
            return GF_OK;
    }
}

/* Keeps the header with its extensions, for a writer. */
static enum gf_status keep_native(struct gf_reader *r, const struct gf_nifti_header *h,
                                  struct gf_voxels *v, struct gf_error *e)
{
    struct gf_buffer kept = {0};
    uint8_t *behind = NULL;
    size_t size = 0, used = 0;
    enum gf_status status;

    if (h->single && !can_hold(r, v->offset))
        return gf_fail(e, GF_EINPUT, "%s: the NIfTI header says that the samples begin at byte "
                       "%llu, the file has only %llu%s; it is truncated, or the header is wrong",
                       r->name, (unsigned long long)v->offset,
                       (unsigned long long)gf_in_size(r->in), r->gzipped ? " compressed ones" : "");
    status = read_behind(r, h, h->single ? v->offset : UINT64_MAX, &behind, &size, e);
    if (status == GF_OK)
        status = measure_extensions(h, behind, size, r->name, &used, e);
    if (status == GF_OK) {
        gf_buffer_append(&kept, h->bytes, gf_nifti_size(h));
        gf_buffer_append(&kept, behind, used);
        status = gf_buffer_status(&kept, r->name, e);
    }
    if (status == GF_OK)
        status = gf_blob_set(&v->image.meta.native, kept.data, kept.size, e);
    if (status == GF_OK)
        v->image.meta.native_format = "nifti";
    gf_buffer_free(&kept);
    gf_free(behind);
    return status;
}

static enum gf_status keep_description(struct gf_nifti_header *h, struct gf_meta *meta,
                                       struct gf_error *e)
{
    size_t room, size;
    const uint8_t *text = gf_nifti_bytes(h, GF_NIFTI_DESCRIP, &room);
    void *block = NULL;

    for (size = strnlen((const char *)text, room); size > 0 && text[size - 1] == ' '; size--)
        continue;
    if (size == 0)
        return GF_OK;
    GF_TRY(gf_allocate(&block, size + 1, 1, "metadata", e));
    meta->description = memcpy(block, text, size);
    meta->description[size] = '\0';
    return GF_OK;
}

/* The samples' file, when it is not the header's. */
static enum gf_status open_samples(struct gf_reader *r, struct gf_voxels *v, struct gf_error *e)
{
    enum gf_status status;
    uint64_t plain;
    bool gzipped;

    if (!v->data)
        GF_TRY(open_other(r, "hdr", "img", &v->data, e));
    if (!starts_gzipped(v->data, &gzipped, e, &status))
        return status;
    /* Samples may begin as gzip does: where the file is as long as they are, they are plain. */
    if (gzipped && !gf_name_gzipped(gf_in_name(v->data)) &&
        gf_mul(v->image.width * v->image.height, v->image.depth, &plain) &&
        gf_mul(plain, v->images * v->image.channels, &plain) &&
        gf_mul(plain, gf_type_bytes(v->convert ? v->stored_type : v->image.type), &plain) &&
        plain == gf_in_size(v->data) - gf_min(v->offset, gf_in_size(v->data)))
        gzipped = false;
    v->whole = gzipped;
    v->coding = gzipped ? GF_GZIP : GF_PLAIN;
    return GF_OK;
}

static enum gf_status take_header(struct gf_reader *r, struct gf_nifti_header *h,
                                  struct gf_voxels *v, struct gf_error *e)
{
    GF_TRY(take_sizes(h, r, v, e));
    GF_TRY(take_type(h, r, v, e));
    GF_TRY(gf_image_check(&v->image, r->name, e));
    GF_TRY(take_offset(h, r, v, e));
    if (v->data && h->single)
        return gf_fail(e, GF_EINPUT, "%s: this header beside %s says that the samples are in its "
                       "own file", r->name, gf_in_name(v->data));
    v->swap = h->big != GF_BIG_ENDIAN_MACHINE;
    v->whole = h->single && r->gzipped;
    v->coding = v->whole ? GF_GZIP : GF_PLAIN;
    if (!h->single)
        GF_TRY(open_samples(r, v, e));
    GF_TRY(keep_native(r, h, v, e));
    GF_TRY(keep_description(h, &v->image.meta, e));
    gf_nifti_get_space(h, &v->image.meta);
    return GF_OK;
}

/* The file that was named holds samples alone: its header becomes the reader's file. */
static enum gf_status go_to_header(struct gf_reader *r, struct gf_voxels *v, struct gf_error *e)
{
    struct gf_in *header;
    enum gf_status status;
    GF_TRY(open_other(r, "img", "hdr", &header, e));
    v->data = r->in;
    r->in = header;
    r->name = gf_in_name(header);
    return starts_gzipped(header, &r->gzipped, e, &status) ? GF_OK : status;
}

static enum gf_status read_header(struct gf_reader *r, struct gf_voxels *v, struct gf_error *e)
{
    struct gf_nifti_header h;
    uint8_t head[GF_NIFTI_BYTES];
    size_t got = 0;

    GF_TRY(gf_voxels_header_some(r, head, sizeof head, 0, &got, e));
    if (!gf_nifti_probe(head, got)) {
        GF_TRY(go_to_header(r, v, e));
        GF_TRY(gf_voxels_header_some(r, head, sizeof head, 0, &got, e));
    }
    GF_TRY(gf_nifti_identify(&h, head, got, r->name, e));
    return take_header(r, &h, v, e);
}

static enum gf_status open_nifti(struct gf_reader *r, struct gf_error *e)
{
    struct gf_voxels v = {.image = {.alpha = -1}};
    enum gf_status status = read_header(r, &v, e);
    if (status == GF_OK)
        return gf_voxels_open(r, &v, e);
    gf_voxels_free(&v);
    return status;
}

/* ---- writing ---- */

static bool second_file(const char *path, const struct gf_write_options *options, char *name,
                        size_t room)
{
    (void)options;
    return paired_name(path, "hdr", "img", gf_name_gzipped(path), name, room);
}

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    char header[PATH_MAX];
    (void)images;
    if (paired_name(name, "img", "hdr", gf_name_gzipped(name), header, sizeof header))
        return gf_fail(e, GF_EFEATURE, "%s: a NIfTI in two files is named by its header, %s", name,
                       header);
    if (image->type == GF_F16)
        return gf_fail(e, GF_EFEATURE, "%s: NIfTI does not hold f16; use -t f32, or write a .tif "
                       "or .nrrd", name);
    if (!gf_nifti_type_of(image))
        return gf_fail(e, GF_EFEATURE, "%s: NIfTI holds one channel, or RGB and RGBA of u8, not "
                       "%lu channels of %s; write a .tif or .nrrd", name,
                       (unsigned long)image->channels, gf_type_name(image->type));
    return GF_OK;
}

/* The header of the file that the image came from, and the extensions behind it. */
static const uint8_t *native_header(const struct gf_image *image, struct gf_nifti_header *h,
                                    size_t *extensions)
{
    const struct gf_blob *b = &image->meta.native;
    *extensions = 0;
    if (!image->meta.native_format || strcmp(image->meta.native_format, "nifti") != 0 ||
        gf_nifti_identify(h, b->data, b->size, "", NULL) != GF_OK)
        return NULL;
    *extensions = b->size - gf_nifti_size(h);
    return b->data + gf_nifti_size(h);
}

/* Sizes of the axes; those of time and beyond as they were, where as many volumes are written.
 * What speaks of slices goes when there are others. */
static void set_sizes(struct gf_nifti_header *h, const struct gf_image *image, uint64_t images)
{
    const uint64_t sizes[] = {image->width, image->height, image->depth};
    const int64_t old = gf_nifti_int(h, GF_NIFTI_DIM, 0);
    const int64_t slices = gf_nifti_int(h, GF_NIFTI_DIM_INFO, 0) >> 4 & 3;
    int64_t axes = image->depth > 1 ? 3 : image->height > 1 || old == 0 ? 2 : 1;
    uint64_t volumes = 1;

    for (int i = 4; i <= old; i++)
        if (!gf_mul(volumes, (uint64_t)gf_nifti_int(h, GF_NIFTI_DIM, i), &volumes))
            volumes = 0;
    if (slices > 0 && slices <= old &&
        gf_nifti_int(h, GF_NIFTI_DIM, (int)slices) != (int64_t)sizes[slices - 1]) {
        gf_nifti_set_int(h, GF_NIFTI_SLICE_CODE, 0, 0);
        gf_nifti_set_int(h, GF_NIFTI_SLICE_START, 0, 0);
        gf_nifti_set_int(h, GF_NIFTI_SLICE_END, 0, 0);
    }
    for (int i = 0; i < 3; i++)
        gf_nifti_set_int(h, GF_NIFTI_DIM, i + 1, (int64_t)sizes[i]);
    if (old >= 4 && volumes == images)
        return;
    if (axes < old)
        axes = old < 3 ? old : 3;
    gf_nifti_set_int(h, GF_NIFTI_DIM, 0, images > 1 ? 4 : axes);
    for (int i = 4; i < 8; i++)
        gf_nifti_set_int(h, GF_NIFTI_DIM, i, i == 4 ? (int64_t)images : 1);
}

static void set_description(struct gf_nifti_header *h, const struct gf_writer *w)
{
    const char *text = w->image.meta.description;
    size_t room;
    uint8_t *to = gf_nifti_bytes(h, GF_NIFTI_DESCRIP, &room);
    if (!text)
        return;
    if (strlen(text) < room && !strpbrk(text, "\r\n"))
        memcpy(to, text, strlen(text));
    else if (!w->options.quiet)
        gf_print_note("%s: left out, because NIfTI holds one line of up to %zu bytes: description",
                      w->name, room - 1);
}

/* A header for what came from another format. */
static void make_header(struct gf_nifti_header *h, const struct gf_writer *w, bool wide)
{
    gf_nifti_clear(h, wide ? 2 : 1);
    for (int i = 0; i < 8; i++)
        gf_nifti_set_real(h, GF_NIFTI_PIXDIM, i, 1);
    gf_nifti_set_space(h, &w->image.meta);
    set_description(h, w);
}

/* The header as the writer's first image asks for, with `behind` bytes after it. */
static void fill_header(struct gf_nifti_header *h, const struct gf_writer *w, size_t behind,
                        uint64_t *offset)
{
    const struct gf_nifti_type *type = gf_nifti_type_of(&w->image);

    set_sizes(h, &w->image, w->images);
    gf_nifti_set_int(h, GF_NIFTI_DATATYPE, 0, type->code);
    gf_nifti_set_int(h, GF_NIFTI_BITPIX, 0, type->bits);
    gf_nifti_set_real(h, GF_NIFTI_SLOPE, 0, 1);
    gf_nifti_set_real(h, GF_NIFTI_INTER, 0, 0);
    gf_nifti_set_magic(h);
    *offset = gf_ceil_div(gf_nifti_size(h) + behind, 16) * 16;
    /* NIfTI-1 has the offset as a float. */
    while (h->single && h->version == 1 && (double)(float)*offset != (double)*offset)
        *offset += 16;
    gf_nifti_set_real(h, GF_NIFTI_VOX_OFFSET, 0, h->single ? (double)*offset : 0);
}

static enum gf_status append_deflated(void *context, uint8_t *data, size_t size,
                                      struct gf_error *e)
{
    gf_buffer_append(context, data, size);
    return gf_buffer_status(context, "a header", e);
}

/* Gzips the header of a pair, which is a file of its own. */
static enum gf_status deflate_header(const struct gf_writer *w, struct gf_buffer *b,
                                     struct gf_error *e)
{
    struct gf_buffer packed = {0};
    const struct gf_deflate_options options = {
        .level = w->options.level >= 0 ? w->options.level : GF_VOXELS_LEVEL,
        .gzip = true,
        .threads = 1,
        .bytes = b->size,
        .emit = append_deflated,
        .context = &packed,
    };
    struct gf_deflate *d = NULL;
    enum gf_status status = gf_deflate_open(&d, &options, e);
    if (status == GF_OK)
        status = gf_deflate_write(d, b->data, b->size, e);
    if (status == GF_OK)
        status = gf_deflate_finish(d, e);
    gf_deflate_close(&d);
    gf_buffer_free(b);
    *b = packed;
    return status;
}

static enum gf_status write_header(struct gf_writer *w, struct gf_buffer *b, bool pair,
                                   struct gf_error *e)
{
    static const uint8_t none[EXTENDER];
    const struct gf_image *image = &w->image;
    const bool wide = image->width > MOST_SHORT || image->height > MOST_SHORT ||
                      image->depth > MOST_SHORT || w->images > MOST_SHORT;
    struct gf_nifti_header h;
    size_t extensions;
    const uint8_t *behind = native_header(image, &h, &extensions);
    uint64_t offset;

    if (!behind)
        make_header(&h, w, wide);
    else
        gf_nifti_move_space(&h, &image->meta);
    if (extensions == 0) {
        behind = none;
        extensions = EXTENDER;
    }
    if (wide && h.version == 1)
        gf_nifti_widen(&h);
    h.single = !pair;
    fill_header(&h, w, extensions, &offset);
    gf_buffer_append(b, h.bytes, gf_nifti_size(&h));
    gf_buffer_append(b, behind, extensions);
    while (!pair && b->size < offset && !b->failed)
        gf_buffer_append(b, none, (size_t)gf_min(sizeof none, offset - b->size));
    GF_TRY(gf_buffer_status(b, w->name, e));
    if (pair && w->gzipped)
        GF_TRY(deflate_header(w, b, e));
    return GF_OK;
}

/* Whether the header is in the other byte order: as it was, extensions included, which nobody else
 * could turn. */
static bool other_order(const struct gf_image *image)
{
    struct gf_nifti_header h;
    size_t extensions;
    return native_header(image, &h, &extensions) &&
           h.big != GF_BIG_ENDIAN_MACHINE;
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    char name[PATH_MAX];
    struct gf_buffer header = {0};
    struct gf_voxels_out out = {
        .coding = w->gzipped ? GF_GZIP : GF_PLAIN,
        .swap = other_order(&w->image),
        .detached = second_file(w->name, &w->options, name, sizeof name),
        .data_name = name,
    };
    enum gf_status status = GF_OK;

    out.whole = w->gzipped && !out.detached;
    if (w->index == 0)
        status = write_header(w, &header, out.detached, e);
    out.header = header.data;
    out.header_size = header.size;
    if (status == GF_OK)
        status = gf_voxels_begin(w, &out, e);
    gf_buffer_free(&header);
    return status;
}

const struct gf_format gf_format_nifti = {
    .name = "nifti",
    .extensions = "nii hdr img",
    .summary = "NIfTI-1 and NIfTI-2, .nii and .nii.gz, .hdr with .img: all but f16",
    .keeps = GF_KEEPS_SPACING | GF_KEEPS_ORIGIN | GF_KEEPS_DIRECTIONS | GF_KEEPS_DESCRIPTION,
    .gzip = true,
    .data_extensions = "img",
    .probe = gf_nifti_probe,
    .open = open_nifti,
    GF_VOXELS_READER,
    .accepts = accepts,
    .second_file = second_file,
    .begin = begin,
    GF_VOXELS_WRITER,
};
