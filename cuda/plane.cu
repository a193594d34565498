#include "plane.cuh"

#include <cstring>

namespace GF_DEVICE {
namespace {

/* Output planes of a block, at most `longest`: what lets `resident` blocks at a time finish
 * first, `halo` planes more being read for every range. Neighbours drift apart along z until
 * what they both read is in the cache no more, so that long ranges are not always best. */
uint32_t choose_range(uint64_t tiles, uint32_t planes, uint32_t halo, uint32_t longest,
                      uint32_t resident)
{
    const uint32_t begin = 2; /* what filling the pipeline costs, in planes */
    uint32_t best = 0, least_ranges = static_cast<uint32_t>(gf_ceil_div(planes, longest));
    uint64_t least = UINT64_MAX;

    for (uint32_t ranges = least_ranges; ranges <= planes && ranges <= least_ranges + 64;
         ranges++) {
        uint32_t range = static_cast<uint32_t>(gf_ceil_div(planes, ranges));
        uint64_t blocks = tiles * gf_ceil_div(planes, range);
        uint64_t time = gf_ceil_div(blocks, resident) * (range + halo + begin);
        if (time < least) {
            least = time;
            best = range;
        }
    }
    return best;
}

/* In a tile, and in the arithmetic, `fill` is a sample like others. */
bool fill_fits(const struct gf_plan *plan)
{
    const struct gf_type_row *type = gf_type_row(plan->in.type);

    if (plan->border != GF_BORDER_CONSTANT)
        return true;
    if (!type->is_float)
        return plan->fill >= type->lowest && plan->fill <= type->highest &&
               static_cast<double>(static_cast<int32_t>(plan->fill)) == plan->fill;
    return static_cast<double>(static_cast<float>(plan->fill)) == plan->fill;
}

int64_t floor_to(int64_t v, int64_t step) { return v - (v % step + step) % step; }

}

bool marches(const struct gf_plan *plan, bool aligned)
{
    const uint64_t most = UINT64_C(1) << 31;
    uint64_t bytes = gf_type_bytes(plan->in.type);
    /* Rows may be padded: 512 bytes more are enough for every device. */
    uint64_t in_row = plan->in.width * bytes + 512, out_row = plan->out.width * bytes + 512;

    return aligned && plan->dimensions == 3 && plan->in.channels == 1 &&
           plan->in.type == plan->out.type && plan->arith != GF_DOUBLE &&
           (plan->in.type == GF_F32 || (bytes <= 2 && plan->in.type != GF_F16)) &&
           plan->border != GF_BORDER_NORMALIZE && fill_fits(plan) &&
           !plan->alpha_multiply && !plan->alpha_divide && !plan->alpha_keep &&
           plan->in.width < most / 16 &&
           plan->in.height < most / in_row && plan->out.height < most / out_row;
}

struct march march_of(const struct gf_plan *plan, const struct gf_chunk *chunk,
                      const struct cut &cut, uint32_t resident)
{
    struct march m = {};
    int64_t first = plan->shift[0] - plan->origin[0] - cut.lead;
    gf_type type = plan->in.type;

    m.in = static_cast<const char *>(chunk->in);
    m.out = static_cast<char *>(chunk->out);
    m.in_row = static_cast<uint32_t>(chunk->in_row);
    m.out_row = static_cast<uint32_t>(chunk->out_row);
    m.in_plane = static_cast<uint32_t>(chunk->in_plane);
    m.out_plane = chunk->out_plane;
    m.row_slot = chunk->row_slot;
    m.plane_slot = chunk->plane_slot;
    m.width = static_cast<int32_t>(plan->in.width);
    m.out_width = static_cast<int32_t>(plan->out.width);
    m.rows = chunk->rows;
    m.planes = chunk->planes;
    m.first_in = static_cast<int32_t>(floor_to(first, cut.align));
    m.first_out = m.first_in - static_cast<int32_t>(first);
    m.tiles_x = static_cast<uint32_t>(
        gf_ceil_div(plan->out.width + static_cast<uint32_t>(-m.first_out), cut.tx));
    m.tiles_y = static_cast<uint32_t>(gf_ceil_div(chunk->rows, cut.ty));
    m.range = choose_range(static_cast<uint64_t>(m.tiles_x) * m.tiles_y, chunk->planes,
                           plan->size[2] - 1, cut.longest, resident);
    for (int a = 0; a < 3; a++)
        m.taps[a] = static_cast<int32_t>(plan->size[a]);
    m.border = plan->border;
    m.bytes = gf_type_bytes(type);
    m.flip = type == GF_I16 ? 0x80008000u : type == GF_I8 ? 0x80808080u : 0;
    m.bias = type == GF_I16 ? 32768 : type == GF_I8 ? 128 : 0;
    m.fill = plan->border == GF_BORDER_CONSTANT ? static_cast<float>(plan->fill) : 0.0f;
    m.counts = chunk->counts;
    return m;
}

bool march_covers(const struct gf_plan *plan, uint32_t tx)
{
    uint64_t width = plan->out.width;
    return gf_ceil_div(width, tx) * tx <= width + width / 8;
}

uint64_t march_blocks(const struct march &m)
{
    return static_cast<uint64_t>(m.tiles_x) * m.tiles_y * gf_ceil_div(m.planes, m.range);
}

namespace {

struct interval {
    double low, high;
};

/* Between what the sums lie whose samples lie in `v`. */
template <typename T> struct interval through(const T *taps, uint64_t count, struct interval v)
{
    double above = 0, below = 0;

    for (uint64_t i = 0; i < count; i++) {
        double tap = static_cast<double>(taps[i]);
        if (tap > 0)
            above += tap;
        else
            below += tap;
    }
    return {above * v.low + below * v.high, above * v.high + below * v.low};
}

struct interval through_axis(const struct gf_plan *plan, int a, struct interval v)
{
    const void *taps = plan->separable ? plan->factor[a] : plan->taps;
    uint64_t count = plan->size[a];

    if (taps == nullptr)
        return v;
    if (!plan->separable)
        count *= static_cast<uint64_t>(plan->size[1]) * plan->size[2];
    return plan->arith == GF_EXACT ? through(static_cast<const int32_t *>(taps), count, v)
                                   : through(static_cast<const float *>(taps), count, v);
}

struct interval sums_of(const struct gf_plan *plan, int axes)
{
    const struct gf_type_row *type = gf_type_row(plan->in.type);
    struct interval v = {type->lowest, type->highest};

    for (int a = 0; a < (plan->separable ? axes : 1); a++)
        v = through_axis(plan, a, v);
    return v;
}

/* What chains of fmaf in single precision may add to a sum, as a share of the largest: a rounding
 * of 2^-24 for every step on the way of a sample. */
double rounding_of(const struct gf_plan *plan)
{
    double x = plan->size[0], y = plan->size[1], z = plan->size[2];
    double steps = plan->separable ? x + y + z : x * y * z;

    return plan->arith == GF_FLOAT ? 1.01 * steps * 0x1p-24 : 0;
}

}

double march_bound(const struct gf_plan *plan, int axes)
{
    struct interval v = sums_of(plan, axes);
    return -v.low > v.high ? -v.low : v.high;
}

enum kind kind_of(const struct gf_plan *plan)
{
    bool bytes = gf_type_bytes(plan->in.type) == 1;

    if (plan->in.type == GF_F32)
        return plan->arith == GF_FLOAT ? FLOATS : KINDS;
    if (plan->arith == GF_FLOAT || march_bound(plan, 3) <= EXACT_IN_FLOAT)
        return bytes ? BYTES : SHORTS;
    return bytes ? BYTES_INTEGER : SHORTS_INTEGER;
}

bool nearest_of(const struct gf_plan *plan, bool floats, struct nearest *r)
{
    const struct gf_type_row *type = gf_type_row(plan->out.type);
    struct interval v = sums_of(plan, 3);
    double bound = march_bound(plan, 3), divisor = static_cast<double>(plan->divisor), slack;
    uint32_t log = 0;

    *r = {};
    if (plan->divisor >= 1 << 30 || (!floats && !(bound + divisor / 2 < 2147483648.0)))
        return false;
    slack = rounding_of(plan) * bound;
    r->clips = !(v.high / divisor + slack < type->highest + 0.5 &&
                 v.low / divisor - slack > type->lowest - 0.5);
    r->lowest = static_cast<int32_t>(type->lowest);
    r->highest = static_cast<int32_t>(type->highest);
    r->divisor = static_cast<uint32_t>(plan->divisor);
    while (UINT64_C(1) << log < r->divisor)
        log++;
    if (UINT64_C(1) << log == r->divisor) {
        r->shift = log;
        r->scale = static_cast<float>(1.0 / divisor);
        r->by_scale = floats;
    } else {
        /* Granlund and Montgomery 1994, theorem 4.2 with N = 31: right for n below 2^31, because
         * magic * divisor is above 2^(31 + log) by at most 2^log. */
        r->magic = static_cast<uint32_t>((UINT64_C(1) << (31 + log)) / r->divisor + 1);
        r->shift = log - 1;
    }
    return true;
}

}
