/* The cp.async primitives of CUDA's cuda_pipeline.h. */
#ifndef GPUFILT_SIMT_CUDA_PIPELINE_H
#define GPUFILT_SIMT_CUDA_PIPELINE_H

#include "cuda_runtime.h"

namespace simt {
namespace api {

#define SIMT_INLINE __attribute__((always_inline)) inline
SIMT_INLINE void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes,
                                         size_t zeros = 0)
{
    async_copy(shared, global, bytes, zeros);
}
SIMT_INLINE void __pipeline_commit() { async_commit(); }
SIMT_INLINE void __pipeline_wait_prior(unsigned groups_left) { async_wait(groups_left); }
#undef SIMT_INLINE

}
}

#endif
