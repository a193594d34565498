/* The inner loops for x86 with AVX2, FMA and F16C. */
#define GF_KERNELS gf_kernels_avx2
#define GF_KERNELS_NAME "avx2"
#include "filter_tmpl.c"
