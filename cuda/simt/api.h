/* The part of the CUDA runtime API that the simt device has. Each does what CUDA's function of
 * that name does; work given to streams runs as late as CUDA allows, so that a forgotten
 * synchronisation shows. */
#ifndef GPUFILT_SIMT_API_H
#define GPUFILT_SIMT_API_H

#include "vectors.h"

#include <cstddef>
#include <cstdint>

namespace simt {

struct stream;
struct event;

namespace api {

/* X(name, number, text) */
#define SIMT_ERRORS(X)                                                                         \
    X(Success, 0, "no error")                                                                  \
    X(ErrorInvalidValue, 1, "invalid argument")                                                \
    X(ErrorMemoryAllocation, 2, "out of memory")                                               \
    X(ErrorInitializationError, 3, "initialization error")                                     \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                    \
    X(ErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                 \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(ErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")        \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    X(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    X(ErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    X(ErrorNoKernelImageForDevice, 209,                                                        \
      "no kernel image is available for execution on the device")                              \
    X(ErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                       \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    X(ErrorNotReady, 600, "device not ready")                                                  \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                      \
    X(ErrorHostMemoryAlreadyRegistered, 712,                                                   \
      "part or all of the requested memory range is already mapped")                           \
    X(ErrorHostMemoryNotRegistered, 713,                                                       \
      "pointer does not correspond to a registered memory region")                             \
    X(ErrorMisalignedAddress, 716, "misaligned address")                                       \
    X(ErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    X(ErrorNotPermitted, 800, "operation not permitted")                                       \
    X(ErrorNotSupported, 801, "operation not supported")                                       \
    X(ErrorSystemDriverMismatch, 803,                                                          \
      "system has unsupported display driver / cuda driver combination")                       \
    X(ErrorUnknown, 999, "unknown error")

#define SIMT_ERROR(name, number, text) cuda##name = number,
enum cudaError { SIMT_ERRORS(SIMT_ERROR) };
#undef SIMT_ERROR
using cudaError_t = enum cudaError;

using cudaStream_t = struct stream *;
using cudaEvent_t = struct event *;

#define CUDART_VERSION 13000
#define CUDART_CB

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

enum {
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0,
    cudaHostRegisterPortable = 1,
    cudaHostRegisterMapped = 2,
    cudaHostRegisterReadOnly = 8,
    cudaDeviceScheduleAuto = 0,
    cudaDeviceScheduleSpin = 1,
    cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4
};

struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y)
{
    return {p, pitch, x, y};
}
/* There are no arrays here; the pointers stay NULL. */
struct cudaArray;
using cudaArray_t = struct cudaArray *;
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};

struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    size_t reservedSharedMemPerBlock, totalConstMem, memPitch;
    int regsPerBlock, regsPerMultiprocessor, warpSize;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int major, minor, multiProcessorCount, l2CacheSize, persistingL2CacheMaxSize, memoryBusWidth;
    int asyncEngineCount, concurrentKernels, integrated, canMapHostMemory, unifiedAddressing;
    int managedMemory, ECCEnabled, tccDriver, memoryPoolsSupported, cooperativeLaunch;
    int pciBusID, pciDeviceID, pciDomainID;
};

/* The numbers are CUDA's. */
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100 };
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

struct cudaLaunchAttribute;     /* none are known here */
struct cudaLaunchConfig_t {
    dim3 grid, block;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
    /* gridDim and blockDim, as cuda_runtime.h defines them */
    dim3 &simt_grid_size() { return grid; }
    dim3 &simt_block_size() { return block; }
};

/* ---- devices ---- */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* ---- memory ---- */
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaMallocHost(void **p, size_t bytes, unsigned flags = 0);
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);

template <typename T> cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(p), bytes);
}
template <typename T>
cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch(reinterpret_cast<void **>(p), pitch, width, height);
}
template <typename T> cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(reinterpret_cast<void **>(p), bytes, stream);
}
template <typename T> cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned flags = 0)
{
    return cudaMallocHost(reinterpret_cast<void **>(p), bytes, flags);
}
template <typename T> cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned flags)
{
    return cudaHostAlloc(reinterpret_cast<void **>(p), bytes, flags);
}

/* ---- copies ---- */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);

/* A symbol is the __constant__ variable itself. */
cudaError_t symbol_copy(const void *symbol, const void *from, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool async);
cudaError_t symbol_address(void **p, const void *symbol);
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return symbol_copy(&symbol, from, bytes, offset, kind, nullptr, false);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes,
                                    size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr)
{
    return symbol_copy(&symbol, from, bytes, offset, kind, stream, true);
}
template <typename T> cudaError_t cudaGetSymbolAddress(void **p, const T &symbol)
{
    return symbol_address(p, &symbol);
}

/* ---- streams and events ---- */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

/* ---- kernels ---- */
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared);
template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                          int threads, size_t shared)
{
    return occupancy(blocks, reinterpret_cast<const void *>(kernel), threads, shared);
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                                 int threads, size_t shared)
{
    return occupancy(blocks, kernel, threads, shared);
}

}
}

#endif
