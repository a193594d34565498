/* `gpufilt masks`: operands and options to masks_command.h. */
#ifndef GPUFILT_SRC_MASKS_RUN_H
#define GPUFILT_SRC_MASKS_RUN_H

#include "cli.h"

enum gf_status gf_masks_run(const struct gf_request *request, struct gf_error *e);

#endif
