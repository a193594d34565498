/* Runs the steps of ladders, and what the simt device shows of single ideas. */
#ifndef GPUFILT_SRC_BENCH_MEASURE_H
#define GPUFILT_SRC_BENCH_MEASURE_H

#include "bench.h"

/* All steps of the ladder of `work`, in their order; GF_ESIGNAL between two of them when an end is
 * asked for. */
enum gf_status gf_bench_measure(const struct gf_ladder_device *device, unsigned gpu,
                                const struct gf_ladder_work *work, struct gf_bench_table *table,
                                struct gf_error *e);
enum gf_status gf_bench_ideas(struct gf_bench_ideas *ideas, struct gf_error *e);

/* GF_NO, and a line that names them, when steps were not right. */
enum gf_status gf_bench_verdict(const struct gf_bench *bench, struct gf_error *e);

#endif
