/* What kernels and their launchers use in the same words on a GPU and on the simt device. */
#ifndef GPUFILT_CUDA_LAUNCH_CUH
#define GPUFILT_CUDA_LAUNCH_CUH

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#ifdef GF_SIMT
#define GF_UNROLL
#else
#define GF_UNROLL _Pragma("unroll")
#endif

namespace GF_DEVICE {

/* The block's dynamic shared memory, the only kind that kernels use; 16-byte aligned. */
template <typename T> __device__ inline T *shared_memory()
{
#ifdef GF_SIMT
    return reinterpret_cast<T *>(simt::shared_memory());
#else
    extern __shared__ uint4 shared_words[];
    return reinterpret_cast<T *>(shared_words);
#endif
}

/* What a launch is. */
struct launched {
    const void *function;       /* the kernel; NULL: none */
    dim3 grid, block;
    size_t shared;              /* dynamic, bytes of a block */
};

/* The calling thread's next launch goes to *first; NULL: no more. For who calls code that launches
 * kernels of its own choice, and wants to tell of it. */
inline thread_local struct launched *launch_watched;
inline void watch_launch(struct launched *first)
{
    launch_watched = first;
    if (first != nullptr)
        *first = {};
}
inline void note_launch(const struct launched &launched)
{
    if (launch_watched != nullptr && launch_watched->function == nullptr)
        *launch_watched = launched;
}

/* Launches kernel(arguments...); the arguments are converted to the kernel's parameters.
 * Shared memory beyond 48 KiB is asked for where a kernel needs it. */
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                   cudaStream_t stream, Arguments &&...arguments)
{
    cudaLaunchConfig_t config = {};
    if (shared > 48 * 1024) {
        cudaError_t status = cudaFuncSetAttribute(
            reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
            static_cast<int>(shared));
        if (status != cudaSuccess)
            return status;
    }
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    note_launch({reinterpret_cast<const void *>(kernel), grid, block, shared});
    return cudaLaunchKernelEx(&config, kernel,
                              static_cast<Parameters>(std::forward<Arguments>(arguments))...);
}

}

#endif
