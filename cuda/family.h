/* Kernel families: each computes some plans, the last one all of them. */
#ifndef GPUFILT_CUDA_FAMILY_H
#define GPUFILT_CUDA_FAMILY_H

#include "chunk.h"

struct gf_family {
    const char *name;
    /* Whether it computes this plan. `aligned`: every row of input and output begins on a
     * 16-byte boundary and is followed by memory up to the next one. */
    bool (*takes)(const struct gf_plan *plan, bool aligned);
    /* Bytes of chunk->work for a chunk with these rows, planes, in_rows and in_planes (the
     * other members are not looked at). NULL: none. */
    uint64_t (*work)(const struct gf_plan *plan, const struct gf_chunk *chunk);
    /* Puts the mask into constant memory, in the order of `stream`; before any launch, and
     * again after another plan's. Kernels of two plans must not be in flight together. */
    cudaError_t (*prepare)(const struct gf_plan *plan, const struct gf_device_mask *mask,
                           cudaStream_t stream);
    /* Computes a chunk, in the order of `stream`; returns before it is done. */
    cudaError_t (*launch)(const struct gf_plan *plan, const struct gf_chunk *chunk,
                          cudaStream_t stream);
};

namespace GF_DEVICE {
/* NULL-terminated; the first that takes a plan is the fastest for it. */
extern const struct gf_family *const families[];
/* The first that takes the plan; with test hooks GPUFILT_TEST_FAMILY=NAME makes that one
 * the choice where it takes the plan. */
const struct gf_family *family_for(const struct gf_plan *plan, bool aligned);

extern const struct gf_family general, sweep2d, sweep3d_direct, sweep3d_separable;
}

#endif
