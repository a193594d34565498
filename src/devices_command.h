/* `gpufilt devices`: what this machine computes on. */
#ifndef GPUFILT_SRC_DEVICES_COMMAND_H
#define GPUFILT_SRC_DEVICES_COMMAND_H

#include "cli.h"

/* GF_OK also when there is no GPU: that is an answer. */
enum gf_status gf_devices_run(const struct gf_request *request, struct gf_error *e);

#endif
