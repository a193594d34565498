/* The commands that read files and write files: blur, correlate, convolve, convert. */
#ifndef GPUFILT_SRC_JOB_H
#define GPUFILT_SRC_JOB_H

#include "cli.h"

/* Runs the request over all its inputs. With several, a file that fails is reported and the
 * others are done (GF_EBATCH). */
enum gf_status gf_job_run(const struct gf_request *request, struct gf_error *e);

#endif
