/* The inner loops for x86 with AVX-512 F, BW, DQ and VL. */
#define GF_KERNELS gf_kernels_avx512
#define GF_KERNELS_NAME "avx512"
#include "filter_tmpl.c"
