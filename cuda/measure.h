/* Measuring samples on a device (src/stats/measure.h): what the host and the kernels share, and
 * an entry for samples that are on the device already. */
#ifndef GPUFILT_CUDA_MEASURE_H
#define GPUFILT_CUDA_MEASURE_H

#include "device.h"
#include "gather.h"

extern "C" {
#include "stats/keys.h"
#include "stats/measure.h"
}

namespace GF_DEVICE {

/* ---- what a pass over samples leaves ---- */

/* Samples are measured in pieces of this many bytes, one for each block of threads: enough to
 * hide its beginning and its end, and few enough at the end of the grid. Of a float type a piece
 * is a leaf, whatever its bytes. */
constexpr uint64_t PIECE_BYTES = 128 * 1024;
/* Pieces that are joined on the device; 2^GROUP_LEVEL. */
constexpr unsigned GROUP_LEVEL = 6, GROUP = 1u << GROUP_LEVEL;

/* What was found in a piece, or in a group of them. */
struct piece {
    struct gf_moments moments;  /* floats; its n is the number of finite samples */
    /* Integers: the samples' keys, which are the samples less the type's lowest value; their sum
     * and the sum of their squares, square_low + 2^32 * square_high. */
    uint64_t sum, square_low, square_high;
    double lowest, highest;     /* +infinity and -infinity without a finite sample */
    uint32_t nan, plus_inf, minus_inf;
};

inline GF_HD struct piece no_samples()
{
    struct piece p = {};
    p.lowest = static_cast<double>(INFINITY);
    p.highest = -static_cast<double>(INFINITY);
    return p;
}

/* The first sample that has the least or the greatest value. */
struct found {
    uint64_t at;                /* NOWHERE: there is no finite sample */
    double value;
};
constexpr uint64_t NOWHERE = UINT64_MAX;

inline uint64_t piece_samples(enum gf_type type)
{
    return gf_type_row(type)->is_float ? static_cast<uint64_t>(GF_LEAF)
                                       : PIECE_BYTES / gf_type_bytes(type);
}

/* ---- launchers; `samples` are `count` > 0 of a type, aligned to 16 bytes ---- */

/* What launches depend on. */
struct key_device {
    unsigned processors;
    size_t shared;              /* most bytes of a block */
};

/* Fills a piece for each piece_samples(type) samples. */
cudaError_t launch_floats(const struct key_device *device, enum gf_type type, const void *samples,
                          uint64_t count, struct piece *pieces, cudaStream_t stream);
cudaError_t launch_integers(enum gf_type type, const void *samples, uint64_t count,
                            struct piece *pieces, cudaStream_t stream);

/* Joins `count` pieces in groups of GROUP; `lead` pieces of the first group came before them
 * and are missing. The moments of a group are merged as gf_moments_tree does it. */
cudaError_t launch_groups(const struct piece *pieces, uint64_t count, unsigned lead,
                          struct piece *groups, cudaStream_t stream);
/* found[0] is of the least, found[1] of the greatest value. */
cudaError_t launch_extremes(enum gf_type type, const void *samples, uint64_t count,
                            const struct piece *pieces, const struct piece *groups,
                            unsigned lead, struct found *found, cudaStream_t stream);

/* Counts keys. The counts of what is not finite mean nothing. */
cudaError_t launch_keys(const struct key_device *device, enum gf_type type,
                        const struct gf_key_count *keys, const void *samples, uint64_t count,
                        const uint64_t *prefix, unsigned long long *counts, cudaStream_t stream);

/* Adds to counts[0, bins), then those below and those above. */
cudaError_t launch_range(const struct key_device *device, enum gf_type type,
                         const struct gf_range_count *range, const void *samples, uint64_t count,
                         unsigned long long *counts, cudaStream_t stream);

/* ---- samples on the device ---- */

/* As feed() of the measurer whose open() made `state`, for samples that are in the device's
 * memory: everything is queued on `stream`, nothing is waited for, and what `stream` does later may
 * write over the samples. At most MOST_QUEUED samples, aligned to 16 bytes.
 * cudaErrorMemoryAllocation: it may be tried again. */
constexpr uint64_t MOST_QUEUED = UINT64_C(1) << 31;
cudaError_t measure_queue(void *state, const void *samples, uint64_t count, cudaStream_t stream);

/* For gather.cu: the measurer's gather, the bytes of its samples, and those that it takes on the
 * device itself when it is given at most so many samples at a time. */
struct gather *measure_gather(void *state);
uint64_t measure_bytes(const void *state);
uint64_t measure_memory(const void *state, uint64_t samples);

}

#endif
