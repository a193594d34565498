/* Writes PNG: rows are filtered here and compressed by threads (deflate.h); the chunks
 * around them are simple enough to need no library. */
#include "png_write.h"

#include "../alloc.h"
#include "../util.h"
#include "deflate.h"
#include "png_chunks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_SIDE 0x7fffffffu

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTER_COUNT };

struct png_writer {
    struct gf_writer *writer;
    struct gf_deflate *deflate;
    uint8_t *previous;     /* the row before, as stored; zeros before the first */
    uint8_t *current;      /* this row in PNG's byte order, for 16 bits */
    uint8_t *filtered[2];  /* filter byte and filtered row: the best so far and a trial */
    size_t row_bytes, pixel_bytes;
};

/* ---- what PNG can hold ---- */

enum gf_status gf_png_accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e)
{
    const uint32_t colors = image->color == GF_RGB ? 3 : 1;
    const bool alpha = image->alpha >= 0;

    if (image->type != GF_U8 && image->type != GF_U16)
        return gf_fail(e, GF_EFEATURE, "%s: PNG holds u8 and u16, not %s; write a .tif, or "
                       "use -t u16 if the values fit", name, gf_type_name(image->type));
    if (image->depth > 1)
        return gf_fail(e, GF_EFEATURE, "%s: PNG holds one picture, not a volume of %llu slices; "
                       "write a .tif", name, (unsigned long long)image->depth);
    if (images > 1)
        return gf_fail(e, GF_EFEATURE, "%s: PNG holds one picture, not %llu pages; write a .tif",
                       name, (unsigned long long)images);
    if (image->color == GF_CMYK)
        return gf_fail(e, GF_EFEATURE, "%s: PNG has no CMYK; write a .tif", name);
    if ((image->color == GF_OTHER && image->channels > 1) || image->channels != colors + alpha ||
        (alpha && image->alpha != (int)image->channels - 1))
        return gf_fail(e, GF_EFEATURE, "%s: PNG holds gray or RGB, with or without alpha, not %lu "
                       "channels of another kind; write a .tif", name,
                       (unsigned long)image->channels);
    if (alpha && image->alpha_associated)
        return gf_fail(e, GF_EFEATURE, "%s: the colours are stored multiplied by alpha, which PNG "
                       "cannot say; write a .tif", name);
    if (image->width > MAX_SIDE || image->height > MAX_SIDE)
        return gf_fail(e, GF_EFEATURE, "%s: a PNG has at most 2147483647 pixels a side, not "
                       "%llux%llu; write a .tif", name, (unsigned long long)image->width,
                       (unsigned long long)image->height);
    return GF_OK;
}

/* ---- chunks ---- */

/* Writes a chunk whose data have room for 8 bytes before and 4 after them. */
static enum gf_status put_framed(struct gf_writer *w, const char *type, uint8_t *data, size_t size,
                                 struct gf_error *e)
{
    gf_png_set_u32(data - 8, (uint32_t)size);
    memcpy(data - 4, type, 4);
    gf_png_set_u32(data + size, (uint32_t)crc32(0, data - 4, (uInt)size + 4));
    return gf_out_write(w->out, data - 8, size + 12, e);
}

static enum gf_status put_chunk(void *context, const char *type, const void *data, size_t size,
                                struct gf_error *e)
{
    uint8_t *frame = NULL;
    enum gf_status status;
    GF_TRY(gf_allocate((void **)&frame, (uint64_t)size + 12, 1, "writing PNG", e));
    if (size > 0)
        memcpy(frame + 8, data, size);
    status = put_framed(context, type, frame + 8, size, e);
    gf_free(frame);
    return status;
}

static enum gf_status put_samples(void *context, uint8_t *data, size_t size, struct gf_error *e)
{
    return put_framed(context, "IDAT", data, size, e);
}

static enum gf_status put_header(struct gf_writer *w, struct gf_error *e)
{
    static const uint8_t color_types[5] = {0, 0, 4, 2, 6}; /* by channels */
    uint8_t header[13] = {0};
    gf_png_set_u32(header, (uint32_t)w->image.width);
    gf_png_set_u32(header + 4, (uint32_t)w->image.height);
    header[8] = (uint8_t)(8 * gf_type_bytes(w->image.type));
    header[9] = color_types[w->image.channels];
    GF_TRY(gf_out_write(w->out, gf_png_signature, sizeof gf_png_signature, e));
    GF_TRY(put_chunk(w, "IHDR", header, sizeof header, e));
    return gf_png_put_meta(&w->image, w->name, put_chunk, w, e);
}

/* ---- filters ---- */

/* Each writes row - prediction for `n` bytes; `up` is the row above, and what stands
 * `step` bytes to the left is 0 in the first pixel. Plain loops: compilers vectorise them. */
static void filter_sub(uint8_t *restrict to, const uint8_t *restrict row,
                       const uint8_t *restrict up, size_t n, size_t step)
{
    (void)up;
    memcpy(to, row, step);
    for (size_t i = step; i < n; i++)
        to[i] = (uint8_t)(row[i] - row[i - step]);
}

static void filter_up(uint8_t *restrict to, const uint8_t *restrict row,
                      const uint8_t *restrict up, size_t n, size_t step)
{
    (void)step;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(row[i] - up[i]);
}

static void filter_average(uint8_t *restrict to, const uint8_t *restrict row,
                           const uint8_t *restrict up, size_t n, size_t step)
{
    for (size_t i = 0; i < step; i++)
        to[i] = (uint8_t)(row[i] - up[i] / 2);
    for (size_t i = step; i < n; i++)
        to[i] = (uint8_t)(row[i] - (row[i - step] + up[i]) / 2);
}

static void filter_paeth(uint8_t *restrict to, const uint8_t *restrict row,
                         const uint8_t *restrict up, size_t n, size_t step)
{
    for (size_t i = 0; i < step; i++)
        to[i] = (uint8_t)(row[i] - up[i]);
    for (size_t i = step; i < n; i++) {
        int16_t a = row[i - step], b = up[i], c = up[i - step];
        int16_t to_b = (int16_t)(a - c), to_a = (int16_t)(b - c);
        int16_t to_c = (int16_t)(to_a + to_b);
        to_a = (int16_t)(to_a < 0 ? -to_a : to_a);
        to_b = (int16_t)(to_b < 0 ? -to_b : to_b);
        to_c = (int16_t)(to_c < 0 ? -to_c : to_c);
        int16_t best = to_b <= to_c ? b : c;
        best = (to_a <= to_b && to_a <= to_c) ? a : best;
        to[i] = (uint8_t)(row[i] - best);
    }
}

static void filter_none(uint8_t *restrict to, const uint8_t *restrict row,
                        const uint8_t *restrict up, size_t n, size_t step)
{
    (void)up;
    (void)step;
    memcpy(to, row, n);
}

static void (*const filters[FILTER_COUNT])(uint8_t *restrict, const uint8_t *restrict,
                                           const uint8_t *restrict, size_t, size_t) = {
    filter_none, filter_sub, filter_up, filter_average, filter_paeth,
};

/* Sum of the filtered bytes' distances from 0: the smaller, the better it compresses. */
static uint64_t distance(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bytes[i] < 128 ? bytes[i] : 256u - bytes[i];
    return sum;
}

static void apply(struct png_writer *p, int filter, const uint8_t *row, uint8_t *to)
{
    to[0] = (uint8_t)filter;
    filters[filter](to + 1, row, p->previous, p->row_bytes, p->pixel_bytes);
}

/* Filters a row for the level asked for; the filter byte and the row. */
static const uint8_t *filter_row(struct png_writer *p, const uint8_t *row)
{
    const int level = p->writer->options.level;
    uint64_t best = UINT64_MAX;
    if (level == 0 || level < 6) {
        apply(p, level == 0 ? FILTER_NONE : FILTER_PAETH, row, p->filtered[0]);
        return p->filtered[0];
    }
    for (int filter = 0; filter < FILTER_COUNT; filter++) {
        uint64_t sum;
        apply(p, filter, row, p->filtered[1]);
        sum = distance(p->filtered[1] + 1, p->row_bytes);
        if (sum < best) {
            uint8_t *kept = p->filtered[0];
            p->filtered[0] = p->filtered[1];
            p->filtered[1] = kept;
            best = sum;
        }
    }
    return p->filtered[0];
}

/* ---- the writer ---- */

enum gf_status gf_png_create(struct gf_writer *w, struct gf_error *e)
{
    void *block = NULL;
    GF_TRY(gf_allocate(&block, 1, sizeof(struct png_writer), "writing PNG", e));
    memset(block, 0, sizeof(struct png_writer));
    w->state = block;
    ((struct png_writer *)block)->writer = w;
    return GF_OK;
}

enum gf_status gf_png_begin(struct gf_writer *w, struct gf_error *e)
{
    struct png_writer *p = w->state;
    const int level = w->options.level;
    const struct gf_deflate_options options = {
        .level = level,
        .strategy = level >= 6 ? Z_FILTERED : Z_DEFAULT_STRATEGY,
        .threads = w->options.threads,
        .bytes = gf_image_bytes(&w->image) + w->image.height,
        .emit = put_samples,
        .context = w,
    };
    void *block = NULL;

    p->row_bytes = gf_row_bytes(&w->image);
    p->pixel_bytes = w->image.channels * gf_type_bytes(w->image.type);
    GF_TRY(gf_allocate(&block, p->row_bytes, 1, "writing PNG", e));
    p->previous = block;
    memset(p->previous, 0, p->row_bytes);
    for (int i = 0; i < 2; i++) {
        block = NULL;
        GF_TRY(gf_allocate(&block, (uint64_t)p->row_bytes + 1, 1, "writing PNG", e));
        p->filtered[i] = block;
    }
    if (w->image.type == GF_U16) {
        block = NULL;
        GF_TRY(gf_allocate(&block, p->row_bytes, 1, "writing PNG", e));
        p->current = block;
    }
    GF_TRY(gf_deflate_open(&p->deflate, &options, e));
    return put_header(w, e);
}

enum gf_status gf_png_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e)
{
    struct png_writer *p = w->state;
    const uint8_t *row = rows;
    for (uint64_t i = 0; i < count; i++, row += p->row_bytes) {
        const uint8_t *bytes = row;
        if (p->current) {
            const uint16_t *samples = (const uint16_t *)(const void *)row;
            for (size_t k = 0; k < p->row_bytes / 2; k++) {
                p->current[2 * k] = (uint8_t)(samples[k] >> 8);
                p->current[2 * k + 1] = (uint8_t)samples[k];
            }
            bytes = p->current;
        }
        GF_TRY(gf_deflate_write(p->deflate, filter_row(p, bytes), p->row_bytes + 1, e));
        memcpy(p->previous, bytes, p->row_bytes);
    }
    return GF_OK;
}

enum gf_status gf_png_end(struct gf_writer *w, struct gf_error *e)
{
    struct png_writer *p = w->state;
    GF_TRY(gf_deflate_finish(p->deflate, e));
    return put_chunk(w, "IEND", NULL, 0, e);
}

void gf_png_discard(struct gf_writer *w)
{
    struct png_writer *p = w->state;
    if (!p)
        return;
    gf_deflate_close(&p->deflate);
    gf_free(p->previous);
    gf_free(p->current);
    gf_free(p->filtered[0]);
    gf_free(p->filtered[1]);
    gf_free(p);
    w->state = NULL;
}
