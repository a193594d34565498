/* The family sweep2d: planes filtered by warps that march down strips of columns. Here are the
 * plans it takes and how they are cut into launches. */
#include "family.h"
#include "sweep2d.h"

#include <cmath>

namespace GF_DEVICE {
namespace {

/* ---- what a plan needs ---- */

enum kind { DIRECT, SEPARABLE, PACKED };

/* A plan in the kernels' terms: a square mask of odd size, whose taps are about its middle. A
 * smaller mask of integer samples has zeros around; floats have none, for 0 times infinity. */
struct sweep {
    enum kind kind;
    int size;
    int before[2];      /* zeros before the mask's taps along x, y */
    bool wide;          /* int32_t sums: where floats would not be exact */
    int exponent;       /* taps of the first pass are times 2^exponent (lanes.cuh) */
    struct finish finish;
    uint32_t fill;      /* a word of samples */
};

/* Sums of the taps above 0 and, positive too, of those below. */
struct weights {
    double above, below;
};

double tap_at(const struct gf_plan *plan, const void *taps, uint32_t i)
{
    return plan->arith == GF_EXACT ? static_cast<const int32_t *>(taps)[i]
                                   : static_cast<double>(static_cast<const float *>(taps)[i]);
}

struct weights weigh(const struct gf_plan *plan, const void *taps, uint32_t n)
{
    struct weights w = {};

    if (taps == nullptr) /* an axis that is skipped */
        w.above = 1;
    for (uint32_t i = 0; taps != nullptr && i < n; i++) {
        double t = tap_at(plan, taps, i);
        w.above += t > 0 ? t : 0;
        w.below -= t < 0 ? t : 0;
    }
    return w;
}

struct weights mask_weights(const struct gf_plan *plan)
{
    struct weights x, y, w;

    if (!plan->separable)
        return weigh(plan, plan->taps, plan->size[0] * plan->size[1]);
    x = weigh(plan, plan->factor[0], plan->size[0]);
    y = weigh(plan, plan->factor[1], plan->size[1]);
    w.above = x.above * y.above + x.below * y.below;
    w.below = x.above * y.below + x.below * y.above;
    return w;
}

/* Whether every result is a sample of the output's type, whatever the input. Sums of floats may
 * be wrong by the roundings of all their taps; a half is what rounding to a sample forgives. */
bool never_clips(const struct gf_plan *plan, struct weights w)
{
    const struct gf_type_row *row = gf_type_row(plan->in.type);
    double divisor = static_cast<double>(plan->divisor);
    double most = (w.above * row->highest - w.below * row->lowest) / divisor;
    double least = (w.above * row->lowest - w.below * row->highest) / divisor;
    double roundings = plan->separable ? plan->size[0] + plan->size[1]
                                       : plan->size[0] * plan->size[1];
    double error = 0;

    if (plan->arith == GF_FLOAT)
        error = (w.above + w.below) * fmax(-row->lowest, row->highest) * (roundings + 2) * 0x1p-24;
    return most + error < row->highest + 0.499 && least - error > row->lowest - 0.499;
}

/* The least and the greatest exponent of the taps but 0: 2^least <= |tap| < 2^(greatest + 1). */
struct exponents {
    int least, greatest;
};

struct exponents exponents_of(const struct gf_plan *plan, const void *taps, uint32_t n)
{
    struct exponents e = {INT32_MAX, INT32_MIN};

    for (uint32_t i = 0; taps != nullptr && i < n; i++) {
        double t = fabs(tap_at(plan, taps, i));
        if (t > 0) {
            e.least = e.least < ilogb(t) ? e.least : ilogb(t);
            e.greatest = e.greatest > ilogb(t) ? e.greatest : ilogb(t);
        }
    }
    return e.least > e.greatest ? exponents{0, 0} : e;
}

/* Whether samples become subnormal lanes (lanes.cuh). */
bool subnormal(const struct gf_plan *plan, const struct sweep *s)
{
    return !s->wide && s->kind != PACKED && (plan->in.type == GF_U8 || plan->in.type == GF_U16);
}

/* The exponent for subnormal lanes: it makes the taps of the first pass as large as a float
 * allows. False where a sum could then be too small for its last bit: a product's last bit is
 * that of a tap, or of a tap along x times one along y, and must be at least 2^-149. */
bool scale_taps(const struct gf_plan *plan, struct sweep *s)
{
    struct exponents first, y = {0, 0};

    s->exponent = 0;
    if (!subnormal(plan, s))
        return true;
    if (plan->separable) {
        first = exponents_of(plan, plan->factor[0], plan->size[0]);
        y = exponents_of(plan, plan->factor[1], plan->size[1]);
    } else {
        first = exponents_of(plan, plan->taps, plan->size[0] * plan->size[1]);
    }
    s->exponent = 126 - first.greatest < 149 ? 126 - first.greatest : 149;
    return s->exponent > 30 && first.least - 23 + s->exponent - 149 + y.least - 23 >= -149;
}

/* The finish of a plan whose sums are at most `bound`; false where the kernels have none. */
bool find_finish(const struct gf_plan *plan, const struct sweep *s, double bound,
                 struct finish *f)
{
    int64_t d = plan->divisor;
    bool power = (d & (d - 1)) == 0, fits = never_clips(plan, mask_weights(plan));

    *f = {FINISH_FITS, 1, 1, 1, 0, 0, 0};
    if (plan->out.type == GF_F32)
        return true;
    if (d > INT32_MAX)
        return false;
    f->divisor = static_cast<int32_t>(d);
    f->scale = 1 / static_cast<float>(d);
    if (subnormal(plan, s))
        f->unit = ldexpf(1, 149 - s->exponent);
    if (s->wide) {
        if (!power || !fits || bound + static_cast<double>(d) >= 0x1p31)
            f->kind = FINISH_DIVIDES;
        f->shift = ilogb(static_cast<double>(d));
        f->odd = d > 1;
        f->bias = d > 1 ? f->divisor / 2 - 1 : 0;
    } else if (power || (fits && d % 2 == 1 && bound < 0x1p23)) {
        f->kind = fits ? FINISH_FITS : FINISH_CLIPS;
        f->scale *= f->unit;
    } else {
        f->kind = FINISH_DIVIDES;
    }
    return true;
}

/* Sixteen bits hold every sum, and a divisor that the packed kernels know. */
bool fits_packed(const struct gf_plan *plan)
{
    int64_t d = plan->divisor;
    struct weights x, y;

    if (plan->in.type != GF_U8 || plan->arith != GF_EXACT || !plan->separable ||
        plan->size[0] > SWEEP_MOST_PACKED || plan->size[1] > SWEEP_MOST_PACKED || d > 256 ||
        (d % 2 == 0 && (d & (d - 1)) != 0))
        return false;
    x = weigh(plan, plan->factor[0], plan->size[0]);
    y = weigh(plan, plan->factor[1], plan->size[1]);
    return x.below + y.below == 0 && x.above <= 255 && x.above * y.above <= static_cast<double>(d);
}

/* The sample that stands outside, in every sample of a word; false where the type has it not. */
bool fill_word(const struct gf_plan *plan, uint32_t *word)
{
    const struct gf_type_row *row = gf_type_row(plan->in.type);
    double fill = plan->border == GF_BORDER_CONSTANT ? plan->fill : 0;

    if (plan->in.type == GF_F32) {
        float f = static_cast<float>(fill);
        memcpy(word, &f, sizeof f);
        return true;
    }
    if (!(fill >= row->lowest && fill <= row->highest) || fill != rint(fill))
        return false;
    uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(fill));
    *word = row->bytes == 1 ? (bits & 0xff) * 0x01010101u : (bits & 0xffff) * 0x00010001u;
    return true;
}

/* The size of the square and where the mask lies in it: its origin in the middle, if there is
 * room, so that aligned samples come from aligned ones. */
bool place_mask(const struct gf_plan *plan, struct sweep *s)
{
    int most = s->kind == DIRECT ? SWEEP_MOST_DIRECT
               : s->kind == PACKED ? SWEEP_MOST_PACKED : SWEEP_MOST_SEPARABLE;
    uint32_t size = plan->size[0] > plan->size[1] ? plan->size[0] : plan->size[1];

    if (size > static_cast<uint32_t>(most))
        return false;
    s->size = size < 3 ? 3 : static_cast<int>(size | 1);
    for (int a = 0; a < 2; a++) {
        int room = s->size - static_cast<int>(plan->size[a]);
        int before = s->size / 2 - static_cast<int>(plan->origin[a]);
        s->before[a] = before < 0 ? 0 : before > room ? room : before;
        if (room != 0 && plan->in.type == GF_F32)
            return false;
    }
    return true;
}

/* Whether the samples that lanes bring one by one (tile.cuh) are no more than the lanes. */
bool few_odd_samples(const struct gf_plan *plan, const struct sweep *s)
{
    int64_t width = static_cast<int64_t>(plan->in.width);
    int64_t begin = plan->shift[0] - plan->origin[0] - s->before[0];
    int64_t end = begin + static_cast<int64_t>(plan->out.width) + s->size - 1;
    int64_t left = begin < 0 ? -begin : 0, right = end > width ? end - width : 0;
    int64_t chunk = 16 / gf_type_bytes(plan->in.type);

    return left + right + chunk - 1 <= WARP;
}

/* Of a packed kernel: odd, or else a power of 2. */
bool odd_divisor(const struct gf_plan *plan) { return plan->divisor % 2 == 1 && plan->divisor > 1; }

bool without_z(const struct gf_plan *plan)
{
    return plan->size[2] == 1 && plan->origin[2] == 0 &&
           (!plan->separable || plan->factor[2] == nullptr ||
            tap_at(plan, plan->factor[2], 0) == 1);
}

struct sweep2d_kernel kernel_of(const struct gf_plan *plan, const struct sweep *s)
{
    bool fits = s->finish.kind == FINISH_FITS;

    switch (s->kind) {
    case DIRECT: return sweep2d_direct(plan->in.type, s->wide, fits, s->size);
    case SEPARABLE: return sweep2d_separable(plan->in.type, s->wide, fits, s->size);
    default: return sweep2d_packed(odd_divisor(plan), s->size);
    }
}

bool find_sweep(const struct gf_plan *plan, struct sweep *s)
{
    const struct gf_type_row *row = gf_type_row(plan->in.type);
    double highest = fmax(-row->lowest, row->highest), bound;
    struct weights w;

    *s = {};
    if (plan->in.channels != 1 || plan->alpha_multiply || plan->alpha_divide ||
        plan->alpha_keep || plan->border == GF_BORDER_NORMALIZE || plan->arith == GF_DOUBLE ||
        plan->in.type != plan->out.type || !without_z(plan) ||
        gf_row_bytes(&plan->in) > UINT32_MAX / 2 || !fill_word(plan, &s->fill))
        return false;
    w = mask_weights(plan);
    bound = (w.above + w.below) * highest;
    if (plan->arith == GF_EXACT) {
        struct weights x = plan->separable ? weigh(plan, plan->factor[0], plan->size[0]) : w;
        bound = fmax(bound, (x.above + x.below) * highest);
        s->wide = bound > 0x1p24;
    }
    s->kind = !plan->separable ? DIRECT : fits_packed(plan) ? PACKED : SEPARABLE;
    return place_mask(plan, s) && few_odd_samples(plan, s) &&
           scale_taps(plan, s) && find_finish(plan, s, bound, &s->finish);
}

/* ---- the family ---- */

bool takes(const struct gf_plan *plan, bool aligned)
{
    struct sweep s;
    return aligned && find_sweep(plan, &s) && kernel_of(plan, &s).run != nullptr;
}

/* The mask's taps in the square, from the host's copy: all of it, or x and then y. */
template <typename T> void square_taps(const struct gf_plan *plan, const struct sweep *s, T *to)
{
    for (uint32_t j = 0; !plan->separable && j < plan->size[1]; j++)
        for (uint32_t i = 0; i < plan->size[0]; i++)
            to[(s->before[1] + static_cast<int>(j)) * s->size + s->before[0] +
               static_cast<int>(i)] =
                static_cast<T>(tap_at(plan, plan->taps, j * plan->size[0] + i));
    for (int a = 0; plan->separable && a < 2; a++)
        for (uint32_t i = 0; i < plan->size[a]; i++)
            to[a * s->size + s->before[a] + static_cast<int>(i)] =
                plan->factor[a] == nullptr ? T(1)
                                           : static_cast<T>(tap_at(plan, plan->factor[a], i));
}

cudaError_t prepare(const struct gf_plan *plan, const struct gf_device_mask *, cudaStream_t stream)
{
    float floats[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT] = {};
    int32_t integers[SWEEP_MOST_DIRECT * SWEEP_MOST_DIRECT] = {};
    const void *taps = floats;
    struct sweep s;

    find_sweep(plan, &s);
    if (s.wide || s.kind == PACKED) {
        taps = integers;
        square_taps(plan, &s, integers);
    } else {
        square_taps(plan, &s, floats);
        for (int i = 0; i < (s.kind == DIRECT ? s.size * s.size : s.size); i++)
            floats[i] = ldexpf(floats[i], s.exponent);
    }
    if (s.kind == DIRECT)
        return sweep2d_direct_taps(taps, s.wide, s.size, stream);
    if (s.kind == SEPARABLE)
        return sweep2d_separable_taps(taps, s.wide, s.size, stream);
    /* A divisor that is a power of 2 becomes 256. */
    for (int i = 0; i < s.size && !odd_divisor(plan); i++)
        integers[s.size + i] *= static_cast<int32_t>(256 / plan->divisor);
    return sweep2d_packed_taps(integers, s.size, stream);
}

/* ---- how a launch is cut ---- */

/* Operations of an output sample against what fits into the time that memory needs for it: at 128
 * operations and 18 bytes, half of them read, a clock and processor, 14 for each byte of the
 * type; a fifth is left to chance. */
double load_of(const struct gf_plan *plan, const struct sweep *s)
{
    double taps = s->kind == DIRECT ? s->size * s->size : s->kind == PACKED ? s->size - 2
                                                                             : 2 * s->size;
    double others = s->kind == PACKED || plan->in.type == GF_F32 ? 5 : 8 + s->size / 8.0;

    return (taps + others) / (11.2 * gf_type_bytes(plan->in.type));
}

/* What the cut depends on. */
struct machine {
    int processors, blocks;     /* resident blocks a processor */
    int warps;                  /* of a block: as many as have room for their rings */
    int cache, shared;          /* bytes: L2; shared memory a processor */
};

cudaError_t find_machine(const struct sweep2d_kernel *kernel, struct machine *m)
{
    const void *run = reinterpret_cast<const void *>(kernel->run);
    int device, most = 0, ring = static_cast<int>(kernel->ring);
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&m->processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&m->cache, cudaDevAttrL2CacheSize, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&m->shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                        device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    for (m->warps = SWEEP_WARPS; m->warps > 1 && m->warps * ring > most;)
        m->warps /= 2;
    if (status == cudaSuccess)
        status = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &m->blocks, run, m->warps * WARP, static_cast<size_t>(m->warps * ring));
    if (status == cudaSuccess && m->blocks == 0)
        status = cudaErrorInvalidConfiguration;
    return status;
}

/* How many output rows a warp computes. Every range reads size - 1 rows more than it computes.
 * Where arithmetic leaves time for that, ranges are so short that what all resident warps work on
 * stays in the L2 cache, where the next ranges find those rows; and warps are few, for memory is
 * then read in less scattered order. Otherwise ranges are long. The numbers are measurements of
 * an H200. */
uint32_t find_range(const struct gf_plan *plan, const struct sweep *s,
                    const struct sweep2d_kernel *kernel, const struct sweep2d_params *p,
                    uint32_t planes, struct machine *m)
{
    double load = load_of(plan, s), halo = s->size - 1;
    double row = static_cast<double>(kernel->columns) * gf_type_bytes(plan->in.type) *
                 m->warps; /* bytes of a block */
    int few = static_cast<int>(fmin(m->blocks, fmax(1, floor(8192 / row))));
    double cached = 0.42 * m->cache / (row * m->processors * few);
    double needed = load < 1 ? halo * load / (1 - load) : HUGE_VAL, range = 250;

    if (needed <= 1.3 * cached) {
        range = fmax(cached, needed);
        m->blocks = few;
    }
    /* Few waves of warps: a whole number of them, but not a single full one, for warps differ. */
    double warps = static_cast<double>(m->processors) * m->blocks * m->warps;
    double strips = static_cast<double>(p->strips) * planes;
    double waves = strips * ceil(p->rows / range) / warps;
    if (waves < 8) {
        double whole = waves < 0.75 ? 1 : fmax(2, floor(waves + 0.5));
        double ranges = fmax(1, floor(whole * warps / strips));
        range = ceil(p->rows / ranges);
    }
    return static_cast<uint32_t>(fmax(range, 8));
}

struct sweep2d_params params_of(const struct gf_plan *plan, const struct gf_chunk *c,
                                const struct sweep *s, const struct sweep2d_kernel *kernel)
{
    struct sweep2d_params p = {};
    int64_t begin = plan->shift[0] - plan->origin[0] - s->before[0];
    int64_t center = begin + s->size / 2; /* the sample under the middle tap of output 0 */

    p.source.in = static_cast<const unsigned char *>(c->in);
    p.source.row = static_cast<uint32_t>(c->in_row);
    p.source.fill = s->fill;
    p.source.row_slot = c->row_slot;
    p.source.slots = c->rows + plan->size[1] - 1;
    p.source.above = static_cast<uint32_t>(s->before[1]);
    p.source.width = static_cast<int64_t>(plan->in.width);
    p.source.first = center >= 0 ? center / 16 * 16 : (center - 15) / 16 * 16;
    p.source.begin = begin;
    p.source.end = begin + static_cast<int64_t>(plan->out.width) + s->size - 1;
    p.source.border = plan->border;
    p.in_plane = c->in_plane;
    p.out_row = c->out_row;
    p.out_plane = c->out_plane;
    p.out_first = p.source.first - center;
    p.out_width = static_cast<int64_t>(plan->out.width);
    p.rows = c->rows;
    p.strips = static_cast<uint32_t>(
        gf_ceil_div(static_cast<uint64_t>(p.out_width - p.out_first),
                    static_cast<uint64_t>(kernel->columns)));
    p.finish = s->finish;
    p.counts = c->counts;
    p.packed_start = 127;
    if (odd_divisor(plan)) {
        p.packed_start = static_cast<uint32_t>(plan->divisor) / 2;
        p.packed_multiplier = static_cast<uint32_t>(gf_ceil_div(
            UINT64_C(1) << 24, static_cast<uint64_t>(plan->divisor)));
    }
    p.packed_start *= 0x00010001u;
    return p;
}

cudaError_t run(const struct gf_plan *plan, const struct gf_chunk *c, cudaStream_t stream)
{
    struct sweep s;
    find_sweep(plan, &s);
    struct sweep2d_kernel kernel = kernel_of(plan, &s);
    struct sweep2d_params p = params_of(plan, c, &s, &kernel);
    struct machine m;
    cudaError_t status = find_machine(&kernel, &m);

    if (status != cudaSuccess)
        return status;
    p.range = find_range(plan, &s, &kernel, &p, c->planes, &m);
    p.ranges = static_cast<uint32_t>(gf_ceil_div(p.rows, p.range));
    uint64_t warps = static_cast<uint64_t>(p.strips) * p.ranges;
    unsigned blocks = static_cast<unsigned>(gf_ceil_div(warps, static_cast<uint64_t>(m.warps)));
    dim3 threads(static_cast<unsigned>(m.warps * WARP));
    /* No more blocks are resident than find_range wants: more have no room. */
    size_t shared = gf_max(static_cast<uint64_t>(m.warps) * kernel.ring,
                           static_cast<uint64_t>(m.shared / (m.blocks + 1)));
    for (uint32_t plane = 0; plane < c->planes && status == cudaSuccess;) {
        uint32_t planes = static_cast<uint32_t>(gf_min(c->planes - plane, 65535));
        p.plane_slot = c->plane_slot + plane;
        p.out = static_cast<unsigned char *>(c->out) + plane * c->out_plane;
        status = launch(kernel.run, dim3(blocks, planes), threads, shared, stream, p);
        plane += planes;
    }
    return status;
}

}

const struct gf_family sweep2d = {"sweep2d", takes, nullptr, prepare, run};

}
