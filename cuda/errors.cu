#include "errors.h"

extern "C" {
#include "text.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace GF_DEVICE {
namespace {

/* By name, because not every toolkit has them all. */
struct advice {
    const char *name, *what, *todo;
};

const char restart[] = "see nvidia-smi and the kernel's log, restart the driver or the machine";
const char report[] = "please report the command";

const struct advice advices[] = {
    {"MemoryAllocation", "no memory of the GPU is left",
     "end other programs that use it"},
    {"DevicesUnavailable", "it is busy or used exclusively by another program",
     "wait for that, or choose another GPU (gpufilt devices)"},
    {"SystemDriverMismatch",
     "the driver's kernel module and its library are of different versions",
     "restart the machine after the driver's update"},
    {"SystemNotReady", "the system's GPUs are not ready",
     "start the nvidia-fabricmanager service"},
    {"CompatNotSupportedOnDevice",
     "CUDA's compatibility package does not support this GPU", "update the driver itself"},
    {"MpsConnectionFailed", "the MPS server does not answer",
     "restart nvidia-cuda-mps-control"},
    {"MpsServerNotReady", "the MPS server is not ready", "try again soon"},
    {"MpsMaxClientsReached", "the MPS server has too many clients",
     "wait until one has ended"},
    {"MpsMaxConnectionsReached", "the MPS server has too many connections",
     "wait until one has ended"},
    {"ECCUncorrectable", "its memory has an error that could not be corrected",
     "reset the GPU (nvidia-smi --gpu-reset)"},
    {"NvlinkUncorrectable", "an NVLink error could not be corrected", restart},
    {"IllegalAddress", "a kernel read or wrote outside its memory", report},
    {"MisalignedAddress", "a kernel used a misaligned address", report},
    {"IllegalInstruction", "a kernel met an illegal instruction", report},
    {"HardwareStackError", "a kernel's stack is damaged", report},
    {"InvalidPc", "a kernel jumped outside its code", report},
    {"LaunchFailure", "a kernel failed", report},
    {"LaunchOutOfResources", "a kernel asks for more registers than there are", report},
    {"LaunchTimeout", "a kernel was stopped because it took too long for a display",
     "use a GPU without a display, or a smaller --gpu-memory"},
    {"DeviceUninitialized", "the driver has no context on it", restart},
    {"ContextIsDestroyed", "its context is gone", restart},
    {"InitializationError", "the driver could not be started", restart},
    {"StartupFailure", "the driver could not be started", restart},
    {"OperatingSystem", "the driver could not be started: a call of the system failed",
     "check that /dev/nvidia* may be used"},
    {"StubLibrary", "the library found is a stub and no driver",
     "take CUDA's stubs folder out of LD_LIBRARY_PATH"},
    {"CudartUnloading", "the driver is shutting down", restart},
};

const char *const no_kernels[] = {
    "NoKernelImageForDevice", "InvalidKernelImage", "UnsupportedPtxVersion", "InvalidPtx",
    "JitCompilerNotFound", "JitCompilationDisabled", "InvalidDeviceFunction",
};

bool is_named(cudaError_t error, const char *name)
{
    const char *given = cudaGetErrorName(error);
    return strncmp(given, "cudaError", 9) == 0 && strcmp(given + 9, name) == 0;
}

bool has_no_kernels(cudaError_t error)
{
    for (const char *name : no_kernels)
        if (is_named(error, name))
            return true;
    return false;
}

/* No driver, or one that is older than our runtime; one error means both. */
void explain_driver(char *text, size_t size)
{
    int driver = 0, runtime = 0;

    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    if (cudaRuntimeGetVersion(&runtime) != cudaSuccess)
        runtime = 0;
    if (driver == 0)
        snprintf(text, size, "no NVIDIA driver is there (libcuda.so.1 was not found); install "
                             "it, or use --device cpu");
    else
        snprintf(text, size, "the NVIDIA driver is for CUDA %d.%d and this gpufilt for %d.%d; "
                             "update the driver, or use --device cpu",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

/* No GPU at all, or none of this index. */
void explain_absence(char *text, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    snprintf(text, size, "there %s %d GPU%s%s%s%s; see gpufilt devices, or use --device cpu",
             count == 1 ? "is" : "are", count, count == 1 ? "" : "s",
             visible != nullptr ? " with CUDA_VISIBLE_DEVICES=" : " on this machine",
             visible != nullptr ? visible : "", count > 0 ? ", counted from 0" : "");
}

}

void explain_error(char *text, size_t size, const struct device *device, cudaError_t error)
{
    if (error == cudaErrorInsufficientDriver) {
        explain_driver(text, size);
        return;
    }
    if (error == cudaErrorNoDevice || error == cudaErrorInvalidDevice) {
        explain_absence(text, size);
        return;
    }
    if (has_no_kernels(error)) {
        snprintf(text, size, "this gpufilt has no kernels for compute capability %d.%d (%s); "
                             "build it with -DCMAKE_CUDA_ARCHITECTURES=%d%d, or use --device cpu",
                 device->major, device->minor, cudaGetErrorName(error), device->major,
                 device->minor);
        return;
    }
    for (const struct advice &a : advices)
        if (is_named(error, a.name)) {
            snprintf(text, size, "%s (%s); %s, or use --device cpu", a.what,
                     cudaGetErrorName(error), a.todo);
            return;
        }
    snprintf(text, size, "%s (%s); see gpufilt devices, or use --device cpu",
             cudaGetErrorString(error), cudaGetErrorName(error));
}

enum gf_status failed(struct gf_error *e, const struct device *device, cudaError_t error)
{
    char title[320], text[600];

    explain_error(text, sizeof text, device, error);
    /* An error that is not the context's end would be the result of the next call, too. */
    (void)cudaGetLastError();
    return gf_fail(e, error == cudaErrorMemoryAllocation ? GF_EMEMORY : GF_EDEVICE, "%s: %s",
                   device_title(title, device), text);
}

enum gf_status no_memory(struct gf_error *e, const struct device *device, const char *what,
                         uint64_t needed, const char *rest, uint64_t allowed)
{
    char title[320], bytes[GF_NUMBER_TEXT], room[GF_NUMBER_TEXT], all[GF_NUMBER_TEXT];
    char found[160] = "less is free; end other programs that use the GPU";
    size_t available = 0, total = 0;

    (void)cudaGetLastError();
    if (allowed > 0)
        snprintf(found, sizeof found, "--gpu-memory allows %s; raise it",
                 gf_format_bytes(room, allowed));
    else if (cudaMemGetInfo(&available, &total) == cudaSuccess)
        snprintf(found, sizeof found, "%s of %s are free; end other programs that use the GPU",
                 gf_format_bytes(room, available), gf_format_bytes(all, total));
    (void)cudaGetLastError();
    return gf_fail(e, GF_EMEMORY, "%s: %s %s of GPU memory %s, %s, or use --device cpu",
                   device_title(title, device), what, gf_format_bytes(bytes, needed), rest, found);
}

}
