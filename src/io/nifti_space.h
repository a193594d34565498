/* Where the voxels of a NIfTI are: its three ways to say it, and struct gf_geometry. */
#ifndef GPUFILT_SRC_IO_NIFTI_SPACE_H
#define GPUFILT_SRC_IO_NIFTI_SPACE_H

#include "nifti_header.h"

/* Sets spacing and geometry of `meta`: from the sform where its code is above 0, else the qform
 * where its is, else (spacing alone) pixdim; a form that cannot be (a direction without a length,
 * numbers that are not finite) counts as absent. In mm, whatever the unit; none is taken for mm. */
void gf_nifti_get_space(const struct gf_nifti_header *h, struct gf_meta *meta);
/* Puts a geometry that came from elsewhere: as sform and as qform, whose rotation is the nearest
 * one, with code 1 (scanner) when directions are known by name, else 2 (aligned); a spacing alone
 * as pixdim, with both codes 0. */
void gf_nifti_set_space(struct gf_nifti_header *h, const struct gf_meta *meta);
/* `meta` is what became of gf_nifti_get_space. Where that is the same no byte is touched; a moved
 * origin and other voxel sizes change both forms alike, each in its own space. */
void gf_nifti_move_space(struct gf_nifti_header *h, const struct gf_meta *meta);

#endif
