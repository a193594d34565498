/* A zlib stream or a gzip member made by several threads: the data are cut into blocks of one fixed
 * size that are compressed independently, so the bytes never depend on how many threads there
 * are, nor on how the data arrive. */
#ifndef GPUFILT_SRC_IO_DEFLATE_H
#define GPUFILT_SRC_IO_DEFLATE_H

#include "../status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_deflate;

/* Bytes before and after a piece that its receiver may overwrite, for a chunk's frame. */
#define GF_DEFLATE_MARGIN 16

/* Takes the next piece of the stream, in order, on the caller's thread. */
typedef enum gf_status gf_deflate_emit(void *context, uint8_t *data, size_t size,
                                       struct gf_error *e);

struct gf_deflate_options {
    int level;             /* of zlib, 0..9; -1: run lengths and Huffman coding, the fast
                            * mode for rows that a PNG filter went over */
    int strategy;          /* of zlib, for level >= 0 */
    bool gzip;             /* gzip's frame, without a name or a time, instead of zlib's */
    unsigned threads;      /* 0: one a processor */
    uint64_t bytes;        /* how many will be written, to start no thread in vain */
    gf_deflate_emit *emit;
    void *context;
};

enum gf_status gf_deflate_open(struct gf_deflate **d, const struct gf_deflate_options *options,
                               struct gf_error *e);
enum gf_status gf_deflate_write(struct gf_deflate *d, const void *data, size_t size,
                                struct gf_error *e);
/* Compresses and emits what is left. */
enum gf_status gf_deflate_finish(struct gf_deflate *d, struct gf_error *e);
/* Stops the threads; accepts NULL; sets the pointer to NULL. */
void gf_deflate_close(struct gf_deflate **d);

#endif
