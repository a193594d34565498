/* Between the family sweep2d and its three kinds of kernels: what is launched for a plan. */
#ifndef GPUFILT_CUDA_SWEEP2D_H
#define GPUFILT_CUDA_SWEEP2D_H

#include "chunk.h"
#include "lanes.cuh"
#include "tile.cuh"

namespace GF_DEVICE {

constexpr int SWEEP_WARPS = 4;          /* of a block at most; every warp is by itself */
constexpr int SWEEP_MOST_DIRECT = 9;    /* taps along an axis, odd */
constexpr int SWEEP_MOST_SEPARABLE = 17;
constexpr int SWEEP_MOST_PACKED = 9;

/* One launch: every warp computes `range` output rows of a strip of a plane. */
struct sweep2d_params {
    struct strip_source source; /* of plane slot 0 */
    size_t in_plane;
    const int32_t *plane_slot;
    unsigned char *out;
    size_t out_row, out_plane;
    int64_t out_first;          /* output sample of the first strip's first column; <= 0 */
    int64_t out_width;          /* samples */
    uint32_t rows, range;       /* output rows of a plane, of a warp */
    uint32_t strips, ranges;    /* along x, along y */
    struct finish finish;
    unsigned long long *counts;
    /* sweep2d_packed: what a pair of sums begins as, and the multiplier of an odd divisor or 0. */
    uint32_t packed_start, packed_multiplier;
};

/* A kernel and what its launch takes. */
struct sweep2d_kernel {
    void (*run)(struct sweep2d_params);
    int columns;                /* of a strip */
    size_t ring;                /* bytes of shared memory a warp */
};

/* The kernel for samples of a type, sums of integers (`wide`) or floats, a finish that fits or
 * any other, and a mask of size x size taps; run is NULL where there is none. */
struct sweep2d_kernel sweep2d_direct(gf_type type, bool wide, bool fits, int size);
struct sweep2d_kernel sweep2d_separable(gf_type type, bool wide, bool fits, int size);
struct sweep2d_kernel sweep2d_packed(bool odd_divisor, int size);

/* Taps into constant memory: size x size, rows one after the other; or size along x, then size
 * along y. Integers where the kernel is `wide` or packed, else floats. */
cudaError_t sweep2d_direct_taps(const void *taps, bool wide, int size, cudaStream_t stream);
cudaError_t sweep2d_separable_taps(const void *taps, bool wide, int size, cudaStream_t stream);
cudaError_t sweep2d_packed_taps(const int32_t *taps, int size, cudaStream_t stream);

}

#endif
