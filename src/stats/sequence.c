#include "sequence.h"

#include "../alloc.h"
#include "../signals.h"
#include "../util.h"
#include "keys.h"

#include <math.h>
#include <string.h>

/* Samples are handed on in blocks of about this size, which stay in the processors' caches. */
#define BLOCK_BYTES (UINT64_C(4) << 20)
#define THREAD_BYTES (UINT64_C(2) << 20)

static const char axis_name[] = "xyz";

/* ---- what is in it ---- */

enum gf_type gf_sequence_type(const struct gf_sequence *s)
{
    return gf_rows_image(s->rows, s->first_image)->type;
}

struct gf_box gf_sequence_box(const struct gf_sequence *s, uint64_t image)
{
    const struct gf_image *shape = gf_rows_image(s->rows, image);
    struct gf_box box = {{0, 0, 0}, {shape->width, shape->height, shape->depth}};
    for (unsigned a = 0; a < s->roi_axes; a++) {
        box.origin[a] = s->box.origin[a];
        box.size[a] = s->box.size[a];
    }
    if (s->one_plane) {
        box.origin[2] += s->plane;
        box.size[2] = 1;
    }
    return box;
}

uint64_t gf_sequence_most(const struct gf_sequence *s)
{
    uint64_t most = 0;
    for (uint64_t i = s->first_image; i < s->first_image + s->images; i++) {
        const struct gf_box box = gf_sequence_box(s, i);
        const uint32_t channels = s->channel < 0 ? gf_rows_image(s->rows, i)->channels : 1;
        most += box.size[0] * box.size[1] * box.size[2] * channels;
    }
    return most;
}

static enum gf_status check_box(const struct gf_sequence *s, uint64_t image, struct gf_error *e)
{
    const struct gf_image *shape = gf_rows_image(s->rows, image);
    const uint64_t there[3] = {shape->width, shape->height, shape->depth};
    for (unsigned a = 0; a < s->roi_axes; a++)
        if (s->box.origin[a] >= there[a] || s->box.size[a] > there[a] - s->box.origin[a])
            return gf_fail(e, GF_EUSAGE,
                           "%s: --roi asks for %llu from %llu along %c, there is %llu",
                           gf_rows_name(s->rows), (unsigned long long)s->box.size[a],
                           (unsigned long long)s->box.origin[a], axis_name[a],
                           (unsigned long long)there[a]);
    return GF_OK;
}

static enum gf_status check_mask(const struct gf_sequence *s, uint64_t image, struct gf_error *e)
{
    const struct gf_image *shape = gf_rows_image(s->rows, image), *mask;
    if (!s->mask)
        return GF_OK;
    mask = gf_rows_image(s->mask, 0);
    if (gf_rows_images(s->mask) != 1 || mask->channels != 1)
        return gf_fail(e, GF_EFEATURE, "%s: has %llu image%s of %u channel%s; a mask is one image "
                       "of one channel", gf_rows_name(s->mask),
                       (unsigned long long)gf_rows_images(s->mask),
                       gf_rows_images(s->mask) == 1 ? "" : "s", mask->channels,
                       mask->channels == 1 ? "" : "s");
    if (mask->width == shape->width && mask->height == shape->height &&
        (mask->depth == shape->depth || mask->depth == 1))
        return GF_OK;
    return gf_fail(e, GF_EFEATURE, "%s: is %llux%llux%llu, but %s is %llux%llux%llu; a mask has "
                   "the image's size, or that of one plane", gf_rows_name(s->mask),
                   (unsigned long long)mask->width, (unsigned long long)mask->height,
                   (unsigned long long)mask->depth, gf_rows_name(s->rows),
                   (unsigned long long)shape->width, (unsigned long long)shape->height,
                   (unsigned long long)shape->depth);
}

enum gf_status gf_sequence_check(const struct gf_sequence *s, struct gf_error *e)
{
    for (uint64_t i = s->first_image; i < s->first_image + s->images; i++) {
        const struct gf_image *shape = gf_rows_image(s->rows, i);
        if (shape->type != gf_sequence_type(s))
            return gf_fail(e, GF_EFEATURE, "%s: page %llu is %s, page %llu is %s; --per page "
                           "measures them one by one", gf_rows_name(s->rows),
                           (unsigned long long)s->first_image + 1,
                           gf_type_name(gf_sequence_type(s)), (unsigned long long)i + 1,
                           gf_type_name(shape->type));
        GF_TRY(check_box(s, i, e));
        GF_TRY(check_mask(s, i, e));
    }
    return GF_OK;
}

/* ---- picking samples ---- */

/* Which pixels of a row are in: a byte each, or NULL when all are. */
static uint64_t count_pixels(const uint8_t *in, uint64_t count)
{
    uint64_t n = in ? 0 : count;
    for (uint64_t i = 0; in && i < count; i++)
        n += in[i];
    return n;
}

/* Copies `channels` samples each of the pixels that are in, from pixels `stride` samples apart. */
#define PICK(T)                                                                               \
    static uint64_t pick_##T(void *to, const void *from, uint64_t count, const uint8_t *in,   \
                             uint32_t channels, uint32_t stride)                              \
    {                                                                                         \
        T *t = to;                                                                            \
        const T *f = from;                                                                    \
        for (uint64_t i = 0; i < count; i++, f += stride)                                     \
            for (uint32_t c = 0; (!in || in[i]) && c < channels; c++)                         \
                *t++ = f[c];                                                                  \
        return (uint64_t)(t - (T *)to);                                                       \
    }
PICK(uint8_t)
PICK(uint16_t)
PICK(uint32_t)
PICK(uint64_t)
#undef PICK

static uint64_t pick(unsigned bytes, void *to, const void *from, uint64_t count, const uint8_t *in,
                     uint32_t channels, uint32_t stride)
{
    switch (bytes) {
    case 1: return pick_uint8_t(to, from, count, in, channels, stride);
    case 2: return pick_uint16_t(to, from, count, in, channels, stride);
    case 4: return pick_uint32_t(to, from, count, in, channels, stride);
    default: return pick_uint64_t(to, from, count, in, channels, stride);
    }
}

/* in[i] = whether sample i is a number other than 0: NaN means that there is no data. */
static void is_chosen(enum gf_type type, const void *samples, uint64_t count, uint8_t *in)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                  \
    case GF_##NAME:                                                             \
        for (uint64_t i = 0; i < count; i++)                                    \
            in[i] = fabs(gf_value_of_##name(((const ctype *)samples)[i])) > 0;  \
        break;
        GF_TYPES(X)
#undef X
    default: break;
    }
}

/* ---- the mask, a row at a time ---- */

enum gf_status gf_mask_line_open(struct gf_mask_line *m, const struct gf_sequence *s,
                                struct gf_error *e)
{
    const struct gf_image *mask;
    void *block;
    memset(m, 0, sizeof *m);
    if (!s->mask)
        return GF_OK;
    mask = gf_rows_image(s->mask, 0);
    GF_TRY(gf_allocate(&m->samples, mask->width, gf_type_bytes(mask->type), gf_rows_name(s->mask),
                       e));
    GF_TRY(gf_allocate(&block, mask->width, 1, gf_rows_name(s->mask), e));
    m->in = block;
    return GF_OK;
}

void gf_mask_line_close(struct gf_mask_line *m)
{
    gf_free(m->samples);
    gf_free(m->in);
}

/* The pixels of row y of plane z. */
enum gf_status gf_mask_line_read(struct gf_mask_line *m, const struct gf_sequence *s, uint64_t y,
                                uint64_t z, struct gf_error *e)
{
    const struct gf_image *mask;
    if (!m->in)
        return GF_OK;
    mask = gf_rows_image(s->mask, 0);
    GF_TRY(gf_rows_read(s->mask, 0, (mask->depth == 1 ? 0 : z) * mask->height + y, 1, m->samples,
                        e));
    is_chosen(mask->type, m->samples, mask->width, m->in);
    return GF_OK;
}

/* ---- running ---- */

struct run {
    const struct gf_sequence *s;
    const struct gf_sink *sinks;
    unsigned sink_count;
    unsigned bytes;             /* of a sample */
    char *block;                /* samples not yet handed on */
    uint64_t room, filled;
    void *line;                 /* rows from which samples are picked */
    struct gf_mask_line mask;
};

static enum gf_status hand_on(struct run *r, bool last, struct gf_error *e)
{
    uint64_t count = last ? r->filled : r->filled / GF_LEAF * GF_LEAF;
    if (gf_signal_pending())
        return GF_ESIGNAL;
    for (unsigned i = 0; i < r->sink_count && count > 0; i++)
        GF_TRY(r->sinks[i].feed(r->sinks[i].state, r->block, count, e));
    r->filled -= count;
    memmove(r->block, r->block + count * r->bytes, r->filled * r->bytes);
    return GF_OK;
}

/* Whole rows [first, first + count) of an image, straight into the block. */
static enum gf_status run_whole_rows(struct run *r, uint64_t image, uint64_t first, uint64_t count,
                                     struct gf_error *e)
{
    const uint64_t row = gf_row_bytes(gf_rows_image(r->s->rows, image)) / r->bytes;
    while (count > 0) {
        uint64_t n = gf_min(count, (r->room - r->filled) / row);
        GF_TRY(gf_rows_read(r->s->rows, image, first, n, r->block + r->filled * r->bytes, e));
        r->filled += n * row;
        first += n;
        count -= n;
        if (r->room - r->filled < row)
            GF_TRY(hand_on(r, false, e));
    }
    return GF_OK;
}

/* Parts of the rows of one plane of a box. */
static enum gf_status run_picked_rows(struct run *r, uint64_t image, const struct gf_box *box,
                                      uint64_t z, struct gf_error *e)
{
    const struct gf_sequence *s = r->s;
    const struct gf_image *shape = gf_rows_image(s->rows, image);
    const uint32_t channel = s->channel < 0 ? 0 : (uint32_t)s->channel;
    const uint32_t channels = s->channel < 0 ? shape->channels : 1;
    const uint64_t skipped = box->origin[0] * shape->channels + channel;
    for (uint64_t y = box->origin[1]; y < box->origin[1] + box->size[1]; y++) {
        const uint8_t *in = r->mask.in ? r->mask.in + box->origin[0] : NULL;
        if (r->room - r->filled < box->size[0] * channels)
            GF_TRY(hand_on(r, false, e));
        GF_TRY(gf_mask_line_read(&r->mask, s, y, z, e));
        GF_TRY(gf_rows_read(s->rows, image, z * shape->height + y, 1, r->line, e));
        r->filled += pick(r->bytes, r->block + r->filled * r->bytes,
                          (const char *)r->line + skipped * r->bytes, box->size[0], in, channels,
                          shape->channels);
    }
    return GF_OK;
}

/* Whether all of a row is in, or nothing. */
static bool has_whole_rows(const struct gf_sequence *s, uint64_t image)
{
    const struct gf_image *shape = gf_rows_image(s->rows, image);
    return gf_sequence_box(s, image).size[0] == shape->width && !s->mask &&
           (s->channel < 0 || shape->channels == 1);
}

static enum gf_status run_image(struct run *r, uint64_t image, struct gf_error *e)
{
    const struct gf_image *shape = gf_rows_image(r->s->rows, image);
    const struct gf_box box = gf_sequence_box(r->s, image);
    const bool whole = has_whole_rows(r->s, image);
    uint64_t first = box.origin[2] * shape->height + box.origin[1];
    if (whole && box.size[1] == shape->height)
        return run_whole_rows(r, image, first, box.size[2] * shape->height, e);
    for (uint64_t z = 0; z < box.size[2]; z++, first += shape->height)
        if (whole)
            GF_TRY(run_whole_rows(r, image, first, box.size[1], e));
        else
            GF_TRY(run_picked_rows(r, image, &box, box.origin[2] + z, e));
    return GF_OK;
}

/* The block holds whole leaves beside a row, so that after handing on there is always room for
 * the next row; or all there is. */
static enum gf_status make_room(struct run *r, struct gf_error *e)
{
    const struct gf_sequence *s = r->s;
    const uint64_t bytes = gf_max(BLOCK_BYTES, s->threads * THREAD_BYTES);
    uint64_t row = 0;
    void *block;
    for (uint64_t i = s->first_image; i < s->first_image + s->images; i++)
        row = gf_max(row, gf_row_bytes(gf_rows_image(s->rows, i)) / r->bytes);
    r->room = gf_min(gf_max(bytes / r->bytes, GF_LEAF), gf_sequence_most(s)) + row;
    GF_TRY(gf_allocate(&block, r->room, r->bytes, gf_rows_name(s->rows), e));
    r->block = block;
    GF_TRY(gf_allocate(&r->line, row, r->bytes, gf_rows_name(s->rows), e));
    return gf_mask_line_open(&r->mask, s, e);
}

static enum gf_status run_blocks(const struct gf_sequence *s, const struct gf_sink *sinks,
                                 unsigned count, struct gf_error *e)
{
    struct run r = {.s = s, .sinks = sinks, .sink_count = count,
                    .bytes = gf_type_bytes(gf_sequence_type(s))};
    enum gf_status status = make_room(&r, e);
    for (uint64_t i = 0; i < s->images && status == GF_OK; i++)
        status = run_image(&r, s->first_image + i, e);
    if (status == GF_OK)
        status = hand_on(&r, true, e);
    gf_free(r.block);
    gf_free(r.line);
    gf_mask_line_close(&r.mask);
    return status;
}

/* ---- the same, without blocks ---- */

/* Samples that lie side by side in a file which can be read at any place. */
struct stretch {
    const struct gf_rows *rows;
    uint64_t first;             /* sample of the image */
};

static enum gf_status read_stretch(const void *of, uint64_t first, uint64_t count, void *to,
                                   struct gf_error *e)
{
    const struct stretch *stretch = of;
    return gf_rows_samples(stretch->rows, stretch->first + first, count, to, e);
}

static bool is_stretch(const struct gf_sequence *s, struct stretch *stretch)
{
    const struct gf_image *shape = gf_rows_image(s->rows, s->first_image);
    const struct gf_box box = gf_sequence_box(s, s->first_image);
    const uint64_t row = box.origin[2] * shape->height + box.origin[1];
    *stretch = (struct stretch){s->rows, row * shape->width * shape->channels};
    return gf_rows_anywhere(s->rows) && has_whole_rows(s, s->first_image) &&
           (box.size[1] == shape->height || box.size[2] == 1);
}

enum gf_status gf_sequence_run(const struct gf_sequence *s, const struct gf_sink *sinks,
                               unsigned count, struct gf_error *e)
{
    struct stretch stretch;
    const struct gf_supply supply = {read_stretch, &stretch};
    /* Several sinks would read the file several times. */
    if (count == 1 && sinks[0].pull && is_stretch(s, &stretch))
        return sinks[0].pull(sinks[0].state, &supply, gf_sequence_most(s), e);
    return run_blocks(s, sinks, count, e);
}

/* ---- places ---- */

/* The pixel of this index among those of a box, without a mask. */
static void place_in_box(const struct gf_box *box, uint64_t pixel, struct gf_place *place)
{
    place->x = box->origin[0] + pixel % box->size[0];
    place->y = box->origin[1] + pixel / box->size[0] % box->size[1];
    place->z = box->origin[2] + pixel / box->size[0] / box->size[1];
}

/* Goes through the mask's rows of a box until `*pixel` of its pixels have passed; *found. */
static enum gf_status place_in_mask(const struct gf_sequence *s, const struct gf_box *box,
                                    uint64_t *pixel, struct gf_place *place, bool *found,
                                    struct gf_error *e)
{
    struct gf_mask_line m;
    enum gf_status status = gf_mask_line_open(&m, s, e);
    *found = false;
    for (uint64_t row = 0; status == GF_OK && !*found && row < box->size[1] * box->size[2]; row++) {
        uint64_t y = box->origin[1] + row % box->size[1], z = box->origin[2] + row / box->size[1];
        const uint8_t *in;
        uint64_t n, x = 0;
        status = gf_mask_line_read(&m, s, y, z, e);
        if (status != GF_OK)
            break;
        in = m.in + box->origin[0];
        n = count_pixels(in, box->size[0]);
        if (*pixel >= n) {
            *pixel -= n;
            continue;
        }
        for (x = 0; *pixel > 0 || !in[x]; x++)
            *pixel -= in[x];
        *place = (struct gf_place){.x = box->origin[0] + x, .y = y, .z = z};
        *found = true;
    }
    gf_mask_line_close(&m);
    return status;
}

enum gf_status gf_sequence_place(const struct gf_sequence *s, uint64_t index,
                                 struct gf_place *place, struct gf_error *e)
{
    for (uint64_t i = s->first_image; i < s->first_image + s->images; i++) {
        const struct gf_box box = gf_sequence_box(s, i);
        const uint32_t channels = s->channel < 0 ? gf_rows_image(s->rows, i)->channels : 1;
        const uint64_t pixels = box.size[0] * box.size[1] * box.size[2];
        uint64_t pixel = index / channels, passed = pixel;
        bool found = !s->mask && pixel < pixels;
        if (found)
            place_in_box(&box, pixel, place);
        else if (s->mask)
            GF_TRY(place_in_mask(s, &box, &passed, place, &found, e));
        if (found) {
            place->channel = s->channel < 0 ? index % channels : (uint64_t)s->channel;
            place->page = i;
            return GF_OK;
        }
        index -= s->mask ? (pixel - passed) * channels : pixels * channels;
    }
    return gf_fail(e, GF_EINPUT, "%s: changed while it was read", gf_rows_name(s->rows));
}
