/* The measurer's inner loops for x86 with AVX2, FMA and F16C. */
#define GF_KERNELS gf_stats_kernels_avx2
#define GF_KERNELS_NAME "avx2"
#include "kernels_tmpl.c"
