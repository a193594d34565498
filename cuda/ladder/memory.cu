#include "run.h"

namespace GF_DEVICE {
namespace {

#ifdef GF_SIMT
constexpr size_t GUARD = 0;
#else
constexpr size_t GUARD = 4096;      /* bytes on each side */
#endif
constexpr int POISON = 0xff;

uint64_t bytes_of(const struct guarded *g) { return g->samples * sizeof(float) + 2 * GUARD; }

bool is_poison(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != POISON)
            return false;
    return true;
}

}

cudaError_t guarded_make(struct guarded *g, uint64_t samples)
{
    if (samples > (UINT64_MAX - 2 * GUARD) / sizeof(float))
        return cudaErrorMemoryAllocation;
    guarded_free(g);
    g->samples = samples;
    GF_CALL(cudaMalloc(&g->base, bytes_of(g)));
    g->data = reinterpret_cast<float *>(g->base + GUARD);
    return cudaSuccess;
}

cudaError_t guarded_poison(const struct guarded *g, cudaStream_t stream)
{
    return g->base != nullptr ? cudaMemsetAsync(g->base, POISON, bytes_of(g), stream)
                              : cudaSuccess;
}

cudaError_t guarded_intact(const struct guarded *g, bool *intact)
{
    unsigned char bytes[GUARD + 1];

    *intact = true;
    if (g->base == nullptr || GUARD == 0)
        return cudaSuccess;
    for (const char *guard : {g->base, g->base + bytes_of(g) - GUARD}) {
        GF_CALL(cudaMemcpy(bytes, guard, GUARD, cudaMemcpyDeviceToHost));
        *intact = *intact && is_poison(bytes, GUARD);
    }
    return cudaSuccess;
}

void guarded_free(struct guarded *g)
{
    if (g->base != nullptr)
        (void)cudaFree(g->base);
    *g = {};
}

}
