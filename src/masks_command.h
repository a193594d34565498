/* The text of `gpufilt masks list|show|make`, for standard output. */
#ifndef GPUFILT_SRC_MASKS_COMMAND_H
#define GPUFILT_SRC_MASKS_COMMAND_H

#include "status.h"
#include "text.h"

#include <stdint.h>

/* All named masks, one a line under a heading. */
enum gf_status gf_masks_list(struct gf_buffer *out, struct gf_error *e);
/* One mask, found as -k finds it: its properties, then its taps, aligned. */
enum gf_status gf_masks_show(const char *spec, int dimensions, struct gf_buffer *out,
                             struct gf_error *e);
/* A mask in the file format. `kind` is gauss (needs sigma), log (sigma) or box (size);
 * what was not given is 0. One value given for x alone holds for all axes: the caller has
 * spread it. Axes beyond `dimensions` are ignored; size 0 along y or z means 1. */
enum gf_status gf_masks_make(const char *kind, const double sigma[3], const uint32_t size[3],
                             double truncate, int dimensions, struct gf_buffer *out,
                             struct gf_error *e);

#endif
