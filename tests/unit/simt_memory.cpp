/* Copies, allocations, limits of launches, leaks. */
#include "simt_test.h"

#include <cstring>
#include <vector>

namespace GF_DEVICE {

static __global__ void nothing() {}
static __global__ void fill_shared(int *out, int bytes)
{
    char *s = shared_memory<char>();

    for (int i = static_cast<int>(threadIdx.x); i < bytes; i += static_cast<int>(blockDim.x))
        s[i] = static_cast<char>(i);
    __syncthreads();
    out[threadIdx.x] = s[bytes - 1];
}

/* A box moves there and back through pitched memory. */
static void test_copies_3d()
{
    static unsigned char in[4][5][7], out[6][9][11];
    cudaExtent extent = make_cudaExtent(7, 5, 4);
    cudaPitchedPtr device;
    cudaMemcpy3DParms up = {}, down = {};

    for (int i = 0; i < 4 * 5 * 7; i++)
        (&in[0][0][0])[i] = static_cast<unsigned char>(i + 1);
    CHECK(cudaMalloc3D(&device, extent) == cudaSuccess && device.pitch % 512 == 0);
    up.srcPtr = make_cudaPitchedPtr(in, 7, 7, 5);
    up.dstPtr = device;
    up.extent = extent;
    up.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&up) == cudaSuccess);
    down.srcPtr = device;
    down.srcPos = make_cudaPos(1, 1, 1);
    down.dstPtr = make_cudaPitchedPtr(out, 11, 11, 9);
    down.dstPos = make_cudaPos(2, 3, 1);
    down.extent = make_cudaExtent(6, 4, 3);
    down.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&down) == cudaSuccess);
    bool right = true;
    for (size_t z = 0; z < 6; z++)
        for (size_t y = 0; y < 9; y++)
            for (size_t x = 0; x < 11; x++) {
                bool inside = x >= 2 && x < 8 && y >= 3 && y < 7 && z >= 1 && z < 4;
                int v = inside ? in[z][y - 2][x - 1] : 0;
                right = right && out[z][y][x] == v;
            }
    checked(right, "a box through pitched memory");

    down.extent.width = 7;
    CHECK(cudaMemcpy3D(&down) == cudaErrorLaunchFailure &&
          reported("reads device memory that nothing wrote: byte"));
    cudaDeviceReset();
}

static void test_copies_2d()
{
    unsigned char in[3][10], out[3][10] = {};
    unsigned char *device;
    size_t pitch;

    memset(in, 9, sizeof in);
    CHECK(cudaMallocPitch(&device, &pitch, 10, 3) == cudaSuccess && pitch >= 10);
    CHECK(cudaMemset2D(device, pitch, 4, 10, 3) == cudaSuccess);
    CHECK(cudaMemcpy2D(device, pitch, in, 10, 8, 3, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2D(out, 10, device, pitch, 10, 3, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[0][0] == 9 && out[2][7] == 9 && out[2][8] == 4 && out[0][9] == 4);
    CHECK(cudaMemcpy2D(out, 10, device, pitch, 11, 3, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy(out, device, 10, cudaMemcpyHostToDevice) == cudaErrorInvalidValue &&
          reported("against the direction given"));
    CHECK(cudaMemcpy(out, device, 3 * pitch + 1, cudaMemcpyDeviceToHost) ==
              cudaErrorInvalidValue && reported("the source reaches 1 bytes beyond"));
    CHECK(cudaMemset(device + 1, 0, 3 * pitch) == cudaErrorInvalidValue &&
          reported("the destination of memset reaches 1 bytes beyond"));
    CHECK(cudaFree(device + 256) == cudaErrorInvalidValue && reported("cudaFree"));
    CHECK(cudaFree(device) == cudaSuccess);
    CHECK(cudaMemset(device, 0, 1) == cudaErrorInvalidValue &&
          reported("in no allocation of device memory"));
    CHECK(cudaFree(device) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
}

static void test_launch_limits()
{
    int *out;

    cudaMalloc(&out, 4096);
    CHECK(launch(nothing, 1, 1025, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, 1, dim3(32, 33), 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, 1, dim3(1, 1, 65), 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, dim3(1, 65536), 1, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, dim3(1, 1, 65536), 1, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, 0, 1, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing, dim3(70000), 1, 0, nullptr) == cudaSuccess);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.dynamicSmemBytes = 49153;
    CHECK(cudaLaunchKernelEx(&config, fill_shared, out, 49153) == cudaErrorInvalidValue);
    CHECK(launch(fill_shared, 1, 1024, 232448, nullptr, out, 232448) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(launch(fill_shared, 1, 1024, 232449, nullptr, out, 1) == cudaErrorInvalidValue);
    cudaFree(out);
    cudaGetLastError();
}

static void test_pinned()
{
    static char host[1000];
    void *p;

    CHECK(cudaHostRegister(host, 500, cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(host + 499, 10, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostRegister(host + 500, 10, 0) == cudaSuccess);
    CHECK(cudaHostUnregister(host + 1) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaFreeHost(host) == cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(host) == cudaSuccess && cudaHostUnregister(host + 500) == cudaSuccess);
    CHECK(cudaHostAlloc(&p, 100, cudaHostAllocPortable) == cudaSuccess);
    CHECK(cudaFreeHost(p) == cudaSuccess && cudaFreeHost(nullptr) == cudaSuccess);
    CHECK(cudaFree(nullptr) == cudaSuccess && cudaFree(0) == cudaSuccess);
    cudaGetLastError();
}

static void test_limit()
{
    size_t free, total;
    void *a, *b;

    simt::limit_memory(1 << 20);
    CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess && free == total && total == 1 << 20);
    CHECK(cudaMalloc(&a, 600000) == cudaSuccess);
    CHECK(cudaMalloc(&b, 600000) == cudaErrorMemoryAllocation && !b);
    CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess && free == (1 << 20) - 600000);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaFree(a) == cudaSuccess && cudaMalloc(&b, 600000) == cudaSuccess);
    CHECK(cudaFree(b) == cudaSuccess);
    simt::limit_memory(size_t(2) << 30);
}

/* Memory that was freed is not used again at once, and not found written when it is. */
static void test_freed()
{
    static unsigned char host[100];
    std::vector<void *> all;

    for (int i = 0; i < 3000; i++) {
        void *p;
        cudaMalloc(&p, 100);
        CHECK(i > 0 || reinterpret_cast<uintptr_t>(p) % 256 == 0);
        cudaMemset(p, 1, 100);
        cudaFree(p);
        all.push_back(p);
    }
    bool again = false;
    for (size_t i = 1; i < all.size(); i++)
        again = again || all[i] == all[i - 1];
    checked(!again, "freed addresses rest");
    void *p;
    bool caught = true;
    cudaMalloc(&p, 100);
    caught = cudaMemcpy(host, p, 100, cudaMemcpyDeviceToHost) == cudaErrorLaunchFailure;
    checked(caught && reported("nothing wrote: byte 0 of an allocation of 100"),
            "what an earlier owner wrote is unwritten");
    cudaDeviceReset();
}

}

using namespace GF_DEVICE;

void test_memory()
{
    test_copies_3d();
    test_copies_2d();
    test_launch_limits();
    test_pinned();
    test_limit();
    test_freed();
}

void test_leaks()
{
    void *p;
    cudaStream_t stream;
    cudaEvent_t event;

    CHECK(simt::leaks() == 0);
    cudaMalloc(&p, 12345);
    CHECK(simt::leaks() == 1 && reported("leaked: 1 allocation of device memory, 12345 bytes"));
    cudaFree(p);
    cudaMallocHost(&p, 777);
    CHECK(simt::leaks() == 1 && reported("leaked: 1 piece of pinned memory, 777 bytes"));
    cudaFreeHost(p);
    cudaHostRegister(&stream, sizeof stream, 0);
    CHECK(simt::leaks() == 1 && reported("pinned memory"));
    cudaHostUnregister(&stream);
    cudaStreamCreate(&stream);
    CHECK(simt::leaks() == 1 && reported("leaked: 1 stream"));
    launch(nothing, 1, 1, 0, stream);
    cudaStreamDestroy(stream);
    CHECK(simt::leaks() == 1 && reported("left: 1 operation that nothing waited for"));
    cudaDeviceSynchronize();
    cudaEventCreate(&event);
    CHECK(simt::leaks() == 1 && reported("leaked: 1 event"));
    cudaEventDestroy(event);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
    CHECK(simt::leaks() == 0);
    cudaGetLastError();
}
