/* `gpufilt info`: what files hold, from their headers. */
#ifndef GPUFILT_SRC_INFO_H
#define GPUFILT_SRC_INFO_H

#include "cli.h"

/* Text, or with --json one document: an array of files. */
enum gf_status gf_info_run(const struct gf_request *request, struct gf_error *e);

#endif
