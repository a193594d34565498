/* What is needed of EXIF: how a picture is to be turned upright, and its resolution. */
#ifndef GPUFILT_SRC_IO_EXIF_H
#define GPUFILT_SRC_IO_EXIF_H

#include "../image.h"

/* EXIF data here are the TIFF structure, without "Exif\0\0" before it. Damaged data say
 * nothing and are never an error. */

/* 1 to 8; 1, upright, when nothing is said. */
int gf_exif_orientation(const uint8_t *data, size_t size);
/* Makes the orientation, where there is one, say upright. */
void gf_exif_set_upright(uint8_t *data, size_t size);
/* How the samples are to be turned, by the TIFF tag or by EXIF; 1 when nothing is said. */
int gf_meta_orientation(const struct gf_meta *meta);
/* Makes EXIF data that say an orientation and nothing else. */
#define GF_EXIF_ORIENTATION_BYTES 26
void gf_exif_make_orientation(uint8_t data[GF_EXIF_ORIENTATION_BYTES], int orientation);
/* Takes XResolution and YResolution; false when they are not there. */
bool gf_exif_resolution(const uint8_t *data, size_t size, double resolution[2], int *unit);

/* True when turning upright exchanges width and height. */
static inline bool gf_orientation_swaps(int orientation) { return orientation >= 5; }
/* Copies the rows [first, first + count) of the upright picture to `to`, packed. `from` are
 * the samples as stored, width x height there, `bytes` bytes a pixel. */
void gf_turn_upright(void *to, const void *from, uint64_t width, uint64_t height, size_t bytes,
                     int orientation, uint64_t first, uint64_t count);

#endif
