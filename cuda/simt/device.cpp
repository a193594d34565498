/* The device's properties: an imaginary one of compute capability 9.0, small enough that a
 * grid sized by its multiprocessors stays small. */
#include "machine_internal.h"
#include "memory.h"
#include "runtime.h"

#include <cstdio>
#include <cstring>

namespace simt {
namespace api {

static constexpr int multiprocessors = 4;
static constexpr size_t shared_of_multiprocessor = 228 * 1024;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    call c;

    if (c.failed())
        return c.failed();
    if (device < 0 || device >= visible_devices())
        return c.done(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "simt");
    p->totalGlobalMem = memory_limit();
    p->sharedMemPerBlock = default_shared;
    p->sharedMemPerBlockOptin = max_shared;
    p->sharedMemPerMultiprocessor = shared_of_multiprocessor;
    p->reservedSharedMemPerBlock = 1024;
    p->totalConstMem = 65536;
    p->memPitch = 0x7fffffff;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = warp_size;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = max_threads;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->major = 9;
    p->multiProcessorCount = multiprocessors;
    p->l2CacheSize = 1 << 20;
    p->memoryBusWidth = 64;
    p->asyncEngineCount = 2;
    p->concurrentKernels = p->canMapHostMemory = p->unifiedAddressing = 1;
    p->memoryPoolsSupported = 1;
    p->pciBusID = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    call c;

    if (c.failed())
        return c.failed();
    if (device < 0 || device >= visible_devices())
        return c.done(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = max_threads; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = default_shared; break;
    case cudaDevAttrTotalConstantMemory:
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrWarpSize: *value = warp_size; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = multiprocessors; break;
    case cudaDevAttrComputeMode: *value = 0; break;
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 64; break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrAsyncEngineCount: *value = 2; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = shared_of_multiprocessor;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = max_shared; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return c.done(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    call c;

    if (c.failed())
        return c.failed();
    if (device < 0 || device >= visible_devices() || bytes < 1)
        return c.done(cudaErrorInvalidValue);
    snprintf(text, static_cast<size_t>(bytes), "0000:%02x:00.0", static_cast<unsigned>(device));
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    call c;

    if (c.failed())
        return c.failed();
    size_t used = device_used(current_device()), limit = memory_limit();
    *total = limit;
    *free = used < limit ? limit - used : 0;
    return cudaSuccess;
}

}
}
