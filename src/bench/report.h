/* The tables of `gpufilt bench`.
 *
 * TEXT, for people: pieces that can be printed as soon as they are known.
 *
 * JSON, strict: {"schema": "gpufilt-bench-1", "gpu": {...} or null, "simulation": {...} or null}.
 * Numbers that are not known, NaN and infinities are null; seconds, bytes, Hz without prefixes.
 *
 * CSV: a head, then a line a step that ran or was skipped, on the GPU ("gpu"), then on the simt
 * device ("simulation"). What is not known is empty; NaN and infinities are nan, inf. The rounds,
 * banks and races are not in it.
 *
 * man/gpufilt-bench.1 explains every name. */
#ifndef GPUFILT_SRC_BENCH_REPORT_H
#define GPUFILT_SRC_BENCH_REPORT_H

#include "bench.h"

#include "../io/file.h"
#include "../text.h"

#define GF_BENCH_SCHEMA "gpufilt-bench-1"

void gf_bench_text_machine(struct gf_buffer *t, const struct gf_ladder_machine *m);
void gf_bench_text_timed(struct gf_buffer *t, const struct gf_ladder_machine *m,
                         const struct gf_bench_table *table);
void gf_bench_text_model(struct gf_buffer *t, const struct gf_gpu *gpu);
void gf_bench_text_counted(struct gf_buffer *t, const struct gf_gpu *gpu,
                           const struct gf_bench_table *table);
void gf_bench_text_ideas(struct gf_buffer *t, const struct gf_bench_ideas *ideas);

void gf_bench_json(struct gf_buffer *t, const struct gf_bench *bench);
void gf_bench_csv(struct gf_buffer *t, const struct gf_bench *bench);

/* A bar a step: GB/s, of convolutions GFLOP/s; of counted steps what the model allows. The name
 * ends in .svg or .png. */
enum gf_status gf_bench_plot(const char *path, const struct gf_bench *bench,
                             const struct gf_out_options *options, struct gf_error *e);

#endif
