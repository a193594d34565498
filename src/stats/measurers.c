/* The list of measurers. */
#include "measure.h"

#include <stddef.h>

/* The build says whether the simt device is in the program. */
#ifdef GPUFILT_SIMT
#define SIMT &gf_measurer_simt,
#else
#define SIMT
#endif

const struct gf_measurer *const gf_measurers[] = {
    &gf_measurer_cpu,
    &gf_measurer_cuda,
    SIMT
    &gf_measurer_reference,
    NULL,
};
