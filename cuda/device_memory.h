/* Rows and planes of samples in device memory, and boxes of samples on their way. */
#ifndef GPUFILT_CUDA_DEVICE_MEMORY_H
#define GPUFILT_CUDA_DEVICE_MEMORY_H

#include "errors.h"

namespace GF_DEVICE {

struct rows {
    char *data;
    size_t row, plane;          /* bytes from a row to the next, a plane */
};

/* Whether rows of so many bytes can only be packed; whether they better are. */
bool must_pack(uint64_t row_bytes);
bool should_pack(uint64_t row_bytes);

/* Room for `planes` times `count` rows: pitched, each row on a boundary of the device's
 * choice, or packed, one after the other. */
cudaError_t rows_allocate(struct rows *rows, uint64_t row_bytes, uint64_t count, uint64_t planes,
                          bool packed);
/* Bytes that takes at most; UINT64_MAX when the number does not fit. */
uint64_t rows_bytes(uint64_t row_bytes, uint64_t count, uint64_t planes, bool packed);
/* Accepts what was never allocated; leaves zeros. */
void rows_free(struct rows *rows);

/* a + b and a * b, UINT64_MAX when they do not fit. */
uint64_t sum_of(uint64_t a, uint64_t b);
uint64_t product_of(uint64_t a, uint64_t b);

/* Copies `planes` times `count` rows of row_bytes, in the order of `stream`, with as few
 * transfers as the strides allow; reads and writes nothing between the rows. */
cudaError_t copy_rows(const struct rows &to, const struct rows &from, uint64_t row_bytes,
                      uint64_t count, uint64_t planes, cudaMemcpyKind kind, cudaStream_t stream);

}

#endif
