/* The CPU backend: what a plan means to it, its memory and its threads. */
#include "work.h"

#include "../alloc.h"
#include "../signals.h"
#include "../util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows kept for the y sum should stay in the second-level cache (256 KiB on the oldest
 * machines in use) beside what streams through; the planes kept for a z sum are larger
 * than any first-level cache, and most of a 1 MiB second level is theirs. */
#define ROWS_BUDGET (192u << 10)
#define PLANES_BUDGET (768u << 10)

/* ---- lanes ---- */

/* Greatest |sum| of an EXACT plan, whether no sum can be below 0, and no tap is. */
static double exact_bound(const struct gf_plan *plan, bool *no_negative, bool *taps_positive)
{
    const struct gf_type_row *row = gf_type_row(plan->in.type);
    double highest = fmax(fmax(fabs(row->lowest), row->highest), 1.0);
    double taps = 1.0;

    *taps_positive = true;
    if (plan->border == GF_BORDER_CONSTANT)
        highest = fmax(highest, fabs(plan->fill));
    if (plan->alpha_multiply)
        highest *= highest;
    for (int a = 0; a < (plan->separable ? 3 : 1); a++) {
        const int32_t *t = plan->separable ? plan->factor[a] : plan->taps;
        uint64_t n = plan->separable ? plan->size[a]
                                     : (uint64_t)plan->size[0] * plan->size[1] * plan->size[2];
        double sum = 0.0;
        for (uint64_t i = 0; t != NULL && i < n; i++) {
            sum += fabs((double)t[i]);
            *taps_positive = *taps_positive && t[i] >= 0;
        }
        taps *= t != NULL ? sum : 1.0;
    }
    *no_negative = *taps_positive && row->lowest >= 0 && plan->fill >= 0;
    return taps * highest;
}

static void choose_lane(struct gf_cpu *cpu, double bound, bool no_negative)
{
    const struct gf_plan *plan = cpu->plan;

    cpu->lanes_signed = true;
    if (plan->arith != GF_EXACT) {
        cpu->lane = plan->arith == GF_FLOAT ? GF_LANE_F32 : GF_LANE_F64;
        return;
    }
    cpu->lane = GF_LANE_I32;
    if (plan->alpha_multiply)
        return;
    if (bound <= 32767.0 || (no_negative && bound <= 65535.0)) {
        cpu->lane = GF_LANE_I16;
        cpu->lanes_signed = !no_negative;
    } else if (cpu->kernels->fused && bound <= 16777216.0) {
        /* Sums and products are integers that a float holds. */
        cpu->lane = GF_LANE_F32;
    }
}

static void choose_finish(struct gf_cpu *cpu, double bound, bool taps_positive)
{
    const struct gf_plan *plan = cpu->plan;
    bool narrow = gf_type_bytes(plan->out.type) <= 2 && plan->out.type != GF_F16;
    bool normalize = plan->border == GF_BORDER_NORMALIZE;
    bool power = (plan->divisor & (plan->divisor - 1)) == 0;

    if (plan->arith != GF_EXACT) {
        cpu->finish = plan->arith == GF_FLOAT ? GF_FINISH_F32 : GF_FINISH_F64;
        return;
    }
    if (plan->alpha_divide || normalize) {
        struct gf_ratio *r = &cpu->ratio;
        double color, plain;
        *r = (struct gf_ratio){
            .channels = plan->in.channels,
            .alpha = plan->alpha_divide ? plan->in.alpha : -1,
            .color_factor = plan->tap_total * (int64_t)plan->alpha_scale,
            .plain_factor = normalize ? (int64_t)gf_plan_total(plan) : 1,
            .color_divisor = plan->divisor,
            .plain_divisor = plan->alpha_divide ? plan->tap_total : plan->divisor,
            .to_integer = !gf_type_row(plan->out.type)->is_float,
        };
        /* Numerators and denominators alike must be exact in a double. */
        color = bound * fmax(fabs((double)r->color_factor), (double)r->color_divisor);
        plain = fmax(bound * fabs((double)r->plain_factor),
                     fabs((double)r->plain_divisor) * (normalize ? bound : 1.0));
        /* And a product that is 0 must not take a sign from its factors. */
        r->wide = fmax(color, plain) >= 4503599627370496.0 || !taps_positive ||
                  plan->tap_total <= 0;
        cpu->finish = GF_FINISH_RATIO;
        return;
    }
    cpu->finish = GF_FINISH_DIVIDE_F64;
    if (power && narrow && plan->divisor <= INT64_C(1) << 30) {
        cpu->shift = (unsigned)__builtin_ctzll((unsigned long long)plan->divisor);
        cpu->finish = GF_FINISH_SHIFT_I32;
        if (cpu->lane == GF_LANE_I16 && cpu->shift <= 14 &&
            cpu->kernels->store_i16[cpu->lanes_signed][plan->out.type] != NULL)
            cpu->finish = GF_FINISH_SHIFT_I16;
    } else if (narrow && bound < 4194304.0 && plan->divisor < 16777216) {
        cpu->finish = GF_FINISH_DIVIDE_F32;
    }
}

/* Taps in the lane's type, for exact plans in lanes other than int32_t. */
static enum gf_status convert_taps(struct gf_cpu *cpu, struct gf_error *e)
{
    const struct gf_plan *plan = cpu->plan;

    for (int a = 0; a < (plan->separable ? 3 : 1); a++) {
        void *given = plan->separable ? plan->factor[a] : plan->taps;
        uint64_t n = plan->separable ? plan->size[a]
                                     : (uint64_t)plan->size[0] * plan->size[1] * plan->size[2];
        cpu->taps[a] = given;
        if (given == NULL || plan->arith != GF_EXACT || cpu->lane == GF_LANE_I32)
            continue;
        cpu->taps[a] = NULL;
        GF_TRY(gf_allocate(&cpu->taps[a], n, cpu->lane_bytes, "the mask", e));
        for (uint64_t i = 0; i < n; i++)
            if (cpu->lane == GF_LANE_I16)
                ((uint16_t *)cpu->taps[a])[i] = (uint16_t)((const int32_t *)given)[i];
            else
                ((float *)cpu->taps[a])[i] = (float)((const int32_t *)given)[i];
    }
    return GF_OK;
}

/* ---- blocks ---- */

/* Different image indices a window of `size` taps and some outputs can hold. */
static uint64_t slots(uint64_t size, uint64_t outputs, uint64_t n)
{
    return gf_min(size + outputs - 1, n + 1);
}

static uint64_t even_share(uint64_t n, uint64_t most)
{
    return gf_ceil_div(n, gf_ceil_div(n, most));
}

static void choose_flat_block(struct gf_cpu *cpu)
{
    const struct gf_plan *plan = cpu->plan;
    uint64_t rows = slots(plan->size[1], GF_CHAIN_ROWS, plan->in.height);
    uint64_t lanes = ROWS_BUDGET / cpu->lane_bytes / rows;

    lanes = gf_min(gf_max(lanes, 512), 4096);
    cpu->block_pixels = even_share(plan->out.width, gf_max(lanes / plan->in.channels, 1));
    cpu->block_rows = plan->out.height;
}

/* The block that costs least: rows of the halo are loaded and summed along x again, pixels
 * of the halo only loaded, and every piece of a row is a jump in memory, as dear as summing
 * a few hundred pixels. */
static void choose_deep_block(struct gf_cpu *cpu)
{
    const struct gf_plan *plan = cpu->plan;
    uint64_t planes = slots(plan->size[2], plan->separable ? GF_CHAIN_ROWS : 1, plan->in.depth);
    uint64_t area = PLANES_BUDGET / cpu->lane_bytes / planes / plan->in.channels;
    double halo_x = plan->size[0] - 1, halo_y = plan->size[1] - 1, best = INFINITY;

    for (uint64_t p = 32; p <= 4096; p *= 2) {
        uint64_t pixels = even_share(plan->out.width, gf_max(p, 1));
        uint64_t rows = area / pixels;
        if (!plan->separable) {
            /* Here the planes are kept with their halo. */
            uint64_t with_halo = area / (pixels + plan->size[0] - 1);
            rows = with_halo > plan->size[1] - 1 ? with_halo - (plan->size[1] - 1) : 0;
        }
        rows = even_share(plan->out.height, gf_max(rows, 4));
        double load = 1 + halo_x / (double)pixels;
        double sums = plan->separable ? plan->size[0] * 0.5 : 0.0;
        double cost = (sums + 4.0 * load + 2048.0 / (double)pixels) * (1 + halo_y / (double)rows);
        if (cost < best) {
            best = cost;
            cpu->block_pixels = pixels;
            cpu->block_rows = rows;
        }
    }
}

/* Small blocks for tests: GPUFILT_TEST_BLOCK=PIXELSxROWS. */
static void test_block(struct gf_cpu *cpu)
{
#ifdef GPUFILT_TEST_HOOKS
    const char *text = getenv("GPUFILT_TEST_BLOCK");
    unsigned pixels, rows;

    if (text == NULL || sscanf(text, "%ux%u", &pixels, &rows) != 2 || pixels < 1 || rows < 1)
        return;
    cpu->block_pixels = gf_min(pixels, cpu->plan->out.width);
    cpu->block_rows = gf_min(rows, cpu->plan->out.height);
    cpu->block_given = true;
#else
    (void)cpu;
#endif
}

/* ---- memory ---- */

struct layout {
    char *base;
    uint64_t used;
    bool overflow;
};

/* The next `count` * `bytes` of the block, on a cache line; NULL while only measuring. */
static void *carve(struct layout *l, uint64_t count, uint64_t bytes)
{
    uint64_t size, at = l->used;

    if (!gf_mul(count, bytes, &size) || size > UINT64_MAX / 4 || at > UINT64_MAX / 4) {
        l->overflow = true;
        return NULL;
    }
    l->used = at + (size + 63) / 64 * 64;
    return l->base != NULL ? l->base + at : NULL;
}

static void carve_ring(struct layout *l, struct gf_ring *ring, uint64_t slot_count,
                       uint64_t capacity)
{
    ring->slots = slot_count;
    ring->capacity = capacity;
    ring->holds = carve(l, slot_count, sizeof ring->holds[0]);
    ring->users = carve(l, slot_count, sizeof ring->users[0]);
    ring->slot_of = carve(l, capacity, sizeof ring->slot_of[0]);
}

static void carve_worker(const struct gf_cpu *cpu, struct gf_worker *w, struct layout *l)
{
    const struct gf_plan *plan = cpu->plan;
    uint64_t row_slots = slots(plan->size[1], GF_CHAIN_ROWS, plan->in.height);
    uint64_t outputs = plan->separable ? GF_CHAIN_ROWS : 1;
    uint64_t plane_slots = slots(plan->size[2], outputs, plan->in.depth);
    uint64_t window_rows = (uint64_t)plan->size[1] + GF_CHAIN_ROWS - 1;
    uint64_t window_planes = plan->size[2] + outputs - 1;
    uint64_t lanes = cpu->row_bytes / cpu->lane_bytes;
    bool normalize = plan->border == GF_BORDER_NORMALIZE;
    bool in_rows = plan->separable || !cpu->deep;

    w->extended = carve(l, plan->separable && !cpu->skip[0], cpu->extended_bytes);
    w->row_store = carve(l, in_rows ? row_slots : 0,
                         plan->separable ? cpu->row_bytes : cpu->extended_bytes);
    w->plane_store = carve(l, cpu->deep ? plane_slots : 0, cpu->plane_bytes);
    for (int o = 0; o < GF_CHAIN_ROWS; o++)
        w->acc[o] = carve(l, 1, cpu->row_bytes);
    w->pointers = carve(l, gf_max(window_rows * (plan->separable ? 1 : plan->size[2]),
                                  window_planes),
                        sizeof(void *));
    carve_ring(l, &w->rows, in_rows ? row_slots : 1, in_rows ? window_rows : 1);
    carve_ring(l, &w->planes, cpu->deep ? plane_slots : 1, cpu->deep ? window_planes : 1);
    w->sums = carve(l, plan->arith == GF_EXACT ? lanes : 0, sizeof(int32_t));
    w->values = carve(l, lanes, sizeof(double));
    w->inside = carve(l, normalize ? lanes : 0, sizeof(double));
    w->factor = carve(l, normalize ? lanes : 0, sizeof(double));
    w->spread = carve(l, plan->alpha_divide ? lanes : 0, sizeof(double));
    w->bits = carve(l, plan->alpha_keep ? lanes : 0, 8);
}

static enum gf_status row_sizes(struct gf_cpu *cpu, struct gf_error *e)
{
    const struct gf_plan *plan = cpu->plan;
    uint64_t lanes, extended, rows, plane;

    if (!gf_mul(cpu->block_pixels, plan->in.channels, &lanes) ||
        !gf_mul(cpu->block_pixels + plan->size[0] - 1, plan->in.channels, &extended) ||
        extended > UINT64_MAX / 64)
        return gf_memory_check(UINT64_MAX, "rows of the filter", e);
    /* On a cache line, and not a power of two apart, which would share cache sets. */
    lanes = (lanes + GF_LANE_SLACK + 63) / 64 * 64;
    extended = (extended + GF_LANE_SLACK + 63) / 64 * 64;
    cpu->row_bytes = lanes * cpu->lane_bytes;
    cpu->extended_bytes = extended * cpu->lane_bytes;
    rows = plan->separable ? cpu->block_rows : cpu->block_rows + plan->size[1] - 1;
    if (!gf_mul(rows, plan->separable ? cpu->row_bytes : cpu->extended_bytes, &plane))
        return gf_memory_check(UINT64_MAX, "planes of the filter", e);
    cpu->plane_bytes = plane;
    return GF_OK;
}

/* ---- the backend ---- */

static void cpu_close(void *state)
{
    struct gf_cpu *cpu = state;

    if (cpu == NULL)
        return;
    gf_pool_close(cpu->pool);
    for (int a = 0; a < 3; a++)
        if (cpu->taps[a] != cpu->plan->factor[a] && cpu->taps[a] != cpu->plan->taps)
            gf_free(cpu->taps[a]);
    for (unsigned i = 0; cpu->workers != NULL && i < cpu->threads; i++)
        gf_free(cpu->workers[i].block);
    gf_free(cpu->workers);
    gf_free(cpu);
}

static enum gf_status prepare(struct gf_cpu *cpu, struct gf_error *e)
{
    const struct gf_plan *plan = cpu->plan;
    static const size_t bytes[] = {2, 4, 4, 8};
    bool no_negative = false, taps_positive = false;
    double bound = plan->arith == GF_EXACT ? exact_bound(plan, &no_negative, &taps_positive)
                                           : INFINITY;
    void *block = NULL;

    choose_lane(cpu, bound, no_negative);
    cpu->lane_bytes = bytes[cpu->lane];
    if (cpu->kernels->load[cpu->lane][plan->in.type] == NULL)
        return gf_fail(e, GF_EFEATURE, "exact arithmetic cannot read %s samples",
                       gf_type_name(plan->in.type));
    choose_finish(cpu, bound, taps_positive);
    GF_TRY(convert_taps(cpu, e));
    for (int a = 0; a < 3 && plan->separable; a++)
        cpu->skip[a] = gf_plan_skips(plan, a);
    cpu->deep = plan->separable ? !cpu->skip[2] : plan->size[2] > 1;
    if (cpu->deep)
        choose_deep_block(cpu);
    else
        choose_flat_block(cpu);
    test_block(cpu);
    GF_TRY(row_sizes(cpu, e));

    cpu->threads = plan->threads > 1 ? plan->threads : 1;
    GF_TRY(gf_allocate(&block, cpu->threads, sizeof *cpu->workers, "threads", e));
    memset(block, 0, cpu->threads * sizeof *cpu->workers);
    cpu->workers = block;
    for (unsigned i = 0; i < cpu->threads; i++) {
        struct gf_worker *w = &cpu->workers[i];
        struct layout l = {0};
        carve_worker(cpu, w, &l);
        GF_TRY(gf_allocate(&w->block, l.overflow ? UINT64_MAX : l.used, 1,
                           "rows of the filter", e));
        l = (struct layout){.base = w->block};
        carve_worker(cpu, w, &l);
        w->inside_x = -1;
    }
    cpu->pool = gf_pool_open(cpu->threads);
    return GF_OK;
}

static enum gf_status cpu_open(const struct gf_plan *plan, void **state, struct gf_error *e)
{
    void *block = NULL;
    struct gf_cpu *cpu;
    enum gf_status status;

    GF_TRY(gf_allocate(&block, 1, sizeof *cpu, "the filter", e));
    cpu = block;
    *cpu = (struct gf_cpu){.plan = plan};
    status = gf_kernels_choose(&cpu->kernels, e);
    if (status == GF_OK)
        status = prepare(cpu, e);
    if (status != GF_OK) {
        cpu_close(cpu);
        return status;
    }
    *state = cpu;
    return GF_OK;
}

static enum gf_status cpu_run(void *state, const struct gf_slab *in, struct gf_slab *out,
                              struct gf_counts *counts, struct gf_error *e)
{
    struct gf_cpu *cpu = state;
    /* Several tasks a thread, so that one that is held up does not hold up the rest. */
    uint64_t wanted = cpu->threads == 1 ? 1 : UINT64_C(8) * cpu->threads, others;

    (void)e;
    if (out->rows == 0 || out->planes == 0)
        return GF_OK;
    cpu->in = in;
    cpu->out = out;
    cpu->blocks_x = gf_ceil_div(cpu->plan->out.width, cpu->block_pixels);
    others = cpu->blocks_x * (cpu->deep ? 1 : out->planes);
    cpu->rows_each = gf_min(cpu->block_rows, out->rows);
    if (others < wanted && !cpu->block_given) {
        /* Lower blocks than fit only where their halo stays small. */
        uint64_t fair = gf_ceil_div(out->rows, gf_ceil_div(wanted, others));
        uint64_t least = cpu->deep ? gf_max(cpu->plan->size[1], 8)
                                   : gf_max(UINT64_C(4) * cpu->plan->size[1], 16);
        cpu->rows_each = gf_min(cpu->rows_each, gf_max(fair, least));
    }
    /* Whole groups of rows are summed fastest. */
    if (cpu->rows_each > GF_CHAIN_ROWS && !cpu->block_given)
        cpu->rows_each -= cpu->rows_each % GF_CHAIN_ROWS;
    cpu->blocks_y = gf_ceil_div(out->rows, cpu->rows_each);
    gf_pool_run(cpu->pool, cpu->blocks_x * cpu->blocks_y * (cpu->deep ? 1 : out->planes),
                gf_cpu_task, cpu);
    for (unsigned i = 0; i < cpu->threads; i++) {
        struct gf_counts *c = &cpu->workers[i].counts;
        counts->clipped_low += c->clipped_low;
        counts->clipped_high += c->clipped_high;
        counts->nan += c->nan;
        *c = (struct gf_counts){0};
    }
    return gf_signal_pending() ? GF_ESIGNAL : GF_OK;
}

const struct gf_backend gf_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .run = cpu_run,
    .close = cpu_close,
};
