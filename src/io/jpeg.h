/* The markers of a JPEG: what it is, its metadata, and whether it is all there. */
#ifndef GPUFILT_SRC_IO_JPEG_H
#define GPUFILT_SRC_IO_JPEG_H

#include "../image.h"

struct gf_jpeg {
    uint32_t width, height, components;
    int orientation; /* 1 to 8, of EXIF */
};

/* Walks all markers. GF_EINPUT when the file is cut off anywhere before its end marker,
 * GF_EFEATURE for the kinds that cannot be decoded. `meta` gets the resolution, the colour
 * profile, EXIF (as stored), XMP and the comment. */
enum gf_status gf_jpeg_scan(struct gf_jpeg *jpeg, struct gf_meta *meta, const uint8_t *data,
                            size_t size, const char *name, struct gf_error *e);

#endif
