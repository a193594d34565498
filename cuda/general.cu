/* The family that computes every plan: passes over lanes of the arithmetic's type, with taps
 * in constant memory, or in global memory when there are too many. */
#include "family.h"
#include "general_kernels.cuh"

#include <cmath>

namespace GF_DEVICE {
namespace {

/* Blocks of a launch: more than any device runs at once; a block then takes several tiles. */
constexpr uint64_t MOST_BLOCKS = 1 << 20;

uint32_t lane_bytes(const struct gf_plan *plan) { return plan->arith == GF_DOUBLE ? 8 : 4; }

/* ---- taps ---- */

uint64_t tap_count(const struct gf_plan *plan, int a)
{
    if (plan->separable)
        return plan->factor[a] != nullptr ? plan->size[a] : 0;
    return a > 0 ? 0
                 : static_cast<uint64_t>(plan->size[0]) * plan->size[1] * plan->size[2];
}

bool taps_in_constant(const struct gf_plan *plan)
{
    uint64_t count = tap_count(plan, 0) + tap_count(plan, 1) + tap_count(plan, 2);
    return count * lane_bytes(plan) <= sizeof constant_taps;
}

const void *device_taps(const struct gf_plan *plan, const struct gf_device_mask *mask, int a)
{
    return plan->separable ? mask->factor[a] : mask->taps;
}

struct tap_source taps_of(const struct gf_plan *plan, const struct gf_device_mask *mask, int a)
{
    struct tap_source s = {};

    if (!taps_in_constant(plan)) {
        s.global = device_taps(plan, mask, a);
        return s;
    }
    for (int b = 0; b < a; b++)
        s.first += static_cast<uint32_t>(tap_count(plan, b));
    return s;
}

cudaError_t prepare(const struct gf_plan *plan, const struct gf_device_mask *mask,
                    cudaStream_t stream)
{
    if (!taps_in_constant(plan))
        return cudaSuccess;
    for (int a = 0; a < 3; a++) {
        size_t size = lane_bytes(plan), bytes = tap_count(plan, a) * size;
        if (bytes == 0)
            continue;
        cudaError_t status = cudaMemcpyToSymbolAsync(
            constant_taps, device_taps(plan, mask, a), bytes, taps_of(plan, mask, a).first * size,
            cudaMemcpyDeviceToDevice, stream);
        if (status != cudaSuccess)
            return status;
    }
    return cudaSuccess;
}

/* ---- what stands outside ---- */

template <typename Acc> double through_taps(const void *taps, uint32_t n, double value)
{
    Acc acc = 0;
    for (uint32_t i = 0; i < n; i++)
        acc = multiply_add(static_cast<const Acc *>(taps)[i], static_cast<Acc>(value), acc);
    return static_cast<double>(acc);
}

/* A constant after the pass of an axis. */
double after_pass(const struct gf_plan *plan, int a, double value)
{
    if (gf_plan_skips(plan, a))
        return value;
    switch (plan->arith) {
    case GF_EXACT: return through_taps<int32_t>(plan->factor[a], plan->size[a], value);
    case GF_FLOAT: return through_taps<float>(plan->factor[a], plan->size[a], value);
    default: return through_taps<double>(plan->factor[a], plan->size[a], value);
    }
}

struct outside fill_lanes(const struct gf_plan *plan)
{
    struct outside fill = {};
    double value = plan->border == GF_BORDER_CONSTANT ? plan->fill : 0.0;

    if (plan->arith == GF_FLOAT)
        value = static_cast<double>(static_cast<float>(value));
    fill.color = fill.alpha = value;
    fill.alpha_channel = -1;
    if (plan->alpha_multiply) {
        fill.color = plan->arith == GF_FLOAT
                         ? static_cast<double>(static_cast<float>(value * value))
                         : value * value;
        fill.alpha_channel = plan->in.alpha;
    }
    return fill;
}

void pass_fill(const struct gf_plan *plan, int a, struct outside *fill)
{
    fill->color = after_pass(plan, a, fill->color);
    fill->alpha = after_pass(plan, a, fill->alpha);
}

/* ---- geometry ---- */

size_t out_lanes(const struct gf_plan *plan)
{
    return static_cast<size_t>(plan->out.width) * plan->out.channels;
}

/* Lanes of the first work buffer and of the second. */
void work_lanes(const struct gf_plan *plan, const struct gf_chunk *c, uint64_t lanes[2])
{
    uint64_t stored = static_cast<uint64_t>(c->in_rows) * c->in_planes;
    uint64_t out = static_cast<uint64_t>(c->rows) * c->planes;
    uint64_t between = static_cast<uint64_t>(c->rows) * c->in_planes;

    lanes[0] = lanes[1] = 0;
    if (plan->separable)
        lanes[0] = gf_max(stored, out) * out_lanes(plan);
    else if (plan->alpha_divide)
        lanes[0] = out * out_lanes(plan);
    if (plan->separable && !(gf_plan_skips(plan, 1) && gf_plan_skips(plan, 2)))
        lanes[1] = gf_max(between, out) * out_lanes(plan);
}

uint64_t work(const struct gf_plan *plan, const struct gf_chunk *chunk)
{
    uint64_t lanes[2];
    work_lanes(plan, chunk, lanes);
    return (lanes[0] + lanes[1]) * lane_bytes(plan);
}

struct finishing finishing_of(const struct gf_plan *plan, const struct gf_chunk *c)
{
    struct finishing f = {};

    f.type = plan->out.type;
    f.in_type = plan->in.type;
    f.out = c->out;
    f.out_row = c->out_row;
    f.out_plane = c->out_plane;
    f.y = c->y;
    f.z = c->z;
    f.channels = plan->out.channels;
    f.alpha = plan->in.alpha;
    f.alpha_divide = plan->alpha_divide;
    f.alpha_keep = plan->alpha_keep;
    f.normalize = plan->border == GF_BORDER_NORMALIZE;
    f.as_summed = !f.alpha_divide && !f.alpha_keep && !f.normalize &&
                  ((plan->arith == GF_FLOAT && f.type == GF_F32) ||
                   (plan->arith == GF_DOUBLE && f.type == GF_F64));
    f.divisor = plan->divisor;
    f.tap_total = plan->tap_total;
    f.gain = plan->gain;
    f.alpha_scale = plan->alpha_scale;
    f.inside = gf_plan_inside_of(plan);
    for (int a = 0; a < 3; a++)
        f.inside.sum[a] = c->mask->inside_sum[a];
    f.inside.box = c->mask->inside_box;
    f.in = c->in;
    f.in_row = c->in_row;
    f.in_plane = c->in_plane;
    f.center_row = c->center_row;
    f.center_plane = c->center_plane;
    f.shift_x = plan->shift[0];
    f.counts = c->counts;
    return f;
}

struct rows_params rows_of(const struct gf_plan *plan, const struct gf_chunk *c)
{
    struct rows_params p = {};

    p.in = c->in;
    p.in_row = c->in_row;
    p.in_plane = c->in_plane;
    p.type = plan->in.type;
    p.row_slot = c->row_slot;
    p.plane_slot = c->plane_slot;
    p.width = static_cast<int64_t>(plan->in.width);
    p.out_lanes = static_cast<int64_t>(out_lanes(plan));
    p.rows = c->rows;
    p.planes = c->planes;
    p.channels = plan->in.channels;
    p.multiply_alpha = plan->alpha_multiply ? plan->in.alpha : -1;
    p.border = plan->border;
    p.fill = fill_lanes(plan);
    for (int a = 0; a < 3; a++)
        p.size[a] = plan->size[a];
    p.first_x = plan->shift[0] - plan->origin[0];
    p.taps = taps_of(plan, c->mask, 0);
    return p;
}

struct lanes lanes_at(void *work, uint64_t offset_bytes, size_t row, uint32_t rows)
{
    struct lanes l = {};
    l.data = static_cast<char *>(work) + offset_bytes;
    l.row = row;
    l.plane = row * rows;
    return l;
}

/* ---- launches ---- */

unsigned blocks_for(uint64_t tiles) { return static_cast<unsigned>(gf_min(tiles, MOST_BLOCKS)); }

template <typename Acc>
cudaError_t launch_rows(const struct rows_params &p, const struct finishing &f, bool finish,
                        cudaStream_t stream)
{
    uint64_t tiles = gf_ceil_div(static_cast<uint64_t>(p.out_lanes), ROW_TILE) *
                     gf_ceil_div(p.rows, ROW_WARPS) * p.planes;
    size_t shared = sizeof(Acc) * ROW_ROOM * ROW_WARPS;

    return launch(finish ? rows_kernel<Acc, true> : rows_kernel<Acc, false>,
                  dim3(blocks_for(tiles)), dim3(32, ROW_WARPS), shared, stream, p, f);
}

template <typename Acc>
cudaError_t launch_columns(const struct columns_params &p, const struct finishing &f, bool finish,
                           cudaStream_t stream)
{
    uint64_t groups = gf_ceil_div(p.along, COLUMN_OUTPUTS);
    uint64_t tiles = gf_ceil_div(static_cast<uint64_t>(p.out_lanes), 32) *
                     gf_ceil_div(groups, ROW_WARPS) * p.across;

    return launch(finish ? columns_kernel<Acc, true> : columns_kernel<Acc, false>,
                  dim3(blocks_for(tiles)), dim3(32, ROW_WARPS), 0, stream, p, f);
}

template <typename Acc>
cudaError_t launch_divide(const struct gf_plan *plan, const struct gf_chunk *c,
                          const struct lanes &sums, const struct finishing &f,
                          cudaStream_t stream)
{
    uint64_t tiles = gf_ceil_div(out_lanes(plan), GENERAL_THREADS) * c->rows * c->planes;

    return launch(divide_kernel<Acc>, dim3(blocks_for(tiles)), dim3(GENERAL_THREADS), 0, stream,
                  sums, static_cast<int64_t>(out_lanes(plan)), c->rows, c->planes, f);
}

/* Direct: all taps at once. */
template <typename Acc>
cudaError_t run_direct(const struct gf_plan *plan, const struct gf_chunk *c, cudaStream_t stream)
{
    struct finishing f = finishing_of(plan, c);
    struct rows_params p = rows_of(plan, c);

    p.to = lanes_at(c->work, 0, out_lanes(plan), c->rows);
    cudaError_t status = launch_rows<Acc>(p, f, !plan->alpha_divide, stream);
    if (status == cudaSuccess && plan->alpha_divide)
        status = launch_divide<Acc>(plan, c, p.to, f, stream);
    return status;
}

/* The pass of axis 1 or 2 from `from` to `to`. What `from` holds is stored rows (axis 1) or
 * planes (axis 2), mapped by the chunk's tables. */
struct columns_params columns_of(const struct gf_plan *plan, const struct gf_chunk *c, int axis,
                                 const struct lanes &from, const struct lanes &to,
                                 uint32_t across, const struct outside &fill)
{
    struct columns_params p = {};

    p.from = from;
    p.axis = axis;
    p.along = axis == 1 ? c->rows : c->planes;
    p.across = across;
    p.out_lanes = static_cast<int64_t>(out_lanes(plan));
    p.channels = plan->in.channels;
    p.fill = fill;
    p.size = plan->size[axis];
    p.taps = taps_of(plan, c->mask, axis);
    p.to = to;
    return p;
}

/* Separable: x over the stored rows, then y, then z, between two work buffers; the last pass
 * finishes. Rows and planes go through the slot tables in the pass of their axis, or, when it
 * has none, in the next pass. */
template <typename Acc>
cudaError_t run_separable(const struct gf_plan *plan, const struct gf_chunk *c,
                          cudaStream_t stream)
{
    bool y = !gf_plan_skips(plan, 1), z = !gf_plan_skips(plan, 2);
    struct finishing f = finishing_of(plan, c);
    struct rows_params p = rows_of(plan, c);
    struct outside fill = p.fill;
    size_t row = out_lanes(plan);
    uint64_t buffer[2];
    work_lanes(plan, c, buffer);

    p.size[1] = p.size[2] = 1;
    p.copy = gf_plan_skips(plan, 0);
    if (y || z) {
        p.row_slot = p.plane_slot = nullptr;
        p.rows = c->in_rows;
        p.planes = c->in_planes;
    }
    p.to = lanes_at(c->work, 0, row, p.rows);
    cudaError_t status = launch_rows<Acc>(p, f, !y && !z && !plan->alpha_divide, stream);
    struct lanes sums = p.to;
    sums.row_slot = y || z ? c->row_slot : nullptr;
    sums.plane_slot = y || z ? c->plane_slot : nullptr;
    pass_fill(plan, 0, &fill);

    if (status == cudaSuccess && y) {
        uint32_t planes = z ? c->in_planes : c->planes;
        struct lanes to = lanes_at(c->work, buffer[0] * sizeof(Acc), row, c->rows);
        struct lanes from = sums;
        if (z)
            from.plane_slot = nullptr;
        struct columns_params q = columns_of(plan, c, 1, from, to, planes, fill);
        status = launch_columns<Acc>(q, f, !z && !plan->alpha_divide, stream);
        sums = to;
        sums.plane_slot = z ? c->plane_slot : nullptr;
        pass_fill(plan, 1, &fill);
    }
    if (status == cudaSuccess && z) {
        /* The first buffer is free again only after a y pass. */
        struct lanes to = lanes_at(c->work, y ? 0 : buffer[0] * sizeof(Acc), row, c->rows);
        struct columns_params q = columns_of(plan, c, 2, sums, to, c->rows, fill);
        status = launch_columns<Acc>(q, f, !plan->alpha_divide, stream);
        sums = to;
    }
    if (status == cudaSuccess && plan->alpha_divide)
        status = launch_divide<Acc>(plan, c, sums, f, stream);
    return status;
}

template <typename Acc>
cudaError_t run(const struct gf_plan *plan, const struct gf_chunk *c, cudaStream_t stream)
{
    return plan->separable ? run_separable<Acc>(plan, c, stream)
                           : run_direct<Acc>(plan, c, stream);
}

cudaError_t launch_plan(const struct gf_plan *plan, const struct gf_chunk *c, cudaStream_t stream)
{
    switch (plan->arith) {
    case GF_EXACT: return run<int32_t>(plan, c, stream);
    case GF_FLOAT: return run<float>(plan, c, stream);
    default: return run<double>(plan, c, stream);
    }
}

bool takes(const struct gf_plan *, bool) { return true; }

}

const struct gf_family general = {"general", takes, work, prepare, launch_plan};

}
