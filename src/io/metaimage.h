/* What the reader and the writer of MetaImage share. */
#ifndef GPUFILT_SRC_IO_METAIMAGE_H
#define GPUFILT_SRC_IO_METAIMAGE_H

#include "../text.h"
#include "format.h"
#include "metaimage_header.h"

/* Appends the header of what `w` is about to write. What the image's native header says beyond
 * shape and samples is kept where it still holds. `data_name`: the detached samples' file, seen
 * from the header, or NULL. */
enum gf_status gf_metaimage_make_header(struct gf_buffer *to, const struct gf_writer *w,
                                        bool compressed, const char *data_name,
                                        struct gf_error *e);
/* Puts the number of compressed bytes, known at the end, into the header at the beginning of the
 * output. */
enum gf_status gf_metaimage_put_size(struct gf_out *out, uint64_t size, struct gf_error *e);
/* Whether an image's native header says that samples are compressed. */
enum gf_status gf_metaimage_native_compressed(const struct gf_meta *meta, bool *compressed,
                                              struct gf_error *e);
/* Whether a text can be a field. */
bool gf_metaimage_keeps_text(const struct gf_meta *meta, const struct gf_text *text);

#endif
