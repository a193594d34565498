/* `gpufilt bench`. */
#ifndef GPUFILT_SRC_BENCH_COMMAND_H
#define GPUFILT_SRC_BENCH_COMMAND_H

#include "../cli.h"

enum gf_status gf_bench_run(const struct gf_request *r, struct gf_error *e);

#endif
