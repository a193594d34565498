/* The bytes behind a header, stored plainly or deflated. */
#ifndef GPUFILT_SRC_IO_SOURCE_H
#define GPUFILT_SRC_IO_SOURCE_H

#include "file.h"

enum gf_coding {
    GF_PLAIN,
    GF_GZIP,            /* one member or several, one after the other */
    GF_ZLIB
};

/* A byte of deflated data inflates to this many at most. */
#define GF_DEFLATE_RATIO 1032

struct gf_source;

/* The bytes of `in` from `offset` on, which is where deflated data begin. `size`: of these bytes in
 * the file, or UINT64_MAX for the rest of it. `in` must stay open. Nothing is read yet. */
enum gf_status gf_source_open(struct gf_source **source, struct gf_in *in, uint64_t offset,
                              uint64_t size, enum gf_coding coding, struct gf_error *e);
/* Whether bytes can be read in any order, and from several threads at once. */
bool gf_source_random(const struct gf_source *source);
/* Bytes [at, at + size) of what is stored; of deflated data best in increasing order: what is left
 * out is inflated and thrown away, and to go back is to begin again. GF_EINPUT when they end
 * before, or are damaged. */
enum gf_status gf_source_read(struct gf_source *source, void *to, size_t size, uint64_t at,
                              struct gf_error *e);
/* The same for up to `size` bytes: *got is less where they end. */
enum gf_status gf_source_read_some(struct gf_source *source, void *to, size_t size, uint64_t at,
                                   size_t *got, struct gf_error *e);
/* After the last byte, of which there are `total`: GF_EINPUT when there are more (with UINT64_MAX
 * there may be), or when a checksum is wrong. */
enum gf_status gf_source_end(struct gf_source *source, uint64_t total, struct gf_error *e);
/* Accepts NULL; sets the pointer to NULL. */
void gf_source_close(struct gf_source **source);

/* The first `size` bytes of a gzip file, to find out what is in it; *got is less where there are
 * fewer. */
enum gf_status gf_gunzip_head(struct gf_in *in, void *to, size_t size, size_t *got,
                              struct gf_error *e);

#endif
