/* A chunk: a box of the output that a device computes at once, what it reads for that, and
 * where both lie in the device's memory. The backend makes chunks; kernels compute them. */
#ifndef GPUFILT_CUDA_CHUNK_H
#define GPUFILT_CUDA_CHUNK_H

#include "program.h"

#include <cuda_runtime.h>

/* The plan's arrays in device memory, each NULL where the plan has none. */
struct gf_device_mask {
    void *factor[3]; /* separable: size[a] taps of the arithmetic's type */
    void *taps;      /* direct: all taps, x fastest */
    double *inside_sum[3], *inside_box;
};

/* Rows are whole (all of the width, channels interleaved). The border along y and z is in the
 * tables, so that kernels see borders along x only: input row `row_slot[r + j]` is the one
 * under tap j of output row r (counted from the chunk's first), and -1 is a row outside the
 * image where nothing stands for it (CONSTANT: every pixel is `fill`; NORMALIZE: 0).
 * plane_slot is the same for planes. */
struct gf_chunk {
    const void *in;                 /* sample 0 of row slot 0 of plane slot 0 */
    size_t in_row, in_plane;        /* bytes from a row slot to the next, a plane slot */
    uint32_t in_rows, in_planes;    /* slots that are filled */
    void *out;
    size_t out_row, out_plane;
    uint32_t rows, planes;          /* of the output in this chunk */
    uint64_t y, z;                  /* which output row and plane of the image is its first */
    const int32_t *row_slot;        /* device; rows + size[1] - 1 entries */
    const int32_t *plane_slot;      /* device; planes + size[2] - 1 entries */
    /* device; the slots of the rows and planes under the output's own; for alpha_keep */
    const int32_t *center_row, *center_plane; /* rows, planes entries; else NULL */
    const struct gf_device_mask *mask;
    void *work;                     /* device; as many bytes as the family's work() asked for */
    unsigned long long *counts;     /* device; clipped low, clipped high, NaN: added to */
};

#endif
