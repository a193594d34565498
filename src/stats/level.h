/* Which instruction set the CPU's measurer uses. */
#ifndef GPUFILT_SRC_STATS_LEVEL_H
#define GPUFILT_SRC_STATS_LEVEL_H

#include "../status.h"

struct gf_stats_kernels;
extern const struct gf_stats_kernels gf_stats_kernels_baseline, gf_stats_kernels_avx2,
    gf_stats_kernels_avx512;

/* The table of the level the filters use (cpu/kernels.h). */
enum gf_status gf_stats_kernels_choose(const struct gf_stats_kernels **kernels,
                                       struct gf_error *e);

#endif
