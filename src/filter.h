/* From a request and an image to the mask that will run: which dimension, which taps. */
#ifndef GPUFILT_SRC_FILTER_H
#define GPUFILT_SRC_FILTER_H

#include "cli.h"
#include "image.h"
#include "mask.h"

/* 2 or 3: --2d and --3d decide, otherwise the data (a volume is filtered in 3D). */
int gf_filter_dimensions(const struct gf_request *request, const struct gf_image *image);

/* The mask to be applied as a correlation (turned round already for convolve). Sigmas in
 * mm are divided by the voxel size, which --spacing overrides; without one GF_EFEATURE.
 * `name` is the input in messages. */
enum gf_status gf_filter_mask(const struct gf_request *request, const struct gf_image *image,
                              const char *name, struct gf_mask *mask, struct gf_error *e);

#endif
