/* The CUDA runtime API on the simt device: a CUDA source that includes this file instead of
 * the toolkit's compiles as plain C++17 and runs on the host's processor, one block after
 * another, every access checked. Everything is in namespace simt, so that one program may also
 * hold the real runtime. machine.h is what kernels ask of the machine; block.cpp runs them,
 * check.cpp and race.cpp look at their accesses, stream.cpp orders the work. */
#ifndef GPUFILT_SIMT_CUDA_RUNTIME_H
#define GPUFILT_SIMT_CUDA_RUNTIME_H

#include "api.h"
#include "intrinsics.h"
#include "launch.h"

#define __global__
#define __device__
#define __host__
#define __shared__ SIMT_has_dynamic_shared_memory_only
/* In a section of its own, which tells it from other host memory. */
#define __constant__ __attribute__((section("simt_constant")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

/* Calls, because they depend on the thread; cudaLaunchConfig_t has members of the same name. */
#define threadIdx simt_thread_index()
#define blockIdx simt_block_index()
#define blockDim simt_block_size()
#define gridDim simt_grid_size()

using namespace simt::api;

#endif
