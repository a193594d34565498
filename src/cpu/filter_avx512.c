/* The inner loops for x86 with AVX-512 F, BW, DQ and VL. */
#define GF_KERNELS gf_kernels_avx512
#define GF_KERNELS_NAME "avx512"
#define GF_KERNELS_TEST                                                       \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && \
     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && \
     __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#include "filter_tmpl.c"
