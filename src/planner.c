#include "planner.h"

#include "alloc.h"
#include "processors.h"
#include "util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of input rows handled at a time: large enough that the halo and the hand-over
 * between threads cost little, small enough to stay in the outer caches. In 3D a slab of
 * planes re-reads its halo planes, so it is larger. */
#define BAND_BYTES (4u << 20)
#define SLAB_BYTES (24u << 20)
/* For a GPU: every slab waits for it once, and 64 MiB keep it busy for a millisecond. */
#define GPU_BYTES (64u << 20)
/* What reading and writing a coded file takes beside the slabs. */
#define CODING_BYTES (32u << 20)

static double abs_highest(enum gf_type type)
{
    const struct gf_type_row *row = gf_type_row(type);
    return fmax(fabs(row->lowest), fabs(row->highest));
}

static bool small_integer(enum gf_type type)
{
    return type == GF_U8 || type == GF_I8 || type == GF_U16 || type == GF_I16;
}

/* ---- geometry ---- */

static enum gf_status plan_geometry(struct gf_plan *plan, const struct gf_request *r,
                                    const struct gf_mask *mask, const char *name,
                                    struct gf_error *e)
{
    const uint64_t in[3] = {plan->in.width, plan->in.height, plan->in.depth};
    uint64_t out[3];
    for (int a = 0; a < 3; a++) {
        plan->size[a] = mask->size[a];
        plan->origin[a] = mask->origin[a];
        out[a] = in[a];
        plan->shift[a] = 0;
        if (plan->border == GF_BORDER_VALID) {
            if (in[a] < mask->size[a])
                return gf_fail(e, GF_EFEATURE,
                               "%s: --border valid needs at least %u samples along %c, the image "
                               "has %llu; choose another border or a smaller mask", name,
                               mask->size[a], "xyz"[a], (unsigned long long)in[a]);
            out[a] = in[a] - mask->size[a] + 1;
            plan->shift[a] = mask->origin[a];
        }
    }
    for (unsigned a = 0; r->roi_given && a < r->roi_axes; a++) {
        uint64_t first = r->roi_origin[a], count = r->roi_size[a];
        uint64_t lowest = (uint64_t)plan->shift[a];
        if (first < lowest || count > out[a] || first - lowest > out[a] - count)
            return gf_fail(e, GF_EFEATURE,
                           "%s: --roi asks for %llu from %llu along %c, there is %llu from %llu%s",
                           name, (unsigned long long)count, (unsigned long long)first, "xyz"[a],
                           (unsigned long long)out[a], (unsigned long long)lowest,
                           a == 2 && in[2] == 1 ? "; --3d takes pages as a volume" : "");
        plan->shift[a] = (int64_t)first;
        out[a] = count;
    }
    plan->out.width = out[0];
    plan->out.height = out[1];
    plan->out.depth = out[2];
    return GF_OK;
}

/* ---- arithmetic ---- */

/* Exact when samples, taps, divisor and fill are small enough integers (DESIGN: the sum of
 * |tap| times the largest |sample| stays below 2^31). */
static enum gf_arith choose_arith(const struct gf_plan *plan, const struct gf_mask *mask)
{
    double highest = abs_highest(plan->in.type);
    double fill = fabs(plan->fill);
    if (!small_integer(plan->in.type))
        return plan->in.type == GF_F16 || plan->in.type == GF_F32 ? GF_FLOAT : GF_DOUBLE;
    if (plan->alpha_multiply) {
        highest *= highest;
        fill *= fill;
    }
    if (mask->integer && mask->divisor == rint(mask->divisor) &&
        mask->divisor < 2147483648.0 && plan->fill == rint(plan->fill) &&
        gf_mask_abs_sum(mask) * fmax(highest, fill) < 2147483648.0)
        return GF_EXACT;
    return GF_FLOAT;
}

static void store_tap(void *taps, uint64_t i, enum gf_arith arith, double value)
{
    switch (arith) {
    case GF_EXACT:
        ((int32_t *)taps)[i] = (int32_t)value;
        break;
    case GF_FLOAT:
        ((float *)taps)[i] = (float)value;
        break;
    default:
        ((double *)taps)[i] = value;
    }
}

/* What each axis' factor is divided by: its own sum when these multiply to the divisor, so
 * that every pass keeps the level; otherwise x takes the whole divisor. */
static void axis_divisors(const struct gf_mask *mask, double divisor[3])
{
    double product = 1;
    for (int a = 0; a < 3; a++) {
        divisor[a] = 0;
        for (uint32_t i = 0; i < mask->size[a]; i++)
            divisor[a] += mask->factor[a][i];
        product *= divisor[a];
    }
    if (mask->divisor == 1 || product != mask->divisor) {
        divisor[0] = mask->divisor;
        divisor[1] = divisor[2] = 1;
    }
}

static enum gf_status plan_taps(struct gf_plan *plan, const struct gf_mask *mask,
                                struct gf_error *e)
{
    unsigned bytes = plan->arith == GF_DOUBLE ? 8 : 4;
    plan->divisor = 1;
    plan->tap_total = 0;
    if (plan->arith == GF_EXACT) {
        plan->divisor = (int64_t)mask->divisor;
        plan->tap_total = (int64_t)llround(gf_mask_sum(mask) * (double)plan->divisor);
    }
    plan->separable = mask->separable;
    if (plan->separable) {
        double divisor[3] = {1, 1, 1};
        if (plan->arith != GF_EXACT)
            axis_divisors(mask, divisor);
        for (int a = 0; a < 3; a++) {
            GF_TRY(gf_allocate(&plan->factor[a], mask->size[a], bytes, "the mask", e));
            for (uint32_t i = 0; i < mask->size[a]; i++)
                store_tap(plan->factor[a], i, plan->arith, mask->factor[a][i] / divisor[a]);
        }
        return GF_OK;
    }
    uint64_t count = (uint64_t)mask->size[0] * mask->size[1] * mask->size[2];
    GF_TRY(gf_allocate(&plan->taps, count, bytes, "the mask", e));
    for (uint64_t i = 0; i < count; i++)
        store_tap(plan->taps, i, plan->arith,
                  plan->arith == GF_EXACT ? mask->taps[i] : mask->taps[i] / mask->divisor);
    return GF_OK;
}

/* ---- normalize ---- */

/* Prefix sums of the taps along every axis, as gf_plan_inside reads them. */
static enum gf_status plan_inside(struct gf_plan *plan, const struct gf_mask *mask,
                                  const char *name, struct gf_error *e)
{
    const uint64_t nx = mask->size[0] + 1ull, ny = mask->size[1] + 1ull, nz = mask->size[2] + 1ull;
    void *block;
    if (!mask->normalize ||
        gf_mask_tap(mask, mask->origin[0], mask->origin[1], mask->origin[2]) <= 0)
        return gf_fail(e, GF_EUSAGE,
                       "%s: --border normalize divides by the weight inside the image, so it needs "
                       "a mask without taps below 0 and with a tap above 0 at its origin; %s has "
                       "not", name, mask->name);
    if (mask->separable) {
        for (int a = 0; a < 3; a++) {
            GF_TRY(gf_allocate(&block, mask->size[a] + 1ull, sizeof(double), "the mask", e));
            plan->inside_sum[a] = block;
            plan->inside_sum[a][0] = 0;
            for (uint32_t i = 0; i < mask->size[a]; i++)
                plan->inside_sum[a][i + 1] = plan->inside_sum[a][i] + mask->factor[a][i];
        }
        return GF_OK;
    }
    GF_TRY(gf_allocate(&block, nx * ny * nz, sizeof(double), "the mask", e));
    double *box = plan->inside_box = block;
    memset(box, 0, nx * ny * nz * sizeof *box);
    for (uint64_t k = 1; k < nz; k++)
        for (uint64_t j = 1; j < ny; j++) {
            const double *taps = mask->taps + ((k - 1) * (ny - 1) + j - 1) * (nx - 1);
            double row = 0;
            for (uint64_t i = 1; i < nx; i++) {
                /* This row's run, the rows before in this plane, and the planes before. */
                row += taps[i - 1];
                box[(k * ny + j) * nx + i] =
                    row + box[(k * ny + j - 1) * nx + i] + box[((k - 1) * ny + j) * nx + i] -
                    box[((k - 1) * ny + j - 1) * nx + i];
            }
        }
    return GF_OK;
}

/* ---- types and alpha ---- */

static void plan_alpha(struct gf_plan *plan, const struct gf_request *r, bool divide_alpha)
{
    bool filters = r->command->bit != GF_CONVERT;
    bool stored = plan->in.alpha_associated;
    plan->alpha_scale = 1;
    if (plan->in.alpha < 0 || plan->in.channels < 2)
        return;
    if (filters && r->alpha_independent && !divide_alpha)
        return;
    if (filters && !(plan->gain > 0)) {
        plan->alpha_keep = !r->alpha_independent;
        return;
    }
    plan->alpha_multiply = filters && !stored && !r->alpha_independent;
    plan->alpha_divide = plan->alpha_multiply || divide_alpha;
    if (plan->alpha_divide && stored) {
        plan->alpha_scale = gf_type_row(plan->in.type)->is_float
                                ? 1 : gf_type_row(plan->in.type)->highest;
        plan->out.alpha_associated = false;
    }
}

static enum gf_type derivative_type(enum gf_type type, const struct gf_mask *mask)
{
    if (gf_type_row(type)->is_float)
        return type;
    return gf_mask_abs_sum(mask) / mask->divisor * abs_highest(type) <= 32767 ? GF_I16 : GF_I32;
}

/* ---- cost ---- */

static unsigned plan_threads(const struct gf_plan *plan, const struct gf_request *r)
{
    uint64_t samples = plan->out.width * plan->out.channels * plan->out.height * plan->out.depth;
    /* Starting a thread costs as much as filtering some 100000 samples. */
    uint64_t useful = samples >> 17;
#ifdef GPUFILT_TEST_HOOKS
    /* Small test images are to run overlapped as well. */
    if (getenv("GPUFILT_TEST_SLAB"))
        useful = UINT64_MAX;
#endif
    uint64_t most = r->jobs ? r->jobs : gf_processors();
    return (unsigned)gf_max(1, gf_min(most, useful));
}

/* Bytes of the widest input and output slab when `slab` units are handled at a time. */
static uint64_t slab_bytes(const struct gf_plan *plan, uint64_t slab, uint64_t in_unit,
                           uint64_t out_unit)
{
    int axis = plan->dimensions == 3 ? 2 : 1;
    uint64_t n = axis == 2 ? plan->out.depth : plan->out.height;
    uint64_t in_n = axis == 2 ? plan->in.depth : plan->in.height;
    uint64_t first, last, reach;
    gf_plan_reach(plan, axis, 0, gf_min(slab, n), &first, &last);
    /* Reflections come back to where the mask already is, so that no slab needs more. */
    reach = gf_min(in_n, slab + plan->size[axis] - 1);
    return gf_max(reach, last - first) * in_unit + gf_min(slab, n) * out_unit;
}

/* `bytes`: of a slab; `overlap`: reading, filtering and writing are done at the same time. */
static enum gf_status plan_slabs(struct gf_plan *plan, uint64_t bytes, bool overlap,
                                 const char *name, struct gf_error *e)
{
    bool volume = plan->dimensions == 3;
    uint64_t n = volume ? plan->out.depth : plan->out.height;
    uint64_t in_unit = gf_row_bytes(&plan->in) * (volume ? plan->in.height : 1);
    uint64_t out_unit = gf_row_bytes(&plan->out) * (volume ? plan->out.height : 1);
    uint64_t want = bytes / gf_max(in_unit, out_unit);
    uint64_t budget = gf_memory_limit() - gf_min(gf_memory_limit(), gf_memory_used());
    /* Some is left to the coding and to the backend's own buffers. */
    uint64_t room = budget - gf_min(budget / 2, CODING_BYTES);
    const struct gf_unrolled unrolled = gf_plan_unroll(plan);
    /* What is kept of an input that is read in order, for its other end. */
    uint64_t kept = (unrolled.before + unrolled.after) * in_unit;
    bool several;

    /* Bands much lower than the mask would spend their time on the halo. */
    plan->slab = gf_min(n, gf_max(gf_max(want, 1), plan->size[volume ? 2 : 1]));
#ifdef GPUFILT_TEST_HOOKS
    if (getenv("GPUFILT_TEST_SLAB"))
        plan->slab = gf_min(n, gf_max(1, strtoull(getenv("GPUFILT_TEST_SLAB"), NULL, 10)));
#endif
    /* Two buffers of each kind when reading, filtering and writing overlap. When they do not
     * fit, first slabs down to the height of the mask, then one buffer, then lower slabs
     * still, which read the halo again and again. */
    for (plan->buffers = 2;;) {
        several = plan->slab < n || (!volume && plan->out.depth > 1);
        if (!several || !overlap)
            plan->buffers = 1;
        plan->host_bytes = kept + plan->buffers * slab_bytes(&unrolled.plan, plan->slab, in_unit,
                                                            out_unit);
        if (plan->host_bytes <= room || (plan->slab == 1 && plan->buffers == 1))
            break;
        if (plan->buffers == 2 && plan->slab <= plan->size[volume ? 2 : 1])
            plan->buffers = 1;
        else
            plan->slab /= 2;
    }
    return gf_name_error(name, gf_memory_check(plan->host_bytes, volume ? "slabs of planes"
                                                                        : "bands of rows", e), e);
}

enum gf_status gf_plan_for_gpu(struct gf_plan *plan, const struct gf_request *r, const char *name,
                               struct gf_error *e)
{
    enum gf_status status = plan_slabs(plan, GPU_BYTES, true, name, e);
    plan->gpu = (int)r->gpu;
    plan->gpu_memory = r->gpu_memory;
    plan->packed = r->packed;
    if (status != GF_OK)
        gf_plan_free(plan);
    return status;
}

enum gf_status gf_plan_make(struct gf_plan *plan, const struct gf_request *r,
                            const struct gf_mask *mask, const struct gf_image *image,
                            bool divide_alpha, const char *name, struct gf_error *e)
{
    double sum = gf_mask_sum(mask);
    enum gf_status status;

    memset(plan, 0, sizeof *plan);
    plan->in = *image;
    memset(&plan->in.meta, 0, sizeof plan->in.meta);
    plan->out = plan->in;
    plan->border = r->command->bit == GF_CONVERT ? GF_BORDER_CLAMP : r->border;
    plan->fill = plan->border == GF_BORDER_CONSTANT ? r->fill : 0;
    plan->dimensions = mask->size[2] > 1 ? 3 : 2;
    /* Weights that cancel but for rounding are a derivative's. */
    plan->gain = fabs(sum) < 1e-9 * gf_mask_abs_sum(mask) / mask->divisor ? 0 : sum;
    GF_TRY(plan_geometry(plan, r, mask, name, e));
    plan_alpha(plan, r, divide_alpha);
    if (divide_alpha && plan->out.alpha_associated)
        return gf_fail(e, GF_EFEATURE, "%s: a derivative of colour that is stored multiplied by "
                       "alpha fits TIFF and raw alone; write a .tif", name);
    plan->arith = choose_arith(plan, mask);
    plan->out.type = r->type_given ? r->type
                     : plan->gain > 0 ? plan->in.type : derivative_type(plan->in.type, mask);
    status = plan_taps(plan, mask, e);
    if (status == GF_OK && plan->border == GF_BORDER_NORMALIZE)
        status = plan_inside(plan, mask, name, e);
    if (status == GF_OK)
        status = gf_image_check(&plan->out, name, e);
    plan->threads = plan_threads(plan, r);
    if (status == GF_OK)
        status = plan_slabs(plan, plan->dimensions == 3 ? SLAB_BYTES : BAND_BYTES,
                            plan->threads > 1, name, e);
    if (status != GF_OK)
        gf_plan_free(plan);
    return status;
}

void gf_plan_free(struct gf_plan *plan)
{
    for (int a = 0; a < 3; a++) {
        gf_free(plan->factor[a]);
        gf_free(plan->inside_sum[a]);
    }
    gf_free(plan->taps);
    gf_free(plan->inside_box);
    memset(plan, 0, sizeof *plan);
}
