/* Order statistics: the sample of a given rank among n, exactly, without sorting. Samples are
 * counted by 16 bits of their keys (measure.h), highest first; each pass over the samples tells
 * the next 16 bits of every rank's key (radix selection). 16-bit types need one pass. */
#ifndef GPUFILT_SRC_STATS_ORDER_H
#define GPUFILT_SRC_STATS_ORDER_H

#include "measure.h"

/* Two ranks for each percentile and the median. */
#define GF_RANKS (2 * (64 + 1))

struct gf_order {
    enum gf_type type;
    unsigned levels, level;     /* passes in all, and done */
    unsigned count;             /* ranks */
    uint64_t rank[GF_RANKS];    /* among the samples of the prefix, from 0 */
    uint64_t key[GF_RANKS];     /* what is known of it: its highest `level` times 16 bits */
};

/* Passes over samples of a type. */
unsigned gf_order_levels(enum gf_type type);
/* Looks for the samples of these ranks, 0 <= rank < n, at most GF_RANKS of them. */
void gf_order_begin(struct gf_order *order, enum gf_type type, const uint64_t *ranks,
                    unsigned count);
/* The prefixes to count in the next pass, ascending; how many. */
unsigned gf_order_prefixes(const struct gf_order *order, uint64_t prefix[GF_RANKS]);
/* How far down their digits are: gf_key_count.shift. */
unsigned gf_order_shift(const struct gf_order *order);
/* Takes the counts of that pass: `prefixes` times GF_KEY_BINS of them. */
void gf_order_next(struct gf_order *order, const uint64_t *prefix, unsigned prefixes,
                   const uint64_t *count);
/* Instead of all passes: takes the keys of all n samples, ascending. */
void gf_order_sorted(struct gf_order *order, const uint64_t *keys);
/* After the last pass: the sample of the i-th rank. */
double gf_order_value(const struct gf_order *order, unsigned i);

/* The keys of samples; GF_NO_KEY for NaN and infinities. */
#define GF_NO_KEY UINT64_MAX
void gf_keys_of(enum gf_type type, const void *samples, uint64_t count, uint64_t *keys);
/* The value of a finite sample whose key this is. */
double gf_key_value(enum gf_type type, uint64_t key);

/* ---- percentiles ---- */

/* Where percentile p of n samples lies: between the samples of ranks below and below + 1, by
 * `part` of the way: numpy's method "linear", (n - 1) * (p / 100). n > 0. */
void gf_percentile_rank(uint64_t n, double p, uint64_t *below, double *part);
/* The value there, from the samples of the two ranks; numpy's arithmetic. */
double gf_percentile_value(double below, double above, double part);
/* The median from its two ranks, those of percentile 50: their mean, rounded once. */
double gf_median_value(double below, double above);

#endif
