#include "device.h"
#include "devices.h"
#include "errors.h"
#include "launch.cuh"

#include <cstdio>
#include <cstring>

/* The list is the GPUs'; the simt device has one of its own for the tests. */
#ifdef GF_SIMT
#define GF_DEVICES_LIST gf_simt_devices_list
extern "C" enum gf_status gf_simt_devices_list(struct gf_gpu_info **list, unsigned *count,
                                               struct gf_error *e);
#else
#define GF_DEVICES_LIST gf_devices_list
#endif

namespace GF_DEVICE {
namespace {

/* nvidia-smi -c PROHIBITED; else 0 default, 3 one process. */
constexpr int COMPUTE_MODE_PROHIBITED = 2;

/* Never launched: that the device has code for it says that it has code for the others. */
__global__ void probe(int *to) { *to = 1; }

cudaError_t start(struct device *device, const cudaDeviceProp *properties)
{
    cudaFuncAttributes attributes;
    int mode;

    snprintf(device->name, sizeof device->name, "%s", properties->name);
    device->major = properties->major;
    device->minor = properties->minor;
    GF_CALL(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device->index));
    if (mode == COMPUTE_MODE_PROHIBITED)
        return cudaErrorDevicesUnavailable;
    GF_CALL(cudaSetDevice(device->index));
    /* A context, where setting the device has not made one. */
    GF_CALL(cudaFree(nullptr));
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(probe));
}

/* Fills one row; what goes wrong is in it. */
void describe(struct gf_gpu_info *info, int index)
{
    cudaDeviceProp properties;
    struct device device = {};
    size_t available = 0, total = 0;
    cudaError_t error;

    info->index = device.index = index;
    (void)cudaDriverGetVersion(&info->driver);
    (void)cudaRuntimeGetVersion(&info->runtime);
    error = cudaGetDeviceProperties(&properties, index);
    if (error == cudaSuccess) {
        info->major = properties.major;
        info->minor = properties.minor;
        info->processors = properties.multiProcessorCount;
        info->memory = properties.totalGlobalMem;
        snprintf(info->name, sizeof info->name, "%s", properties.name);
        if (cudaDeviceGetPCIBusId(info->bus, sizeof info->bus, index) != cudaSuccess)
            info->bus[0] = '\0';
        error = start(&device, &properties);
    }
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&available, &total);
    info->memory_free = available;
    info->usable = error == cudaSuccess;
    if (!info->usable) {
        explain_error(info->why_not, sizeof info->why_not, &device, error);
        (void)cudaGetLastError();
    }
}

}

const char *device_title(char title[320], const struct device *device)
{
    bool known = device->name[0] != '\0';

    snprintf(title, 320, "%s:%d%s%s%s", GF_BACKEND_NAME, device->index, known ? " (" : "",
             device->name, known ? ")" : "");
    return title;
}

cudaError_t device_start(struct device *device)
{
    cudaDeviceProp properties;
    int count;

    GF_CALL(cudaGetDeviceCount(&count));
    if (count == 0)
        return cudaErrorNoDevice;
    if (device->index < 0 || device->index >= count)
        return cudaErrorInvalidDevice;
    GF_CALL(cudaGetDeviceProperties(&properties, device->index));
    return start(device, &properties);
}

}

/* How many there are; GF_EDEVICE for none. */
static enum gf_status count_devices(int *devices, struct gf_error *e)
{
    using namespace GF_DEVICE;
    char text[512];
    struct device device = {};
    cudaError_t error = cudaGetDeviceCount(devices);

    if (error == cudaSuccess && *devices == 0)
        error = cudaErrorNoDevice;
    if (error == cudaSuccess)
        return GF_OK;
    explain_error(text, sizeof text, &device, error);
    (void)cudaGetLastError();
    return gf_fail(e, GF_EDEVICE, "%s", text);
}

extern "C" enum gf_status GF_DEVICES_LIST(struct gf_gpu_info **list, unsigned *count,
                                          struct gf_error *e)
{
    using namespace GF_DEVICE;
    int devices = 0;
    void *block;

    *list = nullptr;
    *count = 0;
    GF_TRY(count_devices(&devices, e));
    GF_TRY(gf_allocate(&block, static_cast<uint64_t>(devices), sizeof **list, "the GPUs", e));
    *list = static_cast<struct gf_gpu_info *>(block);
    *count = static_cast<unsigned>(devices);
    memset(block, 0, *count * sizeof **list);
    for (int i = 0; i < devices; i++)
        describe(*list + i, i);
    return GF_OK;
}

#ifndef GF_SIMT
extern "C" enum gf_status gf_device_find(unsigned index, struct gf_gpu_info *info,
                                         struct gf_error *e)
{
    using namespace GF_DEVICE;
    char text[512];
    struct device device = {};
    int devices = 0;

    memset(info, 0, sizeof *info);
    GF_TRY(count_devices(&devices, e));
    if (index >= static_cast<unsigned>(devices)) {
        explain_error(text, sizeof text, &device, cudaErrorInvalidDevice);
        return gf_fail(e, GF_EDEVICE, "%s", text);
    }
    describe(info, static_cast<int>(index));
    return info->usable ? GF_OK : gf_fail(e, GF_EDEVICE, "%s: %s", info->name, info->why_not);
}

extern "C" const char *gf_devices_built(void)
{
    static const char built[] = GPUFILT_CUDA_BUILT;
    return built;
}
#endif
