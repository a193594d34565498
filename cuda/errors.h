/* From CUDA's errors to the program's: a status and one line that names the device, what
 * happened and what to do. */
#ifndef GPUFILT_CUDA_ERRORS_H
#define GPUFILT_CUDA_ERRORS_H

#include "device.h"

/* Returns the error of a CUDA call from the calling function. */
#define GF_CALL(call)                            \
    do {                                         \
        cudaError_t gf_call_error = (call);      \
        if (gf_call_error != cudaSuccess)        \
            return gf_call_error;                \
    } while (0)

namespace GF_DEVICE {

/* One clause and what to do, without the device's name. */
void explain_error(char *text, size_t size, const struct device *device, cudaError_t error);

/* GF_EMEMORY for cudaErrorMemoryAllocation, else GF_EDEVICE; forgets the error where CUDA
 * allows that. */
enum gf_status failed(struct gf_error *e, const struct device *device, cudaError_t error);

/* GF_EMEMORY: "WHAT 12 MiB of GPU memory REST", which is more than there is, or than `allowed`
 * bytes where that is not 0 (--gpu-memory). Forgets the error. */
enum gf_status no_memory(struct gf_error *e, const struct device *device, const char *what,
                         uint64_t needed, const char *rest, uint64_t allowed);

}

#endif
