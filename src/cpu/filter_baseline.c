/* The inner loops for any machine. */
#define GF_KERNELS gf_kernels_baseline
#define GF_KERNELS_NAME "baseline"
#define GF_KERNELS_TEST true
#include "filter_tmpl.c"
