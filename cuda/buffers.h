/* How large chunks are, and the device memory for them. */
#ifndef GPUFILT_CUDA_BUFFERS_H
#define GPUFILT_CUDA_BUFFERS_H

#include "state.h"

namespace GF_DEVICE {

/* Decides how a slab of so many output rows and planes is cut, and makes room for chunks of
 * this *shape unless there is. cudaErrorMemoryAllocation: the device has less than was
 * thought, or not even a chunk of one row is within the limit (then s->shape is {}). */
cudaError_t buffers_make(struct state *s, uint64_t rows, uint64_t planes, struct shape *shape);

/* After cudaErrorMemoryAllocation: frees the buffers and lowers the limit, so that the next
 * chunks are about half as large. False when there is nothing smaller. */
bool buffers_shrink(struct state *s);

void buffers_free(struct state *s);

/* Bytes that chunks of this shape take, all sets together. */
uint64_t shape_bytes(const struct state *s, const struct shape *shape);

}

#endif
