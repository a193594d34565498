/* Files of one plane each as one volume, in and out. As inputs they are a format of their own that
 * gf_reader_open finds by the name; an output is made one with gf_stack_create. */
#ifndef GPUFILT_SRC_IO_STACK_H
#define GPUFILT_SRC_IO_STACK_H

#include "format.h"
#include "slices.h"

/* Of a reader that gf_reader_open is opening: its state is a stack of what matches the path. Every
 * slice's header is read and compared with the first; then a slice is only open while its rows are
 * read. The volume's metadata are the first slice's. */
enum gf_status gf_stack_open(struct gf_reader *r, const char *path, struct gf_error *e);
bool gf_is_stack(const struct gf_reader *r);
/* Not in gf_formats: neither is found by content, nor chosen with -f. */
extern const struct gf_format gf_format_stack, gf_format_stack_output;
/* The number in the name of the first slice; 0 for anything else than numbered slices. */
uint64_t gf_stack_first(const struct gf_reader *r);

/* What is to be written as slices. */
struct gf_stack_plan {
    const char *path;               /* with a %d */
    const struct gf_format *format; /* of each slice */
    uint64_t first, planes;         /* numbers [first, first + planes): all planes of all images */
};

/* GF_EFEATURE when a plane of `image` cannot be such a slice. `name` is for messages. */
enum gf_status gf_stack_accepts(const struct gf_format *format, const struct gf_image *image,
                                const char *name, struct gf_error *e);
/* Opens an output like gf_writer_open. Slices are written under temporary names, and get their own,
 * in ascending order, in gf_writer_commit: before, nothing that was there is touched, and after an
 * error or a signal nothing of this run is left. Their folder is made when it is missing. With
 * no_clobber all names are looked at before anything is written. */
enum gf_status gf_stack_create(struct gf_writer **w, const struct gf_stack_plan *plan,
                               uint64_t images, uint64_t bytes,
                               const struct gf_write_options *options,
                               const struct gf_out_options *out_options, struct gf_error *e);
/* Refuses what gf_stack_create would refuse; leaves nothing behind. */
enum gf_status gf_stack_try(const struct gf_stack_plan *plan,
                            const struct gf_out_options *out_options, struct gf_error *e);

#endif
