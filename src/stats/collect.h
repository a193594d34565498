/* All statistics of one group of samples: as many passes over them as it takes. */
#ifndef GPUFILT_SRC_STATS_COLLECT_H
#define GPUFILT_SRC_STATS_COLLECT_H

#include "columns.h"
#include "sequence.h"

/* Samples that can be gone through several times, always the same. */
struct gf_source {
    const char *name;           /* in messages */
    enum gf_type type;
    const void *of;             /* what `run` and `place` work on */
    enum gf_status (*run)(const void *of, const struct gf_sink *sinks, unsigned count,
                          struct gf_error *e);
    enum gf_status (*place)(const void *of, uint64_t index, struct gf_place *place,
                            struct gf_error *e);
    uint64_t most;              /* samples at most; 0: not known */
};

/* Who measures, and with what. */
struct gf_measuring {
    const struct gf_measurer *measurer;
    unsigned threads, gpu;
    uint64_t gpu_memory;
};

/* Bins of a histogram of values that are not 8- or 16-bit integers, when --bins does not say. */
#define GF_DEFAULT_BINS 256

/* Whether samples of this type have to be gone through more than once for what is needed. */
bool gf_collect_again(enum gf_type type, const struct gf_columns *needs);
/* Fills in what `needs` asks for: counts, extremes and sums; median, percentiles, histogram and
 * entropy where they are needed. Sets nothing else of `stats` (which file, which part). */
enum gf_status gf_collect(const struct gf_source *source, const struct gf_stats_options *options,
                          const struct gf_columns *needs, const struct gf_measuring *how,
                          struct gf_stats *stats, struct gf_error *e);

#endif
