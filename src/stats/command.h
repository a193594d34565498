/* gpufilt stats. */
#ifndef GPUFILT_SRC_STATS_COMMAND_H
#define GPUFILT_SRC_STATS_COMMAND_H

#include "../cli.h"

enum gf_status gf_stats_run(const struct gf_request *request, struct gf_error *e);

#endif
