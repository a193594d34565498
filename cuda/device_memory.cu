#include "device_memory.h"

#include <climits>

namespace GF_DEVICE {
namespace {

/* What cudaMalloc3D rounds rows up to on every device so far; only for planning. */
constexpr uint64_t PITCH = 512;

/* A row shorter than this would be padded to four times its length and more, and go over the
 * bus in transfers of that length, which the copy engines do at a fraction of their speed. */
constexpr uint64_t SHORT_ROW = PITCH / 4;

/* Strided copies and cudaMalloc3D take strides below 2^31 (cudaDeviceProp::memPitch). */
constexpr uint64_t LONGEST_STRIDE = INT_MAX;
constexpr uint64_t LONG_ROW = LONGEST_STRIDE - PITCH;

/* The planes in one transfer, where planes lie a whole number of rows apart. */
cudaError_t copy_planes(const struct rows &to, const struct rows &from, uint64_t row_bytes,
                        uint64_t count, uint64_t planes, cudaMemcpyKind kind,
                        cudaStream_t stream)
{
    cudaMemcpy3DParms p = {};

    p.srcPtr = make_cudaPitchedPtr(from.data, from.row, row_bytes, from.plane / from.row);
    p.dstPtr = make_cudaPitchedPtr(to.data, to.row, row_bytes, to.plane / to.row);
    p.extent = make_cudaExtent(row_bytes, count, planes);
    p.kind = kind;
    return cudaMemcpy3DAsync(&p, stream);
}

bool strides_fit(const struct rows &r) { return r.row <= LONGEST_STRIDE; }

}

uint64_t sum_of(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return gf_add(a, b, &sum) ? sum : UINT64_MAX;
}

uint64_t product_of(uint64_t a, uint64_t b)
{
    uint64_t product;
    return gf_mul(a, b, &product) ? product : UINT64_MAX;
}

bool must_pack(uint64_t row_bytes) { return row_bytes > LONG_ROW; }

bool should_pack(uint64_t row_bytes) { return row_bytes < SHORT_ROW; }

uint64_t rows_bytes(uint64_t row_bytes, uint64_t count, uint64_t planes, bool packed)
{
    uint64_t row = packed ? row_bytes : product_of(gf_ceil_div(row_bytes, PITCH), PITCH);
    return product_of(product_of(row, count), planes);
}

cudaError_t rows_allocate(struct rows *rows, uint64_t row_bytes, uint64_t count, uint64_t planes,
                          bool packed)
{
    void *block;

    if (packed) {
        uint64_t bytes = rows_bytes(row_bytes, count, planes, true);
        if (bytes == UINT64_MAX)
            return cudaErrorMemoryAllocation;
        GF_CALL(cudaMalloc(&block, bytes));
        rows->row = row_bytes;
    } else {
        cudaPitchedPtr pitched;
        GF_CALL(cudaMalloc3D(&pitched, make_cudaExtent(row_bytes, count, planes)));
        block = pitched.ptr;
        rows->row = pitched.pitch;
    }
    rows->data = static_cast<char *>(block);
    rows->plane = rows->row * count;
    return cudaSuccess;
}

void rows_free(struct rows *rows)
{
    if (rows->data != nullptr)
        cudaFree(rows->data);
    *rows = {};
}

cudaError_t copy_rows(const struct rows &to, const struct rows &from, uint64_t row_bytes,
                      uint64_t count, uint64_t planes, cudaMemcpyKind kind, cudaStream_t stream)
{
    struct rows t = to, f = from;

    if (count == 0 || planes == 0)
        return cudaSuccess;
    /* One row a plane: the planes are the rows. */
    if (count == 1) {
        t.row = t.plane;
        f.row = f.plane;
        count = planes;
        planes = 1;
    }
    /* Rows without a gap on both sides are one long row, and so are planes then. */
    if (count > 1 && t.row == row_bytes && f.row == row_bytes) {
        row_bytes *= count;
        t.row = t.plane;
        f.row = f.plane;
        count = planes;
        planes = 1;
        if (count > 1 && t.row == row_bytes && f.row == row_bytes) {
            row_bytes *= count;
            count = 1;
        }
    }
    if (count == 1 && planes == 1)
        return cudaMemcpyAsync(t.data, f.data, row_bytes, kind, stream);
    if (planes > 1 && strides_fit(t) && strides_fit(f) && t.plane % t.row == 0 &&
        f.plane % f.row == 0)
        return copy_planes(t, f, row_bytes, count, planes, kind, stream);
    for (uint64_t z = 0; z < planes; z++, t.data += t.plane, f.data += f.plane) {
        if (strides_fit(t) && strides_fit(f)) {
            GF_CALL(cudaMemcpy2DAsync(t.data, t.row, f.data, f.row, row_bytes, count, kind,
                                      stream));
            continue;
        }
        for (uint64_t y = 0; y < count; y++)
            GF_CALL(cudaMemcpyAsync(t.data + y * t.row, f.data + y * f.row, row_bytes, kind,
                                    stream));
    }
    return cudaSuccess;
}

}
