/* NumPy's arrays. Their axes have no names, so that the number of axes alone decides what they are:
 * (x), (y, x), (z, y, x), (z, y, x, c) with 1 to 4 channels, (n, z, y, x, c) for anything. */
#include "npy.h"

#include "../alloc.h"
#include "../message.h"
#include "../util.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
/* Of a header's text; longer ones describe structures. */
#define MOST_TEXT (1u << 20)
/* Channels that an array of 4 axes may have: more are taken for a series of volumes. */
#define MOST_CHANNELS 4

static bool npy_probe(const uint8_t *head, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(head, MAGIC, MAGIC_SIZE) == 0;
}

/* ---- reading ---- */

/* A picture of 2 to 4 channels as most of Python holds it looks like a volume of 2 to 4 columns. */
static void warn_of_thin_volume(const struct gf_reader *r, const struct gf_npy_header *h)
{
    const unsigned long long y = h->shape[0], x = h->shape[1], c = h->shape[2];
    if (h->axes == 3 && c >= 2 && c <= MOST_CHANNELS && x > MOST_CHANNELS)
        gf_print_warning("%s: an array of 3 axes, (%llu, %llu, %llu), is a volume of %llu columns; "
                         "if these are channels, save a[None], of shape (1, %llu, %llu, %llu)",
                         r->name, y, x, c, c, y, x, c);
}

enum gf_status gf_npy_voxels(struct gf_voxels *v, const struct gf_reader *r,
                             const struct gf_npy_header *h, uint64_t offset, struct gf_error *e)
{
    /* n, z, y, x, c; where the axes of the shape begin among them. */
    uint64_t all[GF_NPY_AXES] = {1, 1, 1, 1, 1};
    const unsigned at = h->axes > 3 ? GF_NPY_AXES - h->axes : GF_NPY_AXES - 1 - h->axes;
    const uint8_t axes = (uint8_t)h->axes;
    struct gf_image *image = &v->image;

    for (unsigned a = 0; a < h->axes; a++)
        all[at + a] = h->shape[a];
    memset(v, 0, sizeof *v);
    if (all[4] > (h->axes == 4 ? MOST_CHANNELS : UINT32_MAX))
        return gf_fail(e, GF_EFEATURE, "%s: the last of %u axes has length %llu, too many for the "
                       "channels of (z, y, x, c); to filter volumes one by one, save "
                       "a[..., None], of 5 axes (n, z, y, x, c)", r->name, h->axes,
                       (unsigned long long)all[4]);
    v->images = all[0];
    image->depth = all[1];
    image->height = all[2];
    image->width = all[3];
    image->channels = (uint32_t)all[4];
    image->type = h->type;
    image->color = all[4] == 1 ? GF_GRAY : all[4] == 3 ? GF_RGB : GF_OTHER;
    image->alpha = -1;
    image->volume = image->depth > 1;
    v->offset = offset;
    v->whole = r->gzipped;
    v->coding = r->gzipped ? GF_GZIP : GF_PLAIN;
    v->swap = h->big_endian;
    /* So that an array stays one of as many axes. */
    image->meta.native_format = gf_format_npy.name;
    return gf_blob_set(&image->meta.native, &axes, sizeof axes, e);
}

/* Magic, version, length of the text, text. */
static enum gf_status read_header(struct gf_reader *r, struct gf_npy_header *h, uint64_t *offset,
                                  struct gf_error *e)
{
    uint8_t fixed[12];
    uint32_t size;
    void *text = NULL;
    enum gf_status status;

    GF_TRY(gf_voxels_header(r, fixed, sizeof fixed, 0, e));
    if (fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0)
        return gf_fail(e, GF_EFEATURE, "%s: NPY version %u.%u; versions 1.0, 2.0 and 3.0 are read",
                       r->name, fixed[6], fixed[7]);
    *offset = fixed[6] == 1 ? 10 : 12;
    size = fixed[8] | (uint32_t)fixed[9] << 8;
    if (fixed[6] > 1)
        size |= (uint32_t)fixed[10] << 16 | (uint32_t)fixed[11] << 24;
    if (size > MOST_TEXT || (!r->gzipped && size + *offset > gf_in_size(r->in)))
        return gf_fail(e, GF_EINPUT, "%s: the NPY header is damaged or truncated: it should have "
                       "%lu bytes of text, %s", r->name, (unsigned long)size,
                       size > MOST_TEXT ? "an image needs a hundred" : "the file is shorter");
    GF_TRY(gf_allocate(&text, size, 1, r->name, e));
    status = gf_voxels_header(r, text, size, *offset, e);
    if (status == GF_OK)
        status = gf_npy_parse(h, text, size, r->name, e);
    gf_free(text);
    *offset += size;
    return status;
}

static enum gf_status npy_open(struct gf_reader *r, struct gf_error *e)
{
    struct gf_npy_header h;
    struct gf_voxels v;
    uint64_t offset = 0;
    enum gf_status status;

    GF_TRY(read_header(r, &h, &offset, e));
    if (h.fortran && h.axes > 1)
        status = gf_npy_fortran_open(r, &h, offset, e);
    else {
        status = gf_npy_voxels(&v, r, &h, offset, e);
        if (status == GF_OK)
            status = gf_voxels_open(r, &v, e);
    }
    if (status == GF_OK)
        warn_of_thin_volume(r, &h);
    return status;
}

/* ---- writing ---- */

static enum gf_status npy_accepts(const struct gf_image *image, uint64_t images, const char *name,
                                  struct gf_error *e)
{
    (void)image;
    (void)images;
    (void)name;
    (void)e;
    return GF_OK;
}

/* The fewest axes that say it, but not fewer than there were. */
static unsigned axes_for(const struct gf_writer *w)
{
    const struct gf_image *m = &w->image;
    unsigned least = m->height > 1 ? 2 : 1, had = 2;
    if (m->meta.native_format == w->format->name && m->meta.native.size == 1)
        had = m->meta.native.data[0];
    if (m->depth > 1)
        least = 3;
    if (m->channels > 1)
        least = 4;
    if (m->channels > MOST_CHANNELS || w->images > 1)
        least = 5;
    return had > least ? had : least;
}

static enum gf_status npy_begin(struct gf_writer *w, struct gf_error *e)
{
    const struct gf_image *m = &w->image;
    const uint64_t all[GF_NPY_AXES] = {w->images, m->depth, m->height, m->width, m->channels};
    struct gf_npy_header h = {.type = m->type, .axes = axes_for(w)};
    const unsigned at = h.axes > 3 ? GF_NPY_AXES - h.axes : GF_NPY_AXES - 1 - h.axes;
    char text[GF_NPY_HEADER_ROOM];

    memcpy(h.shape, all + at, h.axes * sizeof *all);
    const struct gf_voxels_out out = {.header = text,
                                      .header_size = gf_npy_make(text, &h),
                                      .coding = w->gzipped ? GF_GZIP : GF_PLAIN,
                                      .whole = w->gzipped};
    return gf_voxels_begin(w, &out, e);
}

#define NPY_FORMAT                                                                           \
    .name = "npy", .extensions = "npy", .summary = "NumPy arrays; C and Fortran order",      \
    .associated_alpha = true, .gzip = true, .probe = npy_probe, .open = npy_open,            \
    .accepts = npy_accepts, .begin = npy_begin, GF_VOXELS_WRITER

const struct gf_format gf_format_npy = {
    NPY_FORMAT,
    GF_VOXELS_READER,
};

const struct gf_format gf_format_npy_fortran = {
    NPY_FORMAT,
    .select = gf_npy_fortran_select,
    .read_rows = gf_npy_fortran_read_rows,
    .finish = gf_npy_fortran_finish,
    .close = gf_npy_fortran_close,
};
