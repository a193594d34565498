/* Kernel launches and what is asked about kernels. */
#include "machine_internal.h"
#include "memory.h"
#include "runtime.h"

#include <algorithm>
#include <map>

namespace simt {

static std::map<const void *, size_t> allowed_shared;       /* by kernel; default_shared else */

static size_t shared_limit(const void *kernel)
{
    auto found = allowed_shared.find(kernel);
    return found == allowed_shared.end() ? default_shared : found->second;
}

static cudaError_t check_configuration(const cudaLaunchConfig_t *c, const void *kernel)
{
    dim3 grid = c->grid, block = c->block;
    uint64_t count = uint64_t(block.x) * block.y * block.z;

    if (count == 0 || block.x > max_threads || block.y > max_threads || block.z > 64 ||
        count > max_threads)
        return cudaErrorInvalidConfiguration;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 65535 ||
        grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (c->dynamicSmemBytes > shared_limit(kernel))
        return cudaErrorInvalidValue;
    if (c->numAttrs > 0)
        return cudaErrorNotSupported;
    return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t *config, struct kernel_call k)
{
    call c;

    if (c.failed())
        return c.failed();
    auto s = stream_of(config->stream);
    if (!s || s->device != current_device())
        return c.done(cudaErrorInvalidResourceHandle);
    cudaError_t wrong = check_configuration(config, k.kernel);
    if (wrong)
        return c.done(wrong);
    dim3 grid = config->grid, block = config->block;
    size_t shared = config->dynamicSmemBytes;
    int device = s->device;
    enqueue(s, [=] {
        kernel_first = device_first + static_cast<size_t>(device) * one_device_span;
        cudaError_t result = run_grid(&k, grid, block, shared);
        if (result)
            poison(result);
    });
    return cudaSuccess;
}

namespace api {

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    call c;

    if (c.failed())
        return c.failed();
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return c.done(value < -1 || value > 100 ? cudaErrorInvalidValue : cudaSuccess);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<size_t>(value) > max_shared)
        return c.done(cudaErrorInvalidValue);
    allowed_shared[kernel] = static_cast<size_t>(value);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    call c;

    if (c.failed())
        return c.failed();
    *attributes = {};
    attributes->maxThreadsPerBlock = max_threads;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(kernel));
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared)
{
    call c;

    if (c.failed())
        return c.failed();
    if (threads < 1)
        return c.done(cudaErrorInvalidValue);
    if (threads > static_cast<int>(max_threads) || shared > shared_limit(kernel)) {
        *blocks = 0;
        return cudaSuccess;
    }
    int warps = (threads + 31) / 32, by_shared = static_cast<int>(228 * 1024 / (shared + 1024));
    *blocks = std::min({64 / warps, by_shared, 32});
    return cudaSuccess;
}

}
}
