/* What the files of the NPY format share. */
#ifndef GPUFILT_SRC_IO_NPY_H
#define GPUFILT_SRC_IO_NPY_H

#include "npy_header.h"
#include "voxels.h"

/* Its samples as voxels, `offset` bytes into the file: of an array in Fortran order with the right
 * sizes, but in the wrong order. */
enum gf_status gf_npy_voxels(struct gf_voxels *v, const struct gf_reader *r,
                             const struct gf_npy_header *h, uint64_t offset, struct gf_error *e);

/* The same format for arrays in Fortran order, which a reader is given once that is known. */
extern const struct gf_format gf_format_npy_fortran;

/* Opens the samples of an array in Fortran order, and makes the format the one above. */
enum gf_status gf_npy_fortran_open(struct gf_reader *r, const struct gf_npy_header *h,
                                   uint64_t offset, struct gf_error *e);
enum gf_status gf_npy_fortran_select(struct gf_reader *r, uint64_t index, struct gf_image *image,
                                     struct gf_error *e);
enum gf_status gf_npy_fortran_read_rows(struct gf_reader *r, uint64_t first, uint64_t count,
                                        void *rows, struct gf_error *e);
enum gf_status gf_npy_fortran_finish(struct gf_reader *r, struct gf_error *e);
void gf_npy_fortran_close(struct gf_reader *r);

#endif
