/* What the reader and the writer of NRRD share. */
#ifndef GPUFILT_SRC_IO_NRRD_H
#define GPUFILT_SRC_IO_NRRD_H

#include "nrrd_header.h"
#include "voxels.h"

/* The header, empty line and all. What the image's native header says beyond shape and samples is
 * kept where it still holds. */
gf_voxels_make gf_nrrd_make_header;
/* How the samples of an image's native header were coded, where they would be again: text is not
 * written. Plain when it has none. */
enum gf_status gf_nrrd_native_coding(const struct gf_meta *meta, enum gf_coding *coding,
                                     struct gf_error *e);
/* Whether a text can be a key:=value pair. */
bool gf_nrrd_keeps_text(const struct gf_meta *meta, const struct gf_text *text);

#endif
