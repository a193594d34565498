/* `gpufilt selftest`: every backend of this machine against the loop that defines the result. */
#ifndef GPUFILT_SRC_SELFTEST_H
#define GPUFILT_SRC_SELFTEST_H

#include "cli.h"

/* GF_NO at the first difference, with its place and both values; GF_EDEVICE when a GPU was
 * asked for and cannot be used. */
enum gf_status gf_selftest_run(const struct gf_request *request, struct gf_error *e);

#endif
