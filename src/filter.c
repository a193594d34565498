#include "filter.h"

#include <stdio.h>
#include <string.h>

/* ---- -k ---- */

/* The form for 2 or 3 dimensions, fit for the command. */
static enum gf_status load_form(struct gf_mask *mask, const struct gf_request *r, int dimensions,
                                struct gf_error *e)
{
    enum gf_status status = gf_mask_find(mask, r->kernel, dimensions, e);
    if (status == GF_OK && r->command->bit == GF_BLUR && !mask->normalize) {
        status = gf_fail(e, GF_EUSAGE,
                         "blur: mask %s does not smooth (it has taps below 0 or a sum of 0); use "
                         "'gpufilt correlate -k %s'", mask->name, r->kernel);
        gf_mask_free(mask);
    }
    if (status == GF_OK && r->command->bit == GF_CONVOLVE)
        gf_mask_flip(mask);
    return status;
}

enum gf_status gf_kernel_load(struct gf_kernel *kernel, const struct gf_request *r,
                              struct gf_error *e)
{
    memset(kernel, 0, sizeof *kernel);
    if (!r->kernel)
        return GF_OK;
    kernel->forms = gf_mask_is_given(r->kernel) ? 1 : 2;
    for (unsigned i = 0; i < kernel->forms; i++)
        kernel->status[i] = load_form(&kernel->form[i], r, 2 + (int)i, &kernel->error[i]);
    if (kernel->status[0] == GF_OK || (kernel->forms == 2 && kernel->status[1] == GF_OK))
        return GF_OK;
    /* The form that was meant, or the one that says more than that there is none. */
    unsigned said = kernel->forms == 2 && (r->dimensions == 3 ||
                                           (kernel->status[0] == GF_EUSAGE &&
                                            kernel->status[1] != GF_EUSAGE));
    if (e)
        *e = kernel->error[said];
    return kernel->status[said];
}

void gf_kernel_free(struct gf_kernel *kernel)
{
    for (int i = 0; i < 2; i++)
        gf_mask_free(&kernel->form[i]);
    memset(kernel, 0, sizeof *kernel);
}

/* ---- widths ---- */

/* 2 or 3: --2d and --3d decide, otherwise the data (a volume is filtered in 3D). */
static int dimensions_of(const struct gf_request *r, const struct gf_image *image)
{
    return r->dimensions ? r->dimensions : gf_is_volume(image) ? 3 : 2;
}

/* The requested widths as sigmas in pixels along x, y, z. */
static enum gf_status sigma_pixels(const struct gf_request *r, const struct gf_image *image,
                                   int dimensions, const char *name, double sigma[3],
                                   struct gf_error *e)
{
    if (r->sigma_count != 1 && r->sigma_count != (unsigned)dimensions)
        return gf_fail(e, GF_EUSAGE,
                       "%s: %u widths were given for a filter in %dD; give one, or %d as x,y%s",
                       name, r->sigma_count, dimensions, dimensions, dimensions == 3 ? ",z" : "");
    for (int a = 0; a < 3; a++) {
        const struct gf_length *length = &r->sigma[r->sigma_count == 1 ? 0 : a];
        if (a >= dimensions) {
            sigma[a] = 0;
            continue;
        }
        sigma[a] = length->value;
        if (!length->physical)
            continue;
        if (!(image->meta.spacing[a] > 0))
            return gf_fail(e, GF_EFEATURE,
                           "%s: the file has no voxel size along %c%s, which a width in a physical "
                           "unit needs; give --spacing, or the width in px", name, "xyz"[a],
                           image->meta.resolution[0] > 0
                               ? " (a resolution is for printing and is not taken for one)" : "");
        sigma[a] /= image->meta.spacing[a];
    }
    return GF_OK;
}

enum gf_status gf_filter_mask(const struct gf_request *r, const struct gf_kernel *kernel,
                              const struct gf_image *image, const char *name, struct gf_mask *own,
                              const struct gf_mask **mask, struct gf_error *e)
{
    int dimensions = dimensions_of(r, image);
    int form = kernel->forms == 2 ? dimensions - 2 : 0;
    double sigma[3];

    memset(own, 0, sizeof *own);
    *mask = own;
    if (r->command->bit == GF_CONVERT)
        return gf_mask_named(own, "identity", dimensions, e);
    if (r->sigma_count) {
        GF_TRY(sigma_pixels(r, image, dimensions, name, sigma, e));
        return gf_mask_gaussian(own, sigma, dimensions, r->truncate, e);
    }
    if (kernel->status[form] != GF_OK) {
        if (e)
            *e = kernel->error[form];
        return kernel->status[form];
    }
    *mask = &kernel->form[form];
    if ((*mask)->size[2] > 1 && dimensions == 2)
        return gf_fail(e, GF_EFEATURE,
                       "%s: mask %s has %u planes but the data are filtered in 2D; give --3d, or a "
                       "mask of one plane", name, (*mask)->name, (*mask)->size[2]);
    return GF_OK;
}
