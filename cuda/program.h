/* The program's C headers as C++ sees them. */
#ifndef GPUFILT_CUDA_PROGRAM_H
#define GPUFILT_CUDA_PROGRAM_H

/* First, because the simt device has its own memcpy. */
#include <cuda_runtime.h>

/* In C a struct and a function may share a name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "alloc.h"
#include "backend.h"
#include "border.h"
#include "plan.h"
#include "sample.h"
#include "status.h"
#include "util.h"
}
#pragma GCC diagnostic pop

/* The sources under cuda/ are compiled twice, by nvcc for GPUs and by the host's compiler for
 * the simt device; the build names the namespace so that both fit into one program. */
#ifndef GF_DEVICE
#error "the build defines GF_DEVICE as gf_cuda or gf_simt"
#endif

#endif
