/* The measurer's inner loops for any machine. */
#define GF_KERNELS gf_stats_kernels_baseline
#define GF_KERNELS_NAME "baseline"
#include "kernels_tmpl.c"
