/* Pictures that the program draws of numbers: what SVG and PNG files need. */
#ifndef GPUFILT_SRC_PICTURE_H
#define GPUFILT_SRC_PICTURE_H

#include "io/file.h"
#include "status.h"
#include "text.h"

#include <stdint.h>

enum gf_picture { GF_PICTURE_NONE, GF_PICTURE_SVG, GF_PICTURE_PNG };
/* By the end of the name, in any case. */
enum gf_picture gf_picture_kind(const char *path);

/* ---- SVG ---- */

/* Appends text in which characters that mean something in XML are references, and those that it
 * forbids are U+FFFD. */
void gf_svg_text(struct gf_buffer *t, const char *text);
/* Appends the document's begin, up to and with its <title> and a white ground; `title` is text that
 * may stand in XML. */
void gf_svg_begin(struct gf_buffer *t, int width, int height, const char *title);
/* Writes the document; the buffer is freed. */
enum gf_status gf_svg_write(struct gf_buffer *t, const char *path, const char *what,
                            const struct gf_out_options *options, struct gf_error *e);

/* ---- PNG ---- */

struct gf_ink {
    uint8_t rgb[3];
};

struct gf_canvas {
    int width, height;
    uint8_t *pixels;            /* RGB, owned */
};

/* White; `what` is in the message. */
enum gf_status gf_canvas_open(struct gf_canvas *c, int width, int height, const char *what,
                              struct gf_error *e);
/* [x0, x1) x [y0, y1); what is outside the canvas is left out. */
void gf_canvas_fill(struct gf_canvas *c, int x0, int y0, int x1, int y1, struct gf_ink color);

/* Black letters of 5 x 7 dots, a dot being GF_CANVAS_DOT pixels: small letters, figures, and what
 * else numbers and units need; others are blanks. */
enum {
    GF_CANVAS_DOT = 2,
    GF_CANVAS_ADVANCE = 6 * GF_CANVAS_DOT,
    GF_CANVAS_LETTER = 7 * GF_CANVAS_DOT        /* height above the line */
};
int gf_canvas_text_width(const char *text);
/* The upper left is at x, y. */
void gf_canvas_text(struct gf_canvas *c, int x, int y, const char *text);

enum gf_status gf_canvas_write(const struct gf_canvas *c, const char *path,
                               const struct gf_out_options *options, struct gf_error *e);
void gf_canvas_close(struct gf_canvas *c);

#endif
