/* Samples written as numbers in text, with blanks, line ends or commas between them. Read only. */
#ifndef GPUFILT_SRC_IO_TEXT_SAMPLES_H
#define GPUFILT_SRC_IO_TEXT_SAMPLES_H

#include "format.h"

struct gf_text_samples {
    struct gf_image image;      /* of each image; its meta are owned */
    uint64_t images;
    struct gf_in *data;         /* the file that holds the samples; NULL: the header's. Owned */
    uint64_t offset;            /* of the text */
};

/* Takes the samples (leaves zeros) as the state of the reader: GF_EINPUT when the file is too short
 * for them. Sets r->images and r->random_access. */
enum gf_status gf_text_samples_open(struct gf_reader *r, struct gf_text_samples *t,
                                    struct gf_error *e);
/* Releases what was not taken; accepts zeros. */
void gf_text_samples_free(struct gf_text_samples *t);

/* For a format's table. A number outside the sample type's range is GF_EINPUT. */
enum gf_status gf_text_samples_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                      struct gf_error *e);
enum gf_status gf_text_samples_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                         void *rows, struct gf_error *e);
enum gf_status gf_text_samples_finish(struct gf_reader *r, struct gf_error *e);
void gf_text_samples_close(struct gf_reader *r);
#define GF_TEXT_SAMPLES_READER                                                                   \
    .select = gf_text_samples_select, .read_rows = gf_text_samples_read_rows,                    \
    .finish = gf_text_samples_finish, .close = gf_text_samples_close

#endif
