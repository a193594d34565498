/* The inner loops for x86 with AVX2, FMA and F16C; built with -mavx2 -mfma -mf16c. */
#define GF_KERNELS gf_kernels_avx2
#define GF_KERNELS_NAME "avx2"
#define GF_KERNELS_TEST                                                       \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && gf_cpu_has_f16c())
#include "cpuid.h"
#include "filter_tmpl.c"
