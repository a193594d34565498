/* From a request and an image to the mask that will run: which dimension, which taps. */
#ifndef GPUFILT_SRC_FILTER_H
#define GPUFILT_SRC_FILTER_H

#include "cli.h"
#include "image.h"
#include "mask.h"

/* What -k names, read once for the whole run and already turned round for convolve. A name
 * may have a form for pictures and one for volumes, or only one of them; a file or a mask on
 * the command line is one form for both. */
struct gf_kernel {
    unsigned forms;             /* 0: no -k; 1: form[0] serves both; 2 */
    struct gf_mask form[2];     /* for filters in 2D and 3D */
    enum gf_status status[2];   /* GF_OK where the form exists */
    struct gf_error error[2];
};

/* Loads the mask of the request; without -k there is nothing to load. Fails when there is
 * neither form. On an error `kernel` holds nothing. */
enum gf_status gf_kernel_load(struct gf_kernel *kernel, const struct gf_request *request,
                              struct gf_error *e);
/* Accepts a zeroed struct. */
void gf_kernel_free(struct gf_kernel *kernel);

/* The mask to be applied to the image as a correlation: *mask points into `kernel` or to
 * `own`, which the caller frees (zeroed when it is not used). Sigmas in mm are divided by the
 * image's voxel size; without one GF_EFEATURE. `name` is the input in messages. */
enum gf_status gf_filter_mask(const struct gf_request *request, const struct gf_kernel *kernel,
                              const struct gf_image *image, const char *name, struct gf_mask *own,
                              const struct gf_mask **mask, struct gf_error *e);

#endif
