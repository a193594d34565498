/* The inner loops of the CPU's measurer as a table of functions, one table for each instruction
 * set. They take a strand of samples (GF_STRAND, at the sequence's end 1 or more), so that it is
 * read from memory once and is in the nearest cache for whatever else is wanted of it. */
#ifndef GPUFILT_SRC_STATS_KERNELS_H
#define GPUFILT_SRC_STATS_KERNELS_H

#include "level.h"
#include "measure.h"

#include <stddef.h>

/* What a strand, or a leaf, holds. */
struct gf_part {
    uint64_t n;                 /* finite samples; 0: min and max are not looked at */
    uint64_t nan, plus_inf, minus_inf;
    double min, max;            /* -0 and +0 may stand for each other */
    int64_t sum;                /* integers */
    unsigned __int128 squares;
    struct gf_moments moments;  /* floats */
};

/* The prefixes below which keys are counted; all shorter than a key. */
struct gf_key_way {
    unsigned shift, prefixes;
    uint64_t prefix[GF_KEY_PREFIXES];
};

struct gf_stats_kernels {
    const char *name;           /* as in struct gf_kernels */

    void (*strand[GF_TYPE_COUNT])(const void *samples, size_t count, struct gf_part *found);

    /* Counts samples in GF_KEY_BINS bins, by the highest 16 bits of their keys; types of up to 16
     * bits by the sample's own bits. Infinities and NaN are counted too: they share no bin with
     * finite samples. */
    void (*count_top[GF_TYPE_COUNT])(const void *samples, size_t count, uint32_t *bins);
    /* Counts the keys below the prefixes, GF_KEY_BINS bins for each. NULL for types of up to 16
     * bits. */
    void (*count_below[GF_TYPE_COUNT])(const void *samples, size_t count,
                                       const struct gf_key_way *way, uint32_t *bins);
};

#endif
