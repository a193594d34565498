/* The rows of a file, as often and in whatever order they are asked for. */
#ifndef GPUFILT_SRC_STATS_ROWS_H
#define GPUFILT_SRC_STATS_ROWS_H

#include "../io/format.h"

struct gf_rows;

/* Opens a file and reads the headers of all its images. */
enum gf_status gf_rows_open(struct gf_rows **rows, const char *path,
                            const struct gf_read_options *options, struct gf_error *e);
/* Accepts NULL; sets the pointer to NULL. */
void gf_rows_close(struct gf_rows **rows);

/* The file in messages. */
const char *gf_rows_name(const struct gf_rows *rows);
uint64_t gf_rows_images(const struct gf_rows *rows);
/* The shape and type of an image; it has no metadata. */
const struct gf_image *gf_rows_image(const struct gf_rows *rows, uint64_t image);

/* Says that rows will be read more than once. What cannot be read in any order is then kept in
 * memory from the first time on, where half of what is left of --max-memory holds it. */
void gf_rows_keep(struct gf_rows *rows);
/* Rows [first, first + count) of an image, packed; row r is y = r % height of plane r / height.
 * Going back is a new start where the file is neither kept nor readable in any order; standard
 * input has none: GF_EMEMORY. */
enum gf_status gf_rows_read(struct gf_rows *rows, uint64_t image, uint64_t first, uint64_t count,
                            void *to, struct gf_error *e);
/* Whether gf_rows_samples can be called. */
bool gf_rows_anywhere(const struct gf_rows *rows);
/* Samples [first, first + count) of the only image in the order of its rows; from several threads
 * at once. */
enum gf_status gf_rows_samples(const struct gf_rows *rows, uint64_t first, uint64_t count,
                               void *to, struct gf_error *e);
/* Reads what was not asked for, and verifies the file's checksums. */
enum gf_status gf_rows_verify(struct gf_rows *rows, struct gf_error *e);

#endif
