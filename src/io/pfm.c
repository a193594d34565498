/* PFM, the portable float map: a text header, then float32 rows from the bottom up. */
#include "../alloc.h"
#include "../util.h"
#include "format.h"
#include "pnm_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART (256u << 10) /* rows are turned round in parts of about this size */

struct pfm {
    uint64_t data;     /* offset of the first sample */
    uint64_t width, height;
    uint32_t channels;
    bool swapped;      /* the file's byte order is not this machine's */
    uint8_t *part;     /* writing: rows in the file's order */
};

static void swap_floats(uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, bytes += 4) {
        uint32_t value;
        memcpy(&value, bytes, 4);
        value = __builtin_bswap32(value);
        memcpy(bytes, &value, 4);
    }
}

static bool probe(const uint8_t *head, size_t size)
{
    return size > 2 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') &&
           gf_pnm_is_space(head[2]);
}

static enum gf_status make_state(void **state, struct gf_error *e)
{
    void *block = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof(struct pfm), "a PFM", e));
    *state = memset(block, 0, sizeof(struct pfm));
    return GF_OK;
}

static void release(void *state)
{
    struct pfm *p = state;
    if (p)
        gf_free(p->part);
    gf_free(p);
}

static void describe(const struct pfm *p, struct gf_image *image)
{
    image->width = p->width;
    image->height = p->height;
    image->depth = 1;
    image->channels = p->channels;
    image->type = GF_F32;
    image->color = p->channels == 3 ? GF_RGB : GF_GRAY;
    image->alpha = -1;
}

static enum gf_status open_pfm(struct gf_reader *r, struct gf_error *e)
{
    struct gf_pnm_cursor c = {.in = r->in, .name = r->name};
    struct gf_image image = {0};
    struct pfm *p;
    char scale[32], *end = scale;
    double value = 0;

    GF_TRY(make_state(&r->state, e));
    p = r->state;
    r->images = 1;
    r->random_access = true;
    GF_TRY(gf_pnm_fill(&c, 0, e));
    if (!probe(c.bytes, c.size))
        return gf_fail(e, GF_EINPUT, "%s: not a PFM: it must start with PF or Pf", r->name);
    p->channels = c.bytes[1] == 'F' ? 3 : 1;
    c.at = 2;
    GF_TRY(gf_pnm_number(&c, "width", UINT64_MAX / 2, &p->width, e));
    GF_TRY(gf_pnm_number(&c, "height", UINT64_MAX / 2, &p->height, e));
    if (gf_pnm_word(&c, scale, sizeof scale))
        value = strtod(scale, &end);
    if (end == scale || *end || !(value < 0 || value > 0))
        return gf_fail(e, GF_EINPUT, "%s: damaged PFM header: the scale must be a number that is "
                       "not 0", r->name);
    p->swapped = (value > 0) != GF_BIG_ENDIAN_MACHINE;
    p->data = c.offset + c.at + 1; /* one white space after the scale */
    describe(p, &image);
    GF_TRY(gf_image_check(&image, r->name, e));
    return gf_pnm_check_size(r, p->data, gf_image_bytes(&image), e);
}

static enum gf_status select_pfm(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                 struct gf_error *e)
{
    (void)index;
    describe(r->state, image);
    return gf_image_check(image, r->name, e);
}

static enum gf_status read_pfm(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                               struct gf_error *e)
{
    const struct pfm *p = r->state;
    size_t bytes = (size_t)(p->width * p->channels * 4);
    uint8_t *to = rows;
    for (uint64_t i = 0; i < count; i++, to += bytes) {
        uint64_t from_top = first + i;
        GF_TRY(gf_in_read(r->in, to, bytes, p->data + (p->height - 1 - from_top) * bytes, e));
        if (p->swapped)
            swap_floats(to, p->width * p->channels);
    }
    return GF_OK;
}

static void close_pfm(struct gf_reader *r)
{
    release(r->state);
    r->state = NULL;
}

/* ---- writing ---- */

static enum gf_status accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    if (image->type != GF_F32)
        return gf_fail(e, GF_EFEATURE, "%s: PFM holds f32, not %s; use -t f32, or write a .tif",
                       name, gf_type_name(image->type));
    if (image->depth > 1 || images > 1)
        return gf_fail(e, GF_EFEATURE, "%s: PFM holds one picture, not %llu; write a .tif", name,
                       (unsigned long long)gf_max(image->depth, images));
    if ((image->channels != 1 && image->channels != 3) || image->alpha >= 0)
        return gf_fail(e, GF_EFEATURE, "%s: PFM holds 1 or 3 channels without alpha, not %lu; "
                       "write a .tif", name, (unsigned long)image->channels);
    return GF_OK;
}

static enum gf_status create(struct gf_writer *w, struct gf_error *e)
{
    return make_state(&w->state, e);
}

static enum gf_status begin(struct gf_writer *w, struct gf_error *e)
{
    struct pfm *p = w->state;
    size_t row_bytes = gf_row_bytes(&w->image);
    void *block = NULL;
    char head[80];
    int length = snprintf(head, sizeof head, "P%c\n%llu %llu\n-1.0\n",
                          w->image.channels == 3 ? 'F' : 'f',
                          (unsigned long long)w->image.width,
                          (unsigned long long)w->image.height);
    GF_TRY(gf_allocate(&block, gf_max(1, PART / row_bytes), row_bytes, "writing PFM", e));
    p->part = block;
    p->data = (uint64_t)length;
    p->swapped = GF_BIG_ENDIAN_MACHINE;
    GF_TRY(gf_out_reserve(w->out, p->data + gf_image_bytes(&w->image), e));
    return gf_out_write(w->out, head, (size_t)length, e);
}

static enum gf_status write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e)
{
    struct pfm *p = w->state;
    const size_t bytes = gf_row_bytes(&w->image);
    const uint64_t most = gf_max(1, PART / bytes);
    const uint8_t *from = rows;
    uint64_t below = w->image.height - w->rows; /* rows of the file before the next one */

    while (count > 0) {
        uint64_t part = gf_min(count, most);
        for (uint64_t i = 0; i < part; i++, from += bytes)
            memcpy(p->part + (part - 1 - i) * bytes, from, bytes);
        if (p->swapped)
            swap_floats(p->part, part * bytes / 4);
        below -= part;
        GF_TRY(gf_out_write_at(w->out, p->part, (size_t)(part * bytes), p->data + below * bytes,
                               e));
        count -= part;
    }
    return GF_OK;
}

static void discard(struct gf_writer *w)
{
    release(w->state);
    w->state = NULL;
}

const struct gf_format gf_format_pfm = {
    .name = "pfm",
    .extensions = "pfm",
    .summary = "PFM: float32, gray and RGB",
    .seekable_output = true,
    .probe = probe,
    .open = open_pfm,
    .select = select_pfm,
    .read_rows = read_pfm,
    .close = close_pfm,
    .accepts = accepts,
    .create = create,
    .begin = begin,
    .write_rows = write_rows,
    .discard = discard,
};
