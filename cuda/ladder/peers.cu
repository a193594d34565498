/* The sums that are not written for the ladder: CUB's, and the pass of `gpufilt stats`. */
#include "../errors.h"
#include "../measure.h"
#include "version.h"

#ifndef GF_SIMT
#include <cub/device/device_reduce.cuh>
#endif

namespace GF_DEVICE {
namespace {

/* ---- CUB ---- */

#ifdef GF_SIMT

const char *library_cannot(const struct gf_ladder_work *)
{
    return "CUB is not for the simt device";
}

cudaError_t run_library(const struct ladder_data *, cudaStream_t, struct launched *)
{
    return cudaErrorNotSupported;
}

#else

/* With temporary == nullptr: only fills *bytes. */
cudaError_t library_sum(void *temporary, size_t *bytes, const float *in, float *out, uint64_t n,
                        cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(temporary, *bytes, in, out, static_cast<int64_t>(n), stream);
}

uint64_t scratch_library(const struct gf_ladder_work *work, unsigned)
{
    size_t bytes = 0;

    if (library_sum(nullptr, &bytes, nullptr, nullptr, work->n, nullptr) != cudaSuccess)
        return 0;
    return gf_ceil_div(bytes, sizeof(float)) + 1; /* a pointer, whatever it asks for */
}

cudaError_t run_library(const struct ladder_data *data, cudaStream_t stream,
                        struct launched *first)
{
    size_t bytes = 0;

    *first = {}; /* its kernels are its own affair */
    GF_CALL(library_sum(nullptr, &bytes, data->in, data->out, data->work->n, stream));
    return library_sum(data->scratch, &bytes, data->in, data->out, data->work->n, stream);
}

/* Chains of a thread that holds a share of a grid of two blocks on each processor, and the trees:
 * its policies change, so a bound: no more than a grid stride of 2^15 threads makes, and 64. */
uint64_t depth_library(const struct gf_ladder_work *work, unsigned) { return work->n / 32768 + 64; }

#endif

/* ---- gpufilt stats ---- */

/* Count, extremes, sum and sum of squares of floats; the sum is right to the last bit of a double.
 * The state takes every run's samples after those of the runs before. */
cudaError_t run_stats(const struct ladder_data *data, cudaStream_t stream,
                      struct launched *first)
{
#if defined(GF_SIMT) && !defined(GPUFILT_TEST_HOOKS)
    (void)data;
    (void)stream;
    (void)first;
    return cudaErrorNotSupported;
#else
    cudaError_t error = cudaSuccess;

    watch_launch(first);
    for (uint64_t i = 0; i < data->work->n && error == cudaSuccess; i += MOST_QUEUED)
        error = measure_queue(data->measurer, data->in + i, gf_min(data->work->n - i, MOST_QUEUED),
                              stream);
    watch_launch(nullptr);
    return error;
#endif
}

#if defined(GF_SIMT) && !defined(GPUFILT_TEST_HOOKS)
const char *stats_cannot(const struct gf_ladder_work *)
{
    return "the kernels of stats are on the simt device in builds for tests alone";
}
#endif

}

struct ladder_version library_version()
{
    struct ladder_version v = {};

    v.step = GF_STEP_REDUCE_CUB;
    v.run = run_library;
#ifdef GF_SIMT
    v.cannot = library_cannot;
#else
    v.scratch = scratch_library;
    v.depth = depth_library;
#endif
    return v;
}

struct ladder_version stats_version()
{
    struct ladder_version v = {};

    v.step = GF_STEP_REDUCE_STATS;
    v.run = run_stats;
#ifndef GF_SIMT
    v.measurer = &gf_measurer_cuda;
#elif defined(GPUFILT_TEST_HOOKS)
    v.measurer = &gf_measurer_simt;
#else
    v.cannot = stats_cannot;
#endif
    return v;
}

}
