/* Joining what was found in neighbouring runs of samples. */
#ifndef GPUFILT_CUDA_JOIN_CUH
#define GPUFILT_CUDA_JOIN_CUH

#include "launch.cuh"
#include "measure.h"

namespace GF_DEVICE {

/* a's samples come first. */
__device__ inline void join(struct piece *a, const struct piece *b)
{
    a->moments = gf_moments_merge(a->moments, b->moments);
    a->sum += b->sum;
    a->square_low += b->square_low;
    a->square_high += b->square_high;
    a->lowest = fmin(a->lowest, b->lowest);
    a->highest = fmax(a->highest, b->highest);
    a->nan += b->nan;
    a->plus_inf += b->plus_inf;
    a->minus_inf += b->minus_inf;
}

}

#endif
