/* What a plan costs on the CPU and on a GPU, estimated before either is touched: what
 * --device auto decides by. */
#ifndef GPUFILT_SRC_COST_H
#define GPUFILT_SRC_COST_H

#include "plan.h"

/* Seconds from the first sample read to the last one written. */
struct gf_cost {
    double cpu, gpu;
};

/* For `alike` images like the plan's, one after another in one run. Decided by the plan alone:
 * no device is asked. */
struct gf_cost gf_cost_estimate(const struct gf_plan *plan, uint64_t alike);
/* Whether the GPU saves enough for estimates as rough as these. */
bool gf_cost_gpu_pays(const struct gf_cost *cost);

#endif
