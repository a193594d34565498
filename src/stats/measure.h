/* A measure goes once over a sequence of samples and finds what one pass can find: how many there
 * are, extremes, sums, and histograms. It is done by the CPU or a GPU; all give the same bits. */
#ifndef GPUFILT_SRC_STATS_MEASURE_H
#define GPUFILT_SRC_STATS_MEASURE_H

#include "moments.h"

#include "../status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to find ---- */

/* A sample's key: an unsigned integer of the sample's width in the samples' order. The sign bit
 * of an integer is flipped; a float's bits are turned over when it is negative, else its sign bit
 * is set, and -0 counts as +0. NaN and infinities have no place among the keys. */

/* Keys are counted by 16 of their bits (8 for 8-bit types), for the finite samples whose higher
 * bits are one of a few prefixes: count[p * 65536 + (key >> shift & 0xffff)] where
 * key >> (shift + 16) == prefix[p]. That is a histogram of values for types of up to 16 bits
 * (shift 0, the prefix 0), and a step towards an order statistic of the others. */
struct gf_key_count {
    unsigned prefixes;          /* 0: keys are not counted */
    unsigned shift;             /* 0, 16, 32 or 48 */
    const uint64_t *prefix;     /* ascending, no two the same */
    uint64_t *count;            /* added to by finish(); prefixes * 65536 */
};
#define GF_MOST_BINS (1 << 20)
#define GF_KEY_BINS 65536
#define GF_KEY_PREFIXES 64      /* most at a time */

/* Equal bins over [low, high], the last one closed: bin i holds edge(i) <= x < edge(i + 1) with
 * edge(i) = low + i * ((high - low) / bins) in double and edge(bins) = high (numpy.linspace). */
struct gf_range_count {
    uint32_t bins;              /* 0: not counted; at most GF_MOST_BINS */
    double low, high;           /* finite, (high - low) / bins > 0 */
    uint64_t *count;            /* added to by finish() */
};

struct gf_measure {
    enum gf_type type;
    bool moments;               /* counts, extremes and sums as well */
    struct gf_key_count keys;
    struct gf_range_count range;
    unsigned threads;           /* of the CPU; at least 1 */
    unsigned gpu;               /* its index */
    uint64_t gpu_memory;        /* most bytes on it; 0: what is free there */
};

/* ---- what is found ---- */

/* Two's complement, little end first. */
struct gf_i128 {
    uint64_t low, high;
};

struct gf_measured {
    uint64_t below, above;      /* finite samples outside the range; counted with range.bins */
    /* The rest with `moments` only. */
    uint64_t n;                 /* finite samples */
    uint64_t nan, plus_inf, minus_inf;
    double min, max;            /* of the finite samples, 0 when there are none: the value of the
                                   first that compares equal */
    uint64_t min_at, max_at;    /* where that one is: its index in the sequence */
    struct gf_i128 sum, squares; /* integer types: exact */
    struct gf_moments moments;  /* float types; its n is `n` */
};

/* ---- who does it ---- */

/* A sequence that can be read at any place. */
struct gf_supply {
    /* Samples [first, first + count), as feed() wants them; called from several threads at once. */
    enum gf_status (*read)(const void *of, uint64_t first, uint64_t count, void *to,
                           struct gf_error *e);
    const void *of;
};

struct gf_measurer {
    const char *name;           /* of the device, as --device has it */
    /* `measure` must stay as it is until close(). */
    enum gf_status (*open)(const struct gf_measure *measure, void **state, struct gf_error *e);
    /* The next `count` samples of the sequence, packed, in this machine's byte order, aligned to
     * their size: a multiple of GF_LEAF except for the last call. `samples` is not looked at
     * after the return. GF_ESIGNAL soon after a signal came. */
    enum gf_status (*feed)(void *state, const void *samples, uint64_t count, struct gf_error *e);
    /* Instead of feed(), and once: the whole sequence of `count` samples. Each thread reads what
     * it measures, piece by piece in its own cache. A failure is that of the first piece in order.
     * NULL where nothing is gained by that. */
    enum gf_status (*pull)(void *state, const struct gf_supply *from, uint64_t count,
                           struct gf_error *e);
    enum gf_status (*finish)(void *state, struct gf_measured *measured, struct gf_error *e);
    /* Accepts NULL. */
    void (*close)(void *state);
};

/* The reference is the plain loop that says what the others must find, in tests alone. */
extern const struct gf_measurer gf_measurer_cpu, gf_measurer_cuda, gf_measurer_simt,
    gf_measurer_reference;
/* All that are in this program, the reference last, then NULL. */
extern const struct gf_measurer *const gf_measurers[];

/* ---- shared by those who do it ---- */

/* The bin of a finite x, or -1 below and `bins` above the range. */
static inline GF_HD int64_t gf_range_bin(double x, double low, double high, double step,
                                         uint32_t bins)
{
    int64_t from = 0, past = bins, i; /* edge(from) <= x < edge(past) */
    double guess;
    if (x < low)
        return -1;
    if (!(x < high))
        return x > high ? (int64_t)bins : (int64_t)bins - 1;
    /* Nearly always right, which the edges on either side show. Where step is not much above the
     * spacing of doubles, or has become 0, it can be wrong by any number of bins: hence halving. */
    guess = (x - low) / step;
    i = guess < (double)past - 1 ? (int64_t)guess : past - 1;
    if (i == 0)
        i = 1;
    for (int tries = 0; past - from > 1; tries++) {
        bool before = x < low + (double)i * step;
        if (before)
            past = i;
        else
            from = i;
        if (tries > 0)
            i = from + (past - from) / 2;
        else
            i = before ? past - 1 : from + 1;
    }
    return from;
}

#ifdef __cplusplus
}
#endif
#endif
