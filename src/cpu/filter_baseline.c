/* The inner loops for any machine. */
#define GF_KERNELS gf_kernels_baseline
#define GF_KERNELS_NAME "baseline"
#include "filter_tmpl.c"
