/* Edges of a histogram's bins. */
#ifndef GPUFILT_SRC_STATS_BINS_H
#define GPUFILT_SRC_STATS_BINS_H

#include "stats.h"

/* low = high for a value. */
static inline double gf_bin_low(const struct gf_histogram *h, uint32_t bin)
{
    return h->kind == GF_BINS_VALUES ? h->low + bin
                                     : h->low + bin * ((h->high - h->low) / h->bins);
}

static inline double gf_bin_high(const struct gf_histogram *h, uint32_t bin)
{
    if (h->kind == GF_BINS_VALUES)
        return h->low + bin;
    return bin + 1 == h->bins ? h->high : gf_bin_low(h, bin + 1);
}

#endif
