/* The measurer's inner loops for x86 with AVX-512. */
#define GF_KERNELS gf_stats_kernels_avx512
#define GF_KERNELS_NAME "avx512"
#include "kernels_tmpl.c"
