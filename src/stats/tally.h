/* Counting keys and ranges on the CPU: narrow counters for each thread, emptied into wide ones in
 * time. */
#ifndef GPUFILT_SRC_STATS_TALLY_H
#define GPUFILT_SRC_STATS_TALLY_H

#include "kernels.h"

struct gf_tally_thread {
    uint32_t *bins;             /* of count_top or count_below */
    uint32_t *range;            /* below, the measure's bins, above; only with `range` */
};

struct gf_tally {
    const struct gf_measure *measure;
    const struct gf_stats_kernels *kernels;
    bool top;                   /* count_top: the first pass over keys, and ranges of short types */
    bool below;                 /* count_below */
    bool range;                 /* ranges of the other types */
    struct gf_key_way way;      /* count_below: those prefixes that a finite sample may have */
    unsigned place[GF_KEY_PREFIXES]; /* where they are among the measure's */
    uint64_t bins, ranges;      /* counters of a thread */
    uint64_t pending;           /* samples in narrow counters, at most */
    unsigned threads;
    struct gf_tally_thread *thread;
    uint64_t *wide_bins, *wide_range;
};

/* Decides how to count and takes the memory. *tally must be zeroed; close it in any case. */
enum gf_status gf_tally_open(struct gf_tally *tally, const struct gf_measure *measure,
                             const struct gf_stats_kernels *kernels, unsigned threads,
                             struct gf_error *e);
/* Makes room for `count` more samples, before they are counted by whatever threads. */
void gf_tally_expect(struct gf_tally *tally, uint64_t count);
/* Counts a strand. */
void gf_tally_strand(const struct gf_tally *tally, unsigned thread, const void *samples,
                     size_t count);
/* Adds what was counted to the measure's counts and to `below` and `above`. */
void gf_tally_finish(struct gf_tally *tally, struct gf_measured *measured);
void gf_tally_close(struct gf_tally *tally);

#endif
