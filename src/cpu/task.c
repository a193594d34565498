/* One block of output: which rows are loaded, kept and summed, in which order. Only
 * load_row() and window() know of borders. */
#include "work.h"

#include "../signals.h"
#include "../util.h"

#include <string.h>

/* The block being made. */
struct block {
    uint64_t x, pixels, y, rows, z, planes;
};

/* Multiply-adds between two looks at the signal flag: some 0.01 s of one thread. */
#define WORK_BETWEEN_LOOKS (UINT64_C(1) << 28)

/* A signal asks for an end: what is not done yet stays undone, and cpu_run says so. */
static bool stopped(void) { return gf_signal_pending() != 0; }

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static void fill_lanes(const struct gf_cpu *cpu, void *to, uint64_t pixels)
{
    const struct gf_plan *plan = cpu->plan;
    double fill = plan->border == GF_BORDER_CONSTANT ? plan->fill : 0.0;
    char *d = to;

    if (pixels == 0)
        return;
    /* One pixel through the ordinary way in, then copies of it. */
    for (uint32_t c = 0; c < plan->in.channels; c++)
        switch (cpu->lane) {
        case GF_LANE_I16: ((uint16_t *)to)[c] = (uint16_t)(int32_t)fill; break;
        case GF_LANE_I32: ((int32_t *)to)[c] = (int32_t)fill; break;
        case GF_LANE_F32: ((float *)to)[c] = (float)fill; break;
        default: ((double *)to)[c] = fill; break;
        }
    if (plan->alpha_multiply)
        cpu->kernels->premultiply[cpu->lane](to, 1, plan->in.channels,
                                             (unsigned)plan->in.alpha);
    size_t done = plan->in.channels * cpu->lane_bytes, all = pixels * done;
    while (done < all) {
        size_t n = gf_min(done, all - done);
        memcpy(d + done, d, n);
        done += n;
    }
}

/* The rows of the next plane are fetched while this one is summed: short pieces of rows
 * far apart are more than the processor foresees by itself. */
static void prefetch_row(const struct gf_cpu *cpu, const char *row, int64_t z, uint64_t x,
                         uint64_t pixels)
{
    const struct gf_image *in = &cpu->plan->in;
    size_t pixel = (size_t)in->channels * gf_type_bytes(in->type);

    if ((uint64_t)z + 1 >= cpu->in->z + cpu->in->planes)
        return;
    row += cpu->in->plane_stride + x * pixel;
    for (size_t at = 0; at < pixels * pixel; at += 64)
        __builtin_prefetch(row + at, 0, 2);
}

static void load_pixels(const struct gf_cpu *cpu, const char *row, uint64_t x, uint64_t pixels,
                        void *to)
{
    const struct gf_image *in = &cpu->plan->in;
    size_t pixel = (size_t)in->channels * gf_type_bytes(in->type);

    cpu->kernels->load[cpu->lane][in->type](row + x * pixel, to, pixels * in->channels);
    if (cpu->plan->alpha_multiply)
        cpu->kernels->premultiply[cpu->lane](to, pixels, in->channels, (unsigned)in->alpha);
}

/* Image row y of plane z (-1: the fill) as lanes, for all that block `b` needs along x. */
static void load_row(const struct gf_cpu *cpu, const struct block *b, int64_t y, int64_t z,
                     void *to)
{
    const struct gf_plan *plan = cpu->plan;
    int64_t n = (int64_t)plan->in.width;
    int64_t first = (int64_t)b->x + plan->shift[0] - plan->origin[0];
    int64_t end = first + (int64_t)b->pixels + plan->size[0] - 1;
    size_t pixel = plan->in.channels * cpu->lane_bytes;
    char *d = to;

    if (y < 0 || z < 0) {
        fill_lanes(cpu, to, (uint64_t)(end - first));
        return;
    }
    const char *row = (const char *)cpu->in->data +
                      ((uint64_t)z - cpu->in->z) * cpu->in->plane_stride +
                      ((uint64_t)y - cpu->in->y) * cpu->in->row_stride;
    for (int64_t i = first; i < end;) {
        int64_t index = gf_border_index(plan->border, i, n);
        int64_t run = 1;
        if (i >= 0 && i < n) {
            run = min64(end, n) - i;
            load_pixels(cpu, row, (uint64_t)i, (uint64_t)run, d);
            if (cpu->deep)
                prefetch_row(cpu, row, z, (uint64_t)i, (uint64_t)run);
        } else if (index < 0) {
            run = (i < 0 ? min64(end, 0) : end) - i;
            fill_lanes(cpu, d, (uint64_t)run);
        } else {
            load_pixels(cpu, row, (uint64_t)index, 1, d);
        }
        i += run;
        d += (size_t)run * pixel;
    }
}

/* A chain in pieces of its lanes. */
static bool sum_pieces(const struct gf_cpu *cpu, const struct gf_chain *chain, const void **rows,
                       uint64_t each)
{
    uint64_t step = WORK_BETWEEN_LOOKS / each;
    uint64_t row_count = (uint64_t)chain->nz * (chain->ny + chain->outputs - 1);
    struct gf_chain piece = *chain;
    void *to[GF_CHAIN_ROWS];

    /* Multiples of the lanes that every instruction set sums together, where there can be. */
    step = step >= 384 ? step / 384 * 384 : step >= 96 ? 96 : 48;
    piece.to = to;
    for (size_t x = 0; x < chain->lanes; x += step) {
        if (stopped())
            return false;
        for (uint64_t i = 0; x > 0 && i < row_count; i++)
            rows[i] = (const char *)rows[i] + step * cpu->lane_bytes;
        for (size_t o = 0; o < chain->outputs; o++)
            to[o] = (char *)chain->to[o] + x * cpu->lane_bytes;
        piece.lanes = gf_min(chain->lanes - x, step);
        cpu->kernels->chain[cpu->lane](&piece);
    }
    return true;
}

/* Sums a chain over `rows`, which may be changed. False when stopped. */
static bool sum_chain(const struct gf_cpu *cpu, struct gf_chain *chain, const void **rows)
{
    uint64_t each = (uint64_t)chain->nz * chain->ny * chain->nx * chain->outputs;

    chain->rows = rows;
    if (each * chain->lanes > WORK_BETWEEN_LOOKS)
        return sum_pieces(cpu, chain, rows, each);
    cpu->kernels->chain[cpu->lane](chain);
    return !stopped();
}

/* A row as the y sum wants it: loaded and, when separable, summed along x. False, here and
 * below, when stopped. */
static bool source_row(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                       int64_t y, int64_t z, void *to)
{
    const struct gf_plan *plan = cpu->plan;

    if (!plan->separable || cpu->skip[0]) {
        load_row(cpu, b, y, z, to);
        return true;
    }
    load_row(cpu, b, y, z, w->extended);
    const void *rows[] = {w->extended};
    void *const tos[] = {to};
    return sum_chain(cpu, &(struct gf_chain){
        .nz = 1, .ny = 1, .nx = plan->size[0], .step = plan->in.channels, .taps = cpu->taps[0],
        .to = tos, .outputs = 1, .lanes = b->pixels * plan->in.channels}, rows);
}

/* Bytes of a row that source_row makes. */
static size_t source_bytes(const struct gf_cpu *cpu)
{
    return cpu->plan->separable ? cpu->row_bytes : cpu->extended_bytes;
}

/* Points w->pointers at the rows of plane z over which `outputs` rows of sums from output
 * row y run; they are made where the ring does not have them yet. */
static bool window(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                   uint64_t y, size_t outputs, int64_t z)
{
    const struct gf_plan *plan = cpu->plan;
    int64_t first = (int64_t)y + plan->shift[1] - plan->origin[1];
    int64_t end = first + plan->size[1] + (int64_t)outputs - 1;
    size_t bytes = source_bytes(cpu);

    gf_ring_advance(&w->rows, first);
    while (w->rows.end < end) {
        int fresh;
        int64_t index = gf_border_index(plan->border, w->rows.end, (int64_t)plan->in.height);
        size_t slot = gf_ring_append(&w->rows, index, &fresh);
        if (stopped() ||
            (fresh && !source_row(cpu, w, b, index, z, w->row_store + slot * bytes)))
            return false;
    }
    for (int64_t i = first; i < end; i++)
        w->pointers[i - first] = w->row_store + gf_ring_slot(&w->rows, i) * bytes;
    return true;
}

/* Sums over the rows in w->pointers: the y pass, or a direct mask of one plane. */
static bool sum_rows(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                     size_t outputs, void *const *to)
{
    const struct gf_plan *plan = cpu->plan;
    size_t lanes = b->pixels * plan->in.channels;

    if (plan->separable && cpu->skip[1]) {
        for (size_t o = 0; o < outputs; o++)
            memcpy(to[o], w->pointers[o], lanes * cpu->lane_bytes);
        return true;
    }
    return sum_chain(cpu, &(struct gf_chain){
        .nz = 1, .ny = plan->size[1], .nx = plan->separable ? 1 : plan->size[0],
        .step = plan->in.channels, .taps = cpu->taps[plan->separable ? 1 : 0], .to = to,
        .outputs = outputs, .lanes = lanes}, w->pointers);
}

/* Planes one at a time. */
static void flat_block(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b)
{
    const struct gf_plan *plan = cpu->plan;

    for (uint64_t z = b->z; z < b->z + b->planes; z++) {
        int64_t index = gf_border_index(plan->border,
                                        (int64_t)z + plan->shift[2] - plan->origin[2],
                                        (int64_t)plan->in.depth);
        gf_ring_clear(&w->rows);
        for (uint64_t y = 0; y < b->rows; y += GF_CHAIN_ROWS) {
            size_t outputs = gf_min(GF_CHAIN_ROWS, b->rows - y);
            if (!window(cpu, w, b, b->y + y, outputs, index) ||
                !sum_rows(cpu, w, b, outputs, (void *const *)w->acc))
                return;
            for (size_t o = 0; o < outputs; o++)
                gf_cpu_finish(cpu, w, w->acc[o], b->x, b->pixels, b->y + y + o, z);
        }
    }
}

/* What the z sum wants of image plane z: its rows summed along x and y, or, for a direct
 * mask, loaded with their halo. */
static bool source_plane(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                         int64_t z, char *to)
{
    const struct gf_plan *plan = cpu->plan;
    size_t bytes = source_bytes(cpu);

    if (!plan->separable) {
        int64_t first = (int64_t)b->y + plan->shift[1] - plan->origin[1];
        for (int64_t j = 0; j < (int64_t)b->rows + plan->size[1] - 1; j++) {
            if (stopped())
                return false;
            load_row(cpu, b, gf_border_index(plan->border, first + j, (int64_t)plan->in.height),
                     z, to + (size_t)j * bytes);
        }
        return true;
    }
    gf_ring_clear(&w->rows);
    for (uint64_t y = 0; y < b->rows; y += GF_CHAIN_ROWS) {
        size_t outputs = gf_min(GF_CHAIN_ROWS, b->rows - y);
        void *tos[GF_CHAIN_ROWS];
        for (size_t o = 0; o < outputs; o++)
            tos[o] = to + (y + o) * bytes;
        if (!window(cpu, w, b, b->y + y, outputs, z) || !sum_rows(cpu, w, b, outputs, tos))
            return false;
    }
    return true;
}

static char *plane_at(const struct gf_cpu *cpu, const struct gf_worker *w, int64_t i)
{
    return w->plane_store + gf_ring_slot(&w->planes, i) * cpu->plane_bytes;
}

/* The z pass: `outputs` planes together. */
static bool sum_planes(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                       uint64_t z, size_t outputs, int64_t first)
{
    const struct gf_plan *plan = cpu->plan;
    size_t window_size = plan->size[2] + outputs - 1;

    for (uint64_t y = 0; y < b->rows; y++) {
        for (size_t k = 0; k < window_size; k++)
            w->pointers[k] = plane_at(cpu, w, first + (int64_t)k) + y * source_bytes(cpu);
        bool done = sum_chain(cpu, &(struct gf_chain){
            .nz = 1, .ny = plan->size[2], .nx = 1, .step = 0, .taps = cpu->taps[2],
            .to = (void *const *)w->acc, .outputs = outputs,
            .lanes = b->pixels * plan->in.channels}, w->pointers);
        if (!done)
            return false;
        for (size_t o = 0; o < outputs; o++)
            gf_cpu_finish(cpu, w, w->acc[o], b->x, b->pixels, b->y + y, z + o);
    }
    return true;
}

/* A direct mask with several planes: rows of one output plane together. */
static bool sum_box(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b,
                    uint64_t z, int64_t first)
{
    const struct gf_plan *plan = cpu->plan;

    for (uint64_t y = 0; y < b->rows; y += GF_CHAIN_ROWS) {
        size_t outputs = gf_min(GF_CHAIN_ROWS, b->rows - y);
        const void **pointer = w->pointers;
        for (uint32_t k = 0; k < plan->size[2]; k++) {
            const char *plane = plane_at(cpu, w, first + k);
            for (size_t j = 0; j < plan->size[1] + outputs - 1; j++)
                *pointer++ = plane + (y + j) * source_bytes(cpu);
        }
        bool done = sum_chain(cpu, &(struct gf_chain){
            .nz = plan->size[2], .ny = plan->size[1], .nx = plan->size[0],
            .step = plan->in.channels, .taps = cpu->taps[0], .to = (void *const *)w->acc,
            .outputs = outputs, .lanes = b->pixels * plan->in.channels}, w->pointers);
        if (!done)
            return false;
        for (size_t o = 0; o < outputs; o++)
            gf_cpu_finish(cpu, w, w->acc[o], b->x, b->pixels, b->y + y + o, z);
    }
    return true;
}

static void deep_block(const struct gf_cpu *cpu, struct gf_worker *w, const struct block *b)
{
    const struct gf_plan *plan = cpu->plan;
    uint64_t step = plan->separable ? GF_CHAIN_ROWS : 1;

    gf_ring_clear(&w->planes);
    for (uint64_t z = b->z; z < b->z + b->planes; z += step) {
        size_t outputs = gf_min(step, b->z + b->planes - z);
        int64_t first = (int64_t)z + plan->shift[2] - plan->origin[2];
        int64_t end = first + plan->size[2] + (int64_t)outputs - 1;
        gf_ring_advance(&w->planes, first);
        while (w->planes.end < end) {
            int fresh;
            int64_t index = gf_border_index(plan->border, w->planes.end,
                                            (int64_t)plan->in.depth);
            size_t slot = gf_ring_append(&w->planes, index, &fresh);
            if (stopped() ||
                (fresh && !source_plane(cpu, w, b, index,
                                        w->plane_store + slot * cpu->plane_bytes)))
                return;
        }
        if (!(plan->separable ? sum_planes(cpu, w, b, z, outputs, first)
                              : sum_box(cpu, w, b, z, first)))
            return;
    }
}

void gf_cpu_task(void *context, unsigned worker, uint64_t i)
{
    const struct gf_cpu *cpu = context;
    struct gf_worker *w = &cpu->workers[worker];
    const struct gf_slab *out = cpu->out;
    uint64_t bx = i % cpu->blocks_x, rest = i / cpu->blocks_x;
    uint64_t by = rest % cpu->blocks_y, bz = rest / cpu->blocks_y;
    struct block b = {
        .x = bx * cpu->block_pixels,
        .y = out->y + by * cpu->rows_each,
        .z = cpu->deep ? out->z : out->z + bz,
        .planes = cpu->deep ? out->planes : 1,
    };

    if (stopped())
        return;
    b.pixels = gf_min(cpu->block_pixels, cpu->plan->out.width - b.x);
    b.rows = gf_min(cpu->rows_each, out->y + out->rows - b.y);
    if (cpu->deep)
        deep_block(cpu, w, &b);
    else
        flat_block(cpu, w, &b);
}
