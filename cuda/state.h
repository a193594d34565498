/* What the backend keeps between open and close. */
#ifndef GPUFILT_CUDA_STATE_H
#define GPUFILT_CUDA_STATE_H

#include "device.h"
#include "device_memory.h"
#include "family.h"
#include "slots.h"

namespace GF_DEVICE {

/* Two sets of buffers: while a chunk is computed from one, the next is uploaded into the
 * other, and the one before is downloaded from there. */
constexpr unsigned SETS = 2;

/* Buffers of one chunk on its way. */
struct set {
    struct rows in, out;
    int32_t *tables, *host_tables;      /* the four of chunk.h in a row; host: pinned */
    cudaEvent_t uploaded, computed, downloaded;
    struct slots row_slots, plane_slots; /* what `in` holds */
};

/* The largest chunks. */
struct shape {
    uint32_t rows, planes;              /* of the output; 0: none */
    unsigned sets;                      /* 1: nothing overlaps, for when memory is short */
};

struct state {
    const struct gf_plan *plan;
    struct device device;
    const struct gf_family *family;
    uint64_t serial;                    /* no other state has had it */
    uint64_t in_row, out_row;           /* bytes of a row of samples */
    bool packed;

    void *mask_block;                   /* all arrays of `mask` */
    uint64_t fixed_bytes;               /* of mask_block and counts */
    struct gf_device_mask mask;
    cudaStream_t upload, compute, download;
    cudaEvent_t finished;
    unsigned long long *counts, *host_counts; /* three, as in chunk.h; host: pinned */

    uint64_t limit;                     /* bytes of buffers; falls when the device has less, or a
                                         * measurer takes some */
    struct shape shape;                 /* what is allocated */
    struct set set[SETS];
    void *work;
    uint64_t work_room;                 /* bytes */
    void *measuring;                    /* a measurer's state that watches the output, or NULL */
    uint64_t measured_before;           /* samples it had when this output began */
    uint64_t turn;                      /* chunks so far: the next takes set turn % sets */
};

}

#endif
