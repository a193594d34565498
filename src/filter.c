#include "filter.h"

#include <stdio.h>
#include <string.h>

int gf_filter_dimensions(const struct gf_request *request, const struct gf_image *image)
{
    if (request->dimensions)
        return request->dimensions;
    return image->volume && image->depth > 1 ? 3 : 2;
}

/* The requested widths as sigmas in pixels along x, y, z. */
static enum gf_status sigma_pixels(const struct gf_request *r, const struct gf_image *image,
                                   int dimensions, const char *name, double sigma[3],
                                   struct gf_error *e)
{
    if (r->sigma_count != 1 && r->sigma_count != (unsigned)dimensions)
        return gf_fail(e, GF_EUSAGE,
                       "%s: %u widths were given for a filter in %dD; give one, or %d as x,y%s", name,
                       r->sigma_count, dimensions, dimensions, dimensions == 3 ? ",z" : "");
    for (int a = 0; a < 3; a++) {
        const struct gf_length *length = &r->sigma[r->sigma_count == 1 ? 0 : a];
        double spacing = r->spacing[a] > 0 ? r->spacing[a] : image->meta.spacing[a];
        if (a >= dimensions) {
            sigma[a] = 0;
            continue;
        }
        sigma[a] = length->value;
        if (!length->physical)
            continue;
        if (!(spacing > 0))
            return gf_fail(e, GF_EFEATURE,
                           "%s: the file has no voxel size along %c, which a width in mm needs; give "
                           "--spacing, or the width in px", name, "xyz"[a]);
        sigma[a] /= spacing;
    }
    return GF_OK;
}

enum gf_status gf_filter_mask(const struct gf_request *r, const struct gf_image *image,
                              const char *name, struct gf_mask *mask, struct gf_error *e)
{
    int dimensions = gf_filter_dimensions(r, image);
    double sigma[3];
    enum gf_status status;

    memset(mask, 0, sizeof *mask);
    if (r->command->bit == GF_CONVERT)
        return gf_mask_named(mask, "identity", dimensions, e);
    if (r->sigma_count) {
        GF_TRY(sigma_pixels(r, image, dimensions, name, sigma, e));
        return gf_mask_gaussian(mask, sigma, dimensions, r->truncate, e);
    }
    GF_TRY(gf_mask_find(mask, r->kernel, dimensions, e));
    status = mask->separable || !mask->integer ? GF_OK : gf_mask_factor(mask, e);
    if (status == GF_OK && r->command->bit == GF_BLUR && !mask->normalize)
        status = gf_fail(e, GF_EUSAGE,
                         "blur: mask %s does not smooth (it has taps below 0 or a sum of 0); use "
                         "'gpufilt correlate -k %s'", mask->name, r->kernel);
    if (status == GF_OK && mask->size[2] > 1 && dimensions == 2)
        status = gf_fail(e, GF_EFEATURE,
                         "%s: mask %s has %u planes but the data are filtered in 2D; give --3d, or a mask "
                         "of one plane", name, mask->name, mask->size[2]);
    if (status != GF_OK) {
        gf_mask_free(mask);
        return status;
    }
    if (r->command->bit == GF_CONVOLVE)
        gf_mask_flip(mask);
    return GF_OK;
}
