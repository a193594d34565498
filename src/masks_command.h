/* `gpufilt masks list|show|make`. */
#ifndef GPUFILT_SRC_MASKS_COMMAND_H
#define GPUFILT_SRC_MASKS_COMMAND_H

#include "cli.h"
#include "status.h"
#include "text.h"

#include <stdint.h>

enum gf_status gf_masks_run(const struct gf_request *request, struct gf_error *e);

/* Its parts, apart for tests: the text that goes to standard output. */

/* All named masks, one a line under a heading. */
enum gf_status gf_masks_list(struct gf_buffer *out, struct gf_error *e);
/* One mask, found as -k finds it: its properties, then its taps, aligned. `dimensions` 0
 * means the 2D form, or the 3D form of what has no other. */
enum gf_status gf_masks_show(const char *spec, int dimensions, struct gf_buffer *out,
                             struct gf_error *e);
/* A mask in the file format. `kind` is gauss (needs sigma), log (sigma) or box (size);
 * what was not given is 0. Axes beyond `dimensions` are ignored. */
enum gf_status gf_masks_make(const char *kind, const double sigma[3], const uint32_t size[3],
                             double truncate, int dimensions, struct gf_buffer *out,
                             struct gf_error *e);

#endif
