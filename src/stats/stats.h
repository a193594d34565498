/* The statistics of a set of samples, as they are asked for and as they are reported. */
#ifndef GPUFILT_SRC_STATS_STATS_H
#define GPUFILT_SRC_STATS_STATS_H

#include "measure.h"

#include "../sample.h"

/* ---- asked for ---- */

enum gf_per { GF_PER_FILE, GF_PER_PAGE, GF_PER_CHANNEL, GF_PER_SLICE };
enum gf_stats_layout {
    GF_LAYOUT_TEXT,
    GF_LAYOUT_JSON,
    GF_LAYOUT_JSONL,
    GF_LAYOUT_CSV,
    GF_LAYOUT_TSV
};

#define GF_PERCENTILES 64       /* most at a time */

struct gf_stats_options {
    const char *show;           /* --show as given, or NULL: the defaults of columns.h */
    bool of_filter;             /* it is the value of a filter's --stats */
    double percentile[GF_PERCENTILES]; /* -p: 0..100, as given */
    unsigned percentiles;
    unsigned ddof;              /* --ddof, 1 */
    uint32_t bins;              /* --bins; 0: not given */
    bool range_given;
    double low, high;           /* --range: finite, low < high, high - low finite */
    enum gf_per per;
    const char *mask, *labels;  /* files, or NULL */
    enum gf_stats_layout layout;
    bool plot;                  /* --plot: bars */
    const char *plot_file;      /* --plot=FILE: a picture, .svg or .png */
    const char *assertion;      /* --assert, or NULL */
};

/* ---- found ---- */

/* A place of an image, counted from 0. */
struct gf_place {
    uint64_t x, y, z, channel, page;
};

enum gf_bin_kind { GF_BINS_NONE, GF_BINS_VALUES, GF_BINS_RANGE };

/* Counts of finite samples. VALUES: bin i holds the integer low + i, with every value of an 8- or
 * 16-bit type. RANGE: equal bins over [low, high] (struct gf_range_count). */
struct gf_histogram {
    enum gf_bin_kind kind;
    double low, high;
    uint32_t bins;
    uint64_t *count;            /* owned */
    uint64_t below, above;
};

/* Rows are not divided by that; labels may be negative. */
#define GF_NO_PART INT64_MIN

/* One row of the report. */
struct gf_stats {
    const char *file;           /* as given, or "standard input". Borrowed */
    enum gf_type type;
    uint64_t width, height, depth, channels, pages; /* of the region that was measured */
    bool volume;                /* the image has several planes; of the region there may be one */
    int64_t page, channel, slice, label; /* which one, from 0; or GF_NO_PART */

    uint64_t n;                 /* finite samples; the numbers below are theirs */
    uint64_t n_nan, n_plus_inf, n_minus_inf;
    double min, max;            /* NaN when n = 0, and so are the others but the sum */
    struct gf_place min_at, max_at;
    bool exact_sum;             /* integers: `whole_sum` is the sum to the last digit */
    struct gf_i128 whole_sum;
    struct gf_moments_results moments;
    unsigned ddof;
    unsigned percentiles;
    double p[GF_PERCENTILES], percentile[GF_PERCENTILES]; /* which, ascending, and the values */
    double median;
    struct gf_histogram histogram;
    double entropy;             /* bits, of the histogram; NaN without one */
};

/* Releases what it owns. */
void gf_stats_free(struct gf_stats *stats);

#endif
