/* The device a plan runs on: finding out whether it works, and its name in messages. */
#ifndef GPUFILT_CUDA_DEVICE_H
#define GPUFILT_CUDA_DEVICE_H

#include "program.h"

#include <cuda_runtime.h>

/* The backend's --device value in this build. */
#ifdef GF_SIMT
#define GF_BACKEND_NAME "simt"
#else
#define GF_BACKEND_NAME "cuda"
#endif

namespace GF_DEVICE {

struct device {
    int index;                  /* among the visible ones */
    char name[256];             /* "" while it is not known */
    int major, minor;           /* compute capability; 0.0 while it is not known */
};

/* Makes device->index the calling thread's device and finds out what can be known before work
 * begins: driver, mode, context, kernels. Fills the rest of *device. */
cudaError_t device_start(struct device *device);

/* "cuda:0 (NVIDIA H200)"; returns `title`. */
const char *device_title(char title[320], const struct device *device);

}

#endif
