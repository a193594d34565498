/* What the general kernels are told: plain structs passed by value. */
#ifndef GPUFILT_CUDA_GENERAL_PARAMS_CUH
#define GPUFILT_CUDA_GENERAL_PARAMS_CUH

#include "chunk.h"
#include "launch.cuh"

namespace GF_DEVICE {

/* Where a kernel finds taps: in device memory, or, where that is NULL, in this family's
 * constant memory from tap `first` on. */
struct tap_source {
    const void *global;
    uint32_t first;
};

/* Lanes of the arithmetic's type between two passes; strides in lanes. The slot tables map a
 * row or plane of the pass to a stored one (-1: fill); NULL is the identity. */
struct lanes {
    void *data;
    size_t row, plane;
    const int32_t *row_slot, *plane_slot;
};

/* From sums to stored samples. */
struct finishing {
    gf_type type, in_type;      /* of the output and of the input */
    void *out;
    size_t out_row, out_plane;  /* bytes */
    uint64_t y, z;              /* of the chunk's first row and plane */
    uint32_t channels;
    int alpha;                  /* -1: no channel is alpha */
    bool alpha_divide, alpha_keep, normalize;
    bool as_summed;             /* FLOAT to f32, DOUBLE to f64, and nothing else to do */
    int64_t divisor, tap_total;
    double gain, alpha_scale;
    struct gf_inside inside;    /* device pointers; for normalize */
    /* For alpha_keep: the input and the tables of chunk.h. */
    const void *in;
    size_t in_row, in_plane;
    const int32_t *center_row, *center_plane;
    int64_t shift_x;
    unsigned long long *counts;
};

/* What stands in a lane outside the image, after the passes before this one. */
struct outside {
    double color, alpha;        /* of a colour or plain lane; of the alpha lane */
    int alpha_channel;          /* -1: every lane is plain */
};

/* Correlation with a whole mask, or with its x factor, over raw samples. */
struct rows_params {
    const void *in;
    size_t in_row, in_plane;    /* bytes */
    gf_type type;
    const int32_t *row_slot, *plane_slot; /* NULL: the identity */
    int64_t width;              /* pixels of the input */
    int64_t out_lanes;          /* lanes of an output row */
    uint32_t rows, planes;      /* computed */
    uint32_t channels;
    int multiply_alpha;         /* the channel colour is multiplied by, or -1 */
    gf_border border;
    struct outside fill;
    uint32_t size[3];
    int64_t first_x;            /* input pixel under tap 0 of output pixel 0 */
    bool copy;                  /* the value itself: an axis that is skipped */
    struct tap_source taps;
    struct lanes to;            /* unless the kernel finishes */
};

/* A pass along y or z over lanes. The axis is called `along`, the other one `across`. */
struct columns_params {
    struct lanes from;          /* row_slot and plane_slot both set or NULL as above */
    int axis;                   /* 1 or 2 */
    uint32_t along, across;     /* outputs */
    int64_t out_lanes;
    uint32_t channels;
    struct outside fill;
    uint32_t size;
    struct tap_source taps;
    struct lanes to;
};

}

#endif
