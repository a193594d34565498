/* The header of an NPY file: the text of a Python dictionary. */
#ifndef GPUFILT_SRC_IO_NPY_HEADER_H
#define GPUFILT_SRC_IO_NPY_HEADER_H

#include "../sample.h"
#include "../status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* (n, z, y, x, c) */
#define GF_NPY_AXES 5

struct gf_npy_header {
    enum gf_type type;            /* as the samples are handed out */
    bool big_endian;
    bool fortran;                 /* the first axis runs fastest */
    unsigned axes;                /* 1 to GF_NPY_AXES */
    uint64_t shape[GF_NPY_AXES];  /* as in the file; each >= 1 */
};

/* The `size` bytes of text after the header's length. GF_EINPUT when they are not what they must
 * be, GF_EFEATURE for arrays that are no images, with what to do. `name` is the file in the
 * message. */
enum gf_status gf_npy_parse(struct gf_npy_header *h, const char *text, size_t size,
                            const char *name, struct gf_error *e);

/* Bytes of the longest header that is made. */
#define GF_NPY_HEADER_ROOM 256
/* A whole header, version 1.0, of an array in C order and little-endian: numpy.save() makes the
 * same bytes. Returns how many. */
size_t gf_npy_make(char to[GF_NPY_HEADER_ROOM], const struct gf_npy_header *h);

#endif
