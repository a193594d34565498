/* The options and operands of `gpufilt bench`. */
#ifndef GPUFILT_SRC_BENCH_OPTIONS_H
#define GPUFILT_SRC_BENCH_OPTIONS_H

#include "../cli.h"

/* Takes one of bench's own options. */
enum gf_status gf_bench_take(struct gf_request *r, enum gf_option_id id, const char *value,
                             struct gf_error *e);
/* Operands, and options that do not go together; GF_EUSAGE. */
enum gf_status gf_bench_check(const struct gf_request *r, struct gf_error *e);

/* The ladders that are asked for; whether by "all". */
bool gf_bench_ladders(const struct gf_request *r, bool wanted[GF_LADDERS]);
/* The work of a ladder on a GPU with so much free memory (0: not known), which limits the defaults
 * alone. */
struct gf_ladder_work gf_bench_work(const struct gf_bench_options *o, enum gf_ladder ladder,
                                    uint64_t memory);
/* The work of a ladder on the simt device: what was given with --simulate; else what was given for
 * a GPU is an upper limit of the default. */
struct gf_ladder_work gf_bench_simulated(const struct gf_bench_options *o, enum gf_ladder ladder);

#endif
