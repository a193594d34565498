/* The filters of the GPU's speed table, as plans. The names are the same in every program
 * that measures one of them, so that gpu_table.py can put the results side by side. */
#ifndef GPUFILT_TESTS_BENCH_BENCH_ROWS_H
#define GPUFILT_TESTS_BENCH_BENCH_ROWS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "plan.h"

size_t bench_row_count(void);
const char *bench_row_name(size_t row);
/* The plan of a row at its own size or, with `small`, at one that is no multiple of
 * anything; for the CPU backend with as many threads as the machine has. */
void bench_row_plan(size_t row, bool small, struct gf_plan *plan);
void bench_row_plan_end(struct gf_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
