/* What formats have in common that are a header and packed samples, behind it or in a file of their
 * own: raw, NRRD, NIfTI, MetaImage, NPY. A format parses and makes headers; the samples are read
 * and written here. */
#ifndef GPUFILT_SRC_IO_VOXELS_H
#define GPUFILT_SRC_IO_VOXELS_H

#include "../text.h"
#include "format.h"
#include "source.h"

/* ---- reading ---- */

/* Samples as a header describes them. */
struct gf_voxels {
    struct gf_image image;      /* of each image, as it will be handed out; its meta are owned */
    uint64_t images;            /* one behind the other */
    struct gf_in *data;         /* the file that holds the samples; NULL: the header's. Owned */
    uint64_t offset;            /* of the first sample, or of the deflated samples; in a file that
                                 * is deflated as a whole, of what it inflates to */
    uint64_t stored;            /* bytes of deflated samples in the file; 0: the rest of it */
    uint64_t skip;              /* of what deflated samples inflate to, bytes before the first */
    enum gf_coding coding;      /* of the samples, or of the whole file; see `whole` */
    bool whole;                 /* the file is deflated, header and all */
    bool swap;                  /* the other byte order */
    bool more;                  /* what stands behind the samples is no fault */
    /* Stored samples that are not handed out as they are: image.type is what `convert` makes of
     * `count` samples of stored_type, whose bytes have been swapped; NULL: as stored. It is given
     * `scale`. */
    enum gf_type stored_type;
    double scale[2];            /* slope and intercept */
    void (*convert)(const struct gf_voxels *v, const void *stored, void *samples, uint64_t count);
};

/* Takes the voxels (leaves zeros, also on an error) as the state of the reader, after checks:
 * GF_EINPUT when the file is too short for them or, where it can be told, too long. Sets r->images,
 * r->random_access and r->compression. */
enum gf_status gf_voxels_open(struct gf_reader *r, struct gf_voxels *v, struct gf_error *e);
/* Releases voxels that were not taken; accepts zeros. */
void gf_voxels_free(struct gf_voxels *v);

/* For the format's table. */
enum gf_status gf_voxels_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                struct gf_error *e);
enum gf_status gf_voxels_read_rows(struct gf_reader *r, uint64_t first, uint64_t count, void *rows,
                                   struct gf_error *e);
enum gf_status gf_voxels_read_samples(struct gf_reader *r, uint64_t first, uint64_t count,
                                      void *samples, struct gf_error *e);
enum gf_status gf_voxels_finish(struct gf_reader *r, struct gf_error *e);
void gf_voxels_close(struct gf_reader *r);
#define GF_VOXELS_READER                                                                         \
    .select = gf_voxels_select, .read_rows = gf_voxels_read_rows,                                \
    .read_samples = gf_voxels_read_samples, .finish = gf_voxels_finish, .close = gf_voxels_close

/* Reads `size` bytes of the header at `offset`, from a plain file or (r->gzipped) through gzip;
 * GF_EINPUT when there are fewer. Headers are short: each call inflates from the beginning. */
enum gf_status gf_voxels_header(struct gf_reader *r, void *to, size_t size, uint64_t offset,
                                struct gf_error *e);
/* The same for up to `size` bytes. */
enum gf_status gf_voxels_header_some(struct gf_reader *r, void *to, size_t size, uint64_t offset,
                                     size_t *got, struct gf_error *e);
/* Opens a file that a header names; a relative name is looked up beside the header. GF_EINPUT when
 * the header came from standard input or the name leads nowhere. */
enum gf_status gf_voxels_beside(struct gf_reader *r, const char *name, struct gf_in **in,
                                struct gf_error *e);

/* ---- writing ---- */

/* How a format's file is made, said in its begin() for the first image. */
struct gf_voxels_out {
    const void *header;         /* copied */
    size_t header_size;
    bool detached;              /* samples go to a file of their own, */
    const char *data_name;      /* of this path, which has its name before the header; the same as
                                 * the format's second_file() says */
    enum gf_coding coding;      /* of the samples */
    bool whole;                 /* of header and samples together */
    bool swap;                  /* samples are written in the other byte order */
};

/* The level of deflate where --level says nothing. A CT-like volume of 256 MiB u16 becomes 46 %
 * with 1 in 4.9 s of one processor, 44 % with 4 in 7.9 s, 43 % with 6 in 29 s. */
#define GF_VOXELS_LEVEL 1

/* For the format's table: create. Reserves space for the samples where it is known how much before
 * there is an image: not where they may be deflated. */
enum gf_status gf_voxels_create(struct gf_writer *w, struct gf_error *e);
/* For begin(): opens what is to be written and writes the header. Later images must be of the first
 * one's shape: GF_EFEATURE. */
enum gf_status gf_voxels_begin(struct gf_writer *w, const struct gf_voxels_out *out,
                               struct gf_error *e);
/* For the format's table: write_rows, complete, discard. */
enum gf_status gf_voxels_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                    struct gf_error *e);
enum gf_status gf_voxels_complete(struct gf_writer *w, struct gf_error *e);
void gf_voxels_discard(struct gf_writer *w);
#define GF_VOXELS_WRITER                                                                         \
    .create = gf_voxels_create, .write_rows = gf_voxels_write_rows,                              \
    .complete = gf_voxels_complete, .discard = gf_voxels_discard

/* Appends the header of what `w` is about to write, with its samples coded so; `data`: the name of
 * their own file, seen from the header, or NULL. */
typedef enum gf_status gf_voxels_make(struct gf_buffer *to, const struct gf_writer *w,
                                      enum gf_coding coding, const char *data,
                                      struct gf_error *e);
/* gf_voxels_begin() for such a header and little-endian samples. `detached`: they go to the file
 * that the format's second_file() names. */
enum gf_status gf_voxels_begin_made(struct gf_writer *w, bool detached, enum gf_coding coding,
                                    gf_voxels_make *make, struct gf_error *e);
/* After gf_voxels_complete: how many bytes the samples have in their file, deflated or not. */
uint64_t gf_voxels_stored(const struct gf_writer *w);
/* After the first gf_voxels_begin: whether they are deflated. */
bool gf_voxels_deflated(const struct gf_writer *w);
/* For second_file(): `path` with this extension ("img", "raw.gz") instead of its own. False when
 * there is no room. */
bool gf_voxels_data_name(const char *path, const char *extension, char *name, size_t room);

/* ---- bytes ---- */

/* In place, `count` samples of `bytes` bytes. */
void gf_swap_samples(void *samples, uint64_t count, unsigned bytes);

#endif
