/* Statistics made up for tests of what is done with them. */
#ifndef GPUFILT_TESTS_UNIT_MADE_STATS_H
#define GPUFILT_TESTS_UNIT_MADE_STATS_H

#include "stats/stats.h"

#include <math.h>

/* Of the whole picture a.tif, 4 x 3, u16, with samples 1, 2 and 65535. */
__attribute__((unused)) static struct gf_stats made_stats(void)
{
    struct gf_stats s = {.file = "a.tif", .type = GF_U16, .width = 4, .height = 3, .depth = 1,
                         .channels = 1, .pages = 1, .page = GF_NO_PART, .channel = GF_NO_PART,
                         .slice = GF_NO_PART, .label = GF_NO_PART, .n = 12, .min = 1,
                         .max = 65535, .max_at = {.x = 3, .y = 2},
                         .exact_sum = true, .whole_sum = {.low = 65547}, .ddof = 1,
                         .median = 1.5, .entropy = 1.25};
    s.moments = (struct gf_moments_results){.sum = 65547, .mean = 5462.25, .variance = 0.1,
                                            .std = 1.0 / 3, .rms = 18918.5, .sure = true};
    s.percentiles = 2;
    s.p[0] = 1;
    s.percentile[0] = 1;
    s.p[1] = 99.9;
    s.percentile[1] = 65000.125;
    return s;
}

/* Of a float picture without a finite sample. */
__attribute__((unused)) static struct gf_stats made_empty(void)
{
    const double nan = -(double)NAN; /* the sign must not show */
    struct gf_stats s = made_stats();
    s.type = GF_F32;
    s.n = 0;
    s.n_nan = 9;
    s.n_plus_inf = 2;
    s.n_minus_inf = 1;
    s.exact_sum = false;
    s.min = s.max = s.median = s.entropy = s.percentile[0] = s.percentile[1] = nan;
    s.moments = (struct gf_moments_results){0, nan, nan, nan, nan, true};
    return s;
}

#endif
