/* Text results on standard output, through the I/O module: every byte is checked. */
#ifndef GPUFILT_SRC_OUTPUT_H
#define GPUFILT_SRC_OUTPUT_H

#include "status.h"
#include "text.h"

/* Writes the buffer to standard output, or to standard error when `to_stderr`;
 * GF_EOUTPUT when it could not all be written. The buffer is freed either way. */
enum gf_status gf_output_text(struct gf_buffer *buffer, int to_stderr, struct gf_error *e);

#endif
