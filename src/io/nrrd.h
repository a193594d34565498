/* What the reader and the writer of NRRD share. */
#ifndef GPUFILT_SRC_IO_NRRD_H
#define GPUFILT_SRC_IO_NRRD_H

#include "../text.h"
#include "format.h"
#include "nrrd_header.h"

/* Appends the header, empty line and all, of what `w` is about to write. What the image's native
 * header says beyond shape and samples is kept where it still holds. `data_name`: the detached
 * samples' file, seen from the header, or NULL. */
enum gf_status gf_nrrd_make_header(struct gf_buffer *to, const struct gf_writer *w,
                                   enum gf_nrrd_encoding encoding, const char *data_name,
                                   struct gf_error *e);
/* The encoding of an image's native header; raw when it has none. */
enum gf_status gf_nrrd_native_encoding(const struct gf_meta *meta, enum gf_nrrd_encoding *encoding,
                                       struct gf_error *e);
/* Whether a text can be a key:=value pair. */
bool gf_nrrd_keeps_text(const struct gf_meta *meta, const struct gf_text *text);

#endif
