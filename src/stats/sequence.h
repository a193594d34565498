/* The samples of a group in one order, x fastest, then y, z and page, the channels of a pixel side
 * by side: what a row of the report is about, as measurers want it. */
#ifndef GPUFILT_SRC_STATS_SEQUENCE_H
#define GPUFILT_SRC_STATS_SEQUENCE_H

#include "feeder.h"
#include "rows.h"
#include "stats.h"

/* A part of an image. */
struct gf_box {
    uint64_t origin[3], size[3];    /* along x, y, z */
};

struct gf_sequence {
    struct gf_rows *rows;
    struct gf_rows *mask;       /* NULL, or pixels where it is 0 or NaN are left out: one image,
                                 * of the images' size or of their planes' */
    uint64_t first_image, images;
    unsigned roi_axes;          /* 0, or along how many axes... */
    struct gf_box box;          /* ... this is the part of every image; all of z with 2 */
    bool one_plane;
    uint64_t plane;             /* with one_plane: which plane of the box */
    int64_t channel;            /* or -1: all, interleaved */
    unsigned threads;           /* that will measure: blocks are large enough for all of them */
};

/* Refuses what is not there: a box outside an image (GF_EUSAGE), a mask of another size, images of
 * several types (GF_EFEATURE). */
enum gf_status gf_sequence_check(const struct gf_sequence *s, struct gf_error *e);
/* The type of all its samples. */
enum gf_type gf_sequence_type(const struct gf_sequence *s);
/* The part of image `image` that is in the sequence. */
struct gf_box gf_sequence_box(const struct gf_sequence *s, uint64_t image);

/* Samples in it, those outside the mask included. */
uint64_t gf_sequence_most(const struct gf_sequence *s);

/* Reads the sequence once and feeds it to all sinks. */
enum gf_status gf_sequence_run(const struct gf_sequence *s, const struct gf_sink *sinks,
                               unsigned count, struct gf_error *e);
/* Where the sample of this index is. With a mask that is read again as far as the place. */
enum gf_status gf_sequence_place(const struct gf_sequence *s, uint64_t index,
                                 struct gf_place *place, struct gf_error *e);

/* ---- the mask, a row at a time ---- */

struct gf_mask_line {
    void *samples;
    uint8_t *in;                /* 1 for each pixel of the row that is in, else 0; NULL without a
                                 * mask: all are */
};

enum gf_status gf_mask_line_open(struct gf_mask_line *m, const struct gf_sequence *s,
                                struct gf_error *e);
/* The pixels of row y of plane z of an image. */
enum gf_status gf_mask_line_read(struct gf_mask_line *m, const struct gf_sequence *s, uint64_t y,
                                uint64_t z, struct gf_error *e);
/* Also after gf_mask_line_open has failed. */
void gf_mask_line_close(struct gf_mask_line *m);

#endif
