/* The kernels of the general family: any mask, type, border, channel count. Correlation over
 * raw rows (a whole mask or the x factor), a pass along y or z over lanes, and finishing for
 * colour that is divided by alpha. */
#ifndef GPUFILT_CUDA_GENERAL_KERNELS_CUH
#define GPUFILT_CUDA_GENERAL_KERNELS_CUH

#include "general_finish.cuh"

namespace GF_DEVICE {

/* A block is 8 warps, each with a row of its own; a lane of the warp computes 4 outputs, 32
 * lanes apart, so that neighbours in a warp read neighbours in memory. */
constexpr int ROW_WARPS = 8, ROW_OUTPUTS = 4, ROW_TILE = 32 * ROW_OUTPUTS;
/* Lanes of a row kept in shared memory at once: the tile and what the taps reach beyond it. */
constexpr int ROW_ROOM = 3 * ROW_TILE;
/* Outputs of a thread along the axis of a column pass. */
constexpr int COLUMN_OUTPUTS = 8;
constexpr int GENERAL_THREADS = 256;

/* 64 KiB: 16384 float taps. */
__constant__ double constant_taps[8192];

template <typename Acc> __device__ inline Acc tap_at(struct tap_source s, uint32_t i)
{
    if (s.global != nullptr)
        return static_cast<const Acc *>(s.global)[s.first + i];
    return reinterpret_cast<const Acc *>(constant_taps)[s.first + i];
}

__device__ inline int32_t slot_of(const int32_t *table, uint32_t i)
{
    return table != nullptr ? table[i] : static_cast<int32_t>(i);
}

template <typename Acc> __device__ inline Acc fill_of(struct outside fill, int channel)
{
    return static_cast<Acc>(channel == fill.alpha_channel ? fill.alpha : fill.color);
}

/* The lane `lane` (that of an input row, maybe outside it) of a row of raw samples; NULL is a
 * row outside the image. */
template <typename Acc>
__device__ inline Acc load_lane(const struct rows_params &p, const char *row, int64_t lane)
{
    int64_t x = p.channels == 1 ? lane : lane / p.channels;
    int channel = static_cast<int>(lane - x * p.channels);

    if (channel < 0) {
        channel += static_cast<int>(p.channels);
        x--;
    }
    x = row != nullptr ? gf_border_index(p.border, x, p.width) : -1;
    if (x < 0)
        return fill_of<Acc>(p.fill, channel);
    row += static_cast<size_t>(x) * p.channels * type_bytes(p.type);
    Acc value = load_sample<Acc>(p.type, row + static_cast<unsigned>(channel) * type_bytes(p.type));
    if (p.multiply_alpha >= 0 && channel != p.multiply_alpha)
        value *= load_sample<Acc>(p.type, row + static_cast<unsigned>(p.multiply_alpha) *
                                                    type_bytes(p.type));
    return value;
}

/* Brings lanes [from, from + count) of a row into shared memory. */
template <typename Acc>
__device__ inline void hold_lanes(const struct rows_params &p, const char *row, int64_t from,
                                  int count, Acc *held)
{
    const int lane = static_cast<int>(threadIdx.x);
    const unsigned bytes = type_bytes(p.type);
    bool inside = row != nullptr && from >= 0 && from + count <= p.width * p.channels;

    if (inside && p.multiply_alpha < 0) {
        row += from * bytes;
        for (int l = lane; l < count; l += 32)
            held[l] = load_sample<Acc>(p.type, row + static_cast<unsigned>(l) * bytes);
        return;
    }
    for (int l = lane; l < count; l += 32)
        held[l] = load_lane<Acc>(p, row, from + l);
}

/* Sums of one row of the mask, which begins at tap `tap`, over the tile that begins at output
 * lane `first`. A warp loads what it alone reads, so the warp's barrier is enough. */
template <typename Acc>
__device__ inline void row_sums(const struct rows_params &p, const char *row, int64_t first,
                                uint32_t tap, Acc *held, Acc acc[ROW_OUTPUTS])
{
    const uint32_t segment = 1 + (ROW_ROOM - ROW_TILE) / p.channels; /* taps at a time */

    for (uint32_t i = 0; i < p.size[0]; i += segment) {
        uint32_t taps = min(segment, p.size[0] - i);
        const Acc *value = held + threadIdx.x;
        __syncwarp();
        hold_lanes(p, row, first + (p.first_x + i) * p.channels,
                   ROW_TILE + static_cast<int>((taps - 1) * p.channels), held);
        __syncwarp();
        if (p.copy) {
            GF_UNROLL
            for (int o = 0; o < ROW_OUTPUTS; o++)
                acc[o] = value[32 * o];
            return;
        }
        for (uint32_t k = 0; k < taps; k++, value += p.channels) {
            Acc t = tap_at<Acc>(p.taps, tap + i + k);
            GF_UNROLL
            for (int o = 0; o < ROW_OUTPUTS; o++)
                acc[o] = multiply_add(t, value[32 * o], acc[o]);
        }
    }
}

template <typename Acc, bool FINISH>
__global__ void __launch_bounds__(GENERAL_THREADS)
rows_kernel(const __grid_constant__ struct rows_params p,
            const __grid_constant__ struct finishing f)
{
    Acc *held = shared_memory<Acc>() + threadIdx.y * ROW_ROOM;
    uint64_t tiles_x = static_cast<uint64_t>((p.out_lanes + ROW_TILE - 1) / ROW_TILE);
    uint64_t tiles_y = (p.rows + ROW_WARPS - 1) / ROW_WARPS;
    struct tally t = {};

    for (uint64_t tile = blockIdx.x; tile < tiles_x * tiles_y * p.planes; tile += gridDim.x) {
        int64_t first = static_cast<int64_t>(tile % tiles_x) * ROW_TILE;
        uint32_t y = static_cast<uint32_t>(tile / tiles_x % tiles_y) * ROW_WARPS + threadIdx.y;
        uint32_t z = static_cast<uint32_t>(tile / tiles_x / tiles_y);
        Acc acc[ROW_OUTPUTS] = {};
        uint32_t tap = 0;

        if (y >= p.rows)
            continue;
        for (uint32_t k = 0; k < p.size[2]; k++) {
            int32_t plane = slot_of(p.plane_slot, z + k);
            for (uint32_t j = 0; j < p.size[1]; j++, tap += p.size[0]) {
                int32_t row = slot_of(p.row_slot, y + j);
                const char *in = nullptr;
                if (plane >= 0 && row >= 0)
                    in = static_cast<const char *>(p.in) +
                         static_cast<size_t>(plane) * p.in_plane +
                         static_cast<size_t>(row) * p.in_row;
                row_sums(p, in, first, tap, held, acc);
            }
        }
        GF_UNROLL
        for (int o = 0; o < ROW_OUTPUTS; o++) {
            int64_t lane = first + threadIdx.x + 32 * o;
            if (lane >= p.out_lanes)
                break;
            if constexpr (FINISH)
                finish_lane(f, acc[o], Acc(0), lane, y, z, t);
            else
                static_cast<Acc *>(p.to.data)[z * p.to.plane + y * p.to.row +
                                              static_cast<size_t>(lane)] = acc[o];
        }
    }
    if constexpr (FINISH)
        add_tally(t, f.counts);
}

/* The value at place `e` of the axis to all outputs that a tap takes it to; with INNER that is
 * all of them. */
template <typename Acc, bool INNER>
__device__ inline void column_value(const struct columns_params &p, Acc value, uint32_t e,
                                    Acc acc[COLUMN_OUTPUTS])
{
    GF_UNROLL
    for (uint32_t o = 0; o < COLUMN_OUTPUTS; o++)
        if (INNER || (e >= o && e - o < p.size))
            acc[o] = multiply_add(tap_at<Acc>(p.taps, e - o), value, acc[o]);
}

/* Outputs [first, first + count) along the axis at one lane: each input is read once and goes
 * to all of them, in rising tap order. */
template <typename Acc>
__device__ inline void column_sums(const struct columns_params &p, const Acc *from, size_t step,
                                   const int32_t *slot, uint32_t first, uint32_t count,
                                   Acc fill, Acc acc[COLUMN_OUTPUTS])
{
    for (uint32_t e = 0; e < p.size + count - 1; e++) {
        int32_t s = slot_of(slot, first + e);
        Acc value = s < 0 ? fill : from[static_cast<size_t>(s) * step];
        if (e >= COLUMN_OUTPUTS - 1 && e < p.size)
            column_value<Acc, true>(p, value, e, acc);
        else
            column_value<Acc, false>(p, value, e, acc);
    }
}

template <typename Acc, bool FINISH>
__global__ void __launch_bounds__(GENERAL_THREADS)
columns_kernel(const __grid_constant__ struct columns_params p,
               const __grid_constant__ struct finishing f)
{
    const bool y = p.axis == 1;
    const size_t step = y ? p.from.row : p.from.plane, other = y ? p.from.plane : p.from.row;
    uint64_t tiles_x = static_cast<uint64_t>((p.out_lanes + 31) / 32);
    uint64_t groups = (p.along + COLUMN_OUTPUTS - 1) / COLUMN_OUTPUTS;
    uint64_t tiles_y = (groups + ROW_WARPS - 1) / ROW_WARPS;
    struct tally t = {};

    for (uint64_t tile = blockIdx.x; tile < tiles_x * tiles_y * p.across; tile += gridDim.x) {
        int64_t lane = static_cast<int64_t>(tile % tiles_x) * 32 + threadIdx.x;
        uint64_t group = tile / tiles_x % tiles_y * ROW_WARPS + threadIdx.y;
        uint32_t across = static_cast<uint32_t>(tile / tiles_x / tiles_y);
        int32_t stored = slot_of(y ? p.from.plane_slot : p.from.row_slot, across);
        uint32_t first = static_cast<uint32_t>(group) * COLUMN_OUTPUTS;
        Acc acc[COLUMN_OUTPUTS] = {};

        if (lane >= p.out_lanes || group >= groups)
            continue;
        uint32_t count = min(static_cast<uint32_t>(COLUMN_OUTPUTS), p.along - first);
        const Acc *from = static_cast<const Acc *>(p.from.data) + lane +
                          static_cast<size_t>(stored) * other;
        column_sums(p, from, step, y ? p.from.row_slot : p.from.plane_slot, first, count,
                    fill_of<Acc>(p.fill, static_cast<int>(lane % p.channels)), acc);
        GF_UNROLL
        for (uint32_t o = 0; o < COLUMN_OUTPUTS; o++) {
            uint32_t row = y ? first + o : across, plane = y ? across : first + o;
            if (o >= count)
                break;
            if constexpr (FINISH)
                finish_lane(f, acc[o], Acc(0), lane, row, plane, t);
            else
                static_cast<Acc *>(p.to.data)[plane * p.to.plane + row * p.to.row +
                                              static_cast<size_t>(lane)] = acc[o];
        }
    }
    if constexpr (FINISH)
        add_tally(t, f.counts);
}

/* Colour divided by alpha: the sums of both are in `from`, row by row of the output. */
template <typename Acc>
__global__ void __launch_bounds__(GENERAL_THREADS)
divide_kernel(const __grid_constant__ struct lanes from, int64_t out_lanes, uint32_t rows,
              uint32_t planes, const __grid_constant__ struct finishing f)
{
    uint64_t tiles_x = static_cast<uint64_t>((out_lanes + GENERAL_THREADS - 1) / GENERAL_THREADS);
    struct tally t = {};

    for (uint64_t tile = blockIdx.x; tile < tiles_x * rows * planes; tile += gridDim.x) {
        int64_t lane = static_cast<int64_t>(tile % tiles_x) * GENERAL_THREADS + threadIdx.x;
        uint32_t row = static_cast<uint32_t>(tile / tiles_x % rows);
        uint32_t plane = static_cast<uint32_t>(tile / tiles_x / rows);
        const Acc *sums = static_cast<const Acc *>(from.data) + plane * from.plane +
                          row * from.row;

        if (lane < out_lanes)
            finish_lane(f, sums[lane], sums[lane / f.channels * f.channels + f.alpha], lane, row,
                        plane, t);
    }
    add_tally(t, f.counts);
}

}

#endif
