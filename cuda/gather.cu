#include "gather.h"

#include "errors.h"
#include "measure.h"

extern "C" {
#include "util.h"
}

namespace GF_DEVICE {
namespace {

/* Enough for the launches to cost little beside what they do. */
constexpr uint64_t GATHERED_BYTES = UINT64_C(16) << 20;

/* A call that fails leaves everything as it was, so that all of this may be tried again. */

cudaError_t hand_on(void *measuring, uint64_t count, cudaStream_t stream)
{
    struct gather *g = measure_gather(measuring);

    if (count == 0)
        return cudaSuccess;
    GF_CALL(measure_queue(measuring, g->samples + g->start * measure_bytes(measuring), count,
                          stream));
    g->start += count;
    g->held -= count;
    return cudaSuccess;
}

/* Moves what was not handed on, less than a leaf, to the beginning of the buffer. At least a leaf
 * went before it, so that these do not overlap. */
cudaError_t move_held(void *measuring, cudaStream_t stream)
{
    struct gather *g = measure_gather(measuring);
    const uint64_t bytes = measure_bytes(measuring);

    if (g->start > 0 && g->held > 0)
        GF_CALL(cudaMemcpyAsync(g->samples, g->samples + g->start * bytes, g->held * bytes,
                                cudaMemcpyDeviceToDevice, stream));
    g->start = 0;
    return cudaSuccess;
}

/* Room for a row beside what does not fill a leaf. */
uint64_t least_room(uint64_t row_samples) { return row_samples + GF_LEAF; }

cudaError_t make_room(void *measuring, uint64_t row_samples, cudaStream_t stream)
{
    struct gather *g = measure_gather(measuring);
    const uint64_t bytes = measure_bytes(measuring);
    cudaError_t error = cudaSuccess;
    void *block;

    if (g->room >= least_room(row_samples))
        return cudaSuccess;
    GF_CALL(cudaMalloc(&block, g->planned * bytes));
    if (g->held > 0)
        error = cudaMemcpyAsync(block, g->samples + g->start * bytes, g->held * bytes,
                                cudaMemcpyDeviceToDevice, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) {
        (void)cudaFree(block);
        return error;
    }
    if (g->samples != nullptr)
        (void)cudaFree(g->samples);
    g->samples = static_cast<char *>(block);
    g->room = g->planned;
    g->start = 0;
    return cudaSuccess;
}

/* Rows of one plane. */
cudaError_t gather_plane(void *measuring, struct rows from, uint64_t row_samples, uint64_t rows,
                         cudaStream_t stream)
{
    struct gather *g = measure_gather(measuring);
    const uint64_t bytes = measure_bytes(measuring);

    while (rows > 0) {
        GF_CALL(move_held(measuring, stream));
        uint64_t n = gf_min(rows, (g->room - g->held) / row_samples);
        struct rows to = {g->samples + g->held * bytes, row_samples * bytes, 0};
        GF_CALL(copy_rows(to, from, row_samples * bytes, n, 1, cudaMemcpyDeviceToDevice, stream));
        g->held += n * row_samples;
        g->taken += n * row_samples;
        from.data += n * from.row;
        rows -= n;
        if (g->room - g->held < row_samples)
            GF_CALL(hand_on(measuring, g->held / GF_LEAF * GF_LEAF, stream));
    }
    return cudaSuccess;
}

}

uint64_t gather_plan(void *measuring, uint64_t row_samples, uint64_t most)
{
    struct gather *g = measure_gather(measuring);
    const uint64_t bytes = measure_bytes(measuring), least = least_room(row_samples);
    /* A buffer that is too small is there until what it holds is in the new one. */
    const uint64_t before = g->room < least ? g->room : 0;
    uint64_t taken;

    g->planned = gf_max(GATHERED_BYTES / bytes, row_samples) + GF_LEAF;
    if (g->room >= least)
        g->planned = g->room;
    for (;;) {
        taken = measure_memory(measuring, g->planned) + (g->planned + before) * bytes;
        if (taken <= most || g->planned <= least || g->room >= least)
            return taken;
        g->planned = gf_max(g->planned / 2, least);
    }
}

cudaError_t gather_rows(void *measuring, uint64_t first, const struct rows &from,
                        uint64_t row_samples, uint64_t rows, uint64_t planes, cudaStream_t stream)
{
    struct gather *g = measure_gather(measuring);

    GF_CALL(make_room(measuring, row_samples, stream));
    for (uint64_t z = 0; z < planes; z++, first += rows * row_samples) {
        struct rows plane = from;
        uint64_t known = g->taken > first ? gf_min((g->taken - first) / row_samples, rows) : 0;
        plane.data += z * from.plane + known * from.row;
        GF_CALL(gather_plane(measuring, plane, row_samples, rows - known, stream));
    }
    return cudaSuccess;
}

uint64_t gather_taken(void *measuring) { return measure_gather(measuring)->taken; }

cudaError_t gather_end(void *measuring, cudaStream_t stream)
{
    return hand_on(measuring, measure_gather(measuring)->held, stream);
}

void gather_free(struct gather *g)
{
    if (g->samples != nullptr)
        (void)cudaFree(g->samples);
    *g = {};
}

}
