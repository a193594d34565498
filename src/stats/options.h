/* The options of gpufilt stats. For cli_values.c only. */
#ifndef GPUFILT_SRC_STATS_OPTIONS_H
#define GPUFILT_SRC_STATS_OPTIONS_H

#include "../cli.h"

/* Takes one of them into request->stats; `value` is NULL where there is none. Other options change
 * nothing. GF_EUSAGE for a value that is none. */
enum gf_status gf_stats_take(struct gf_request *request, enum gf_option_id id, const char *value,
                             struct gf_error *e);

#endif
