/* The header of NIfTI-1 (348 bytes) and NIfTI-2 (540 bytes), kept as its bytes in the file's own
 * order, so that what is not changed is written as it was read. */
#ifndef GPUFILT_SRC_IO_NIFTI_HEADER_H
#define GPUFILT_SRC_IO_NIFTI_HEADER_H

#include "format.h"

#define GF_NIFTI_BYTES 540 /* of the longer header */

enum gf_nifti_field {
    GF_NIFTI_SIZE,           /* of the header itself: 348 or 540 */
    GF_NIFTI_DIM_INFO,
    GF_NIFTI_DIM,            /* [8]: how many, then the sizes */
    GF_NIFTI_INTENT_P,       /* [3] */
    GF_NIFTI_INTENT_CODE,
    GF_NIFTI_DATATYPE,
    GF_NIFTI_BITPIX,
    GF_NIFTI_SLICE_START,
    GF_NIFTI_PIXDIM,         /* [8]: the side of the axes (-1: left-handed), then the steps */
    GF_NIFTI_VOX_OFFSET,     /* a float in NIfTI-1 */
    GF_NIFTI_SLOPE,
    GF_NIFTI_INTER,
    GF_NIFTI_SLICE_END,
    GF_NIFTI_SLICE_CODE,
    GF_NIFTI_UNITS,
    GF_NIFTI_CAL_MAX,
    GF_NIFTI_CAL_MIN,
    GF_NIFTI_SLICE_DURATION,
    GF_NIFTI_TOFFSET,
    GF_NIFTI_DESCRIP,        /* [80] bytes */
    GF_NIFTI_AUX_FILE,       /* [24] bytes */
    GF_NIFTI_QFORM,
    GF_NIFTI_SFORM,
    GF_NIFTI_QUATERN,        /* [3] */
    GF_NIFTI_QOFFSET,        /* [3] */
    GF_NIFTI_SROW,           /* [12]: three rows of four */
    GF_NIFTI_INTENT_NAME,    /* [16] bytes */
    GF_NIFTI_FIELDS
};

struct gf_nifti_header {
    uint8_t bytes[GF_NIFTI_BYTES];
    int version;             /* 1 or 2 */
    bool big;                /* big-endian */
    bool single;             /* samples follow in the same file; else in one of their own */
};

/* What a datatype code means here. */
struct gf_nifti_type {
    int code;
    int bits;                /* of a voxel */
    const char *name;
    bool read;               /* else `advice` says what to do */
    enum gf_type type;       /* of a sample */
    uint32_t channels;
    const char *advice;
};

/* NULL for an unknown code. */
const struct gf_nifti_type *gf_nifti_type(int64_t code);
/* The type for an image that is written; NULL when there is none. */
const struct gf_nifti_type *gf_nifti_type_of(const struct gf_image *image);

/* Whether these first bytes of a file are a header of NIfTI or of Analyze 7.5, or would be one
 * without its damage. */
bool gf_nifti_probe(const uint8_t *head, size_t size);
/* Takes the header from the first bytes of a file: GF_EINPUT when it is damaged, GF_EFEATURE when
 * it is Analyze 7.5. The fields are not looked at. */
enum gf_status gf_nifti_identify(struct gf_nifti_header *h, const uint8_t *head, size_t size,
                                 const char *name, struct gf_error *e);
/* A header in this machine's byte order that says nothing but what it is. */
void gf_nifti_clear(struct gf_nifti_header *h, int version);
/* The magic that `h->single` asks for. */
void gf_nifti_set_magic(struct gf_nifti_header *h);
/* NIfTI-1 becomes NIfTI-2, every field with it. */
void gf_nifti_widen(struct gf_nifti_header *h);

/* 348 or 540. */
size_t gf_nifti_size(const struct gf_nifti_header *h);
/* Element `index` of a field of whole numbers; 0 <= index < its count. */
int64_t gf_nifti_int(const struct gf_nifti_header *h, enum gf_nifti_field field, int index);
/* Of any numeric field. */
double gf_nifti_real(const struct gf_nifti_header *h, enum gf_nifti_field field, int index);
/* What does not fit is cut to the field's bits; callers know the range. */
void gf_nifti_set_int(struct gf_nifti_header *h, enum gf_nifti_field field, int index,
                      int64_t value);
/* Of fields of floats, and GF_NIFTI_VOX_OFFSET with whole numbers. */
void gf_nifti_set_real(struct gf_nifti_header *h, enum gf_nifti_field field, int index,
                       double value);
/* A field of bytes. */
uint8_t *gf_nifti_bytes(struct gf_nifti_header *h, enum gf_nifti_field field, size_t *size);

#endif
