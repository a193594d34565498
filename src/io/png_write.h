/* The writing half of gf_format_png; see struct gf_format for what each one does. */
#ifndef GPUFILT_SRC_IO_PNG_WRITE_H
#define GPUFILT_SRC_IO_PNG_WRITE_H

#include "format.h"

enum gf_status gf_png_accepts(const struct gf_image *image, uint64_t images, const char *name,
                              struct gf_error *e);
enum gf_status gf_png_create(struct gf_writer *w, struct gf_error *e);
enum gf_status gf_png_begin(struct gf_writer *w, struct gf_error *e);
enum gf_status gf_png_write_rows(struct gf_writer *w, const void *rows, uint64_t count,
                                 struct gf_error *e);
enum gf_status gf_png_end(struct gf_writer *w, struct gf_error *e);
void gf_png_discard(struct gf_writer *w);

#endif
