/* The values of options: text to fields of the request. For cli.c only. */
#ifndef GPUFILT_SRC_CLI_VALUES_H
#define GPUFILT_SRC_CLI_VALUES_H

#include "cli.h"

/* Takes one option into the request. `value` is NULL for options without an argument. Of an
 * option given twice the last counts, but for the filter itself: that is GF_EUSAGE. */
enum gf_status gf_cli_take(struct gf_request *r, enum gf_option_id id, const char *value,
                           struct gf_error *e);

#endif
