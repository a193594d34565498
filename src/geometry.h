/* Where voxels lie in space. */
#ifndef GPUFILT_SRC_GEOMETRY_H
#define GPUFILT_SRC_GEOMETRY_H

#include "image.h"

/* Steps along the axes from meta->spacing, origin 0, space unknown; where the spacing of an axis is
 * unknown, 1. `known` stays false. For formats that have to say something. */
struct gf_geometry gf_geometry_plain(const struct gf_meta *meta);
/* meta->geometry is set, but for `known`: makes meta->spacing the lengths of its steps and `known`
 * true. False when a length is 0 or a number not finite; then nothing is known, nor the spacing. */
bool gf_geometry_settle(struct gf_meta *meta);
/* Turns LPS into RAS and back: the signs of the first two directions. */
void gf_geometry_flip(struct gf_geometry *g);
/* Moves the origin to voxel `first` of the image: for a part of it. */
void gf_geometry_crop(struct gf_geometry *g, const double first[3]);
/* Makes the steps as long as `spacing` says on axes where it is above 0. */
void gf_geometry_scale(struct gf_geometry *g, const double spacing[3]);
/* Whether the steps lie along the axes of space, all forwards (but for the rounding of a header in
 * single precision): what a format with spacing and origin alone can say. */
bool gf_geometry_plain_axes(const struct gf_geometry *g);
/* Where x, y and z mostly lead to, a letter each: "RAS" is to the right, to the front, to the head,
 * "LPI" the other way. "" when the space has no names. */
void gf_geometry_orientation(const struct gf_geometry *g, char code[4]);

#endif
