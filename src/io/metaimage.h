/* What the reader and the writer of MetaImage share. */
#ifndef GPUFILT_SRC_IO_METAIMAGE_H
#define GPUFILT_SRC_IO_METAIMAGE_H

#include "metaimage_header.h"
#include "voxels.h"

/* What the image's native header says beyond shape and samples is kept where it still holds. */
gf_voxels_make gf_metaimage_make_header;
/* Puts the number of compressed bytes, known at the end, into the header at the beginning of the
 * output. */
enum gf_status gf_metaimage_put_size(struct gf_out *out, uint64_t size, struct gf_error *e);
/* How the samples of an image's native header were coded; plain when it has none. */
enum gf_status gf_metaimage_native_coding(const struct gf_meta *meta, enum gf_coding *coding,
                                          struct gf_error *e);
/* Whether a text can be a field. */
bool gf_metaimage_keeps_text(const struct gf_meta *meta, const struct gf_text *text);

#endif
