/* Samples for a measurer that lie in rows in the device's memory: gathered in a buffer of its own,
 * and handed on as whole leaves. */
#ifndef GPUFILT_CUDA_GATHER_H
#define GPUFILT_CUDA_GATHER_H

#include "device_memory.h"

namespace GF_DEVICE {

/* A measurer has one, zeroed at first. */
struct gather {
    char *samples;              /* device */
    uint64_t room;              /* samples */
    uint64_t start, held;       /* those held, from `start` on */
    uint64_t planned;           /* samples that there will be room for */
    uint64_t taken;             /* of the sequence so far: those held and all before them */
};

/* Before the first rows of this length: plans a buffer of the size that speed asks for, or a
 * smaller one so that the measurer takes no more than `most` bytes of the device's memory, but
 * always one that a row fits in. Returns the bytes that it will take, all in all. */
uint64_t gather_plan(void *measuring, uint64_t row_samples, uint64_t most);

/* Takes `planes` times `rows` rows of `row_samples` samples each, of which `first` is the index of
 * the first in the sequence of the measurer whose open() made `measuring`. What was taken before is
 * not taken again; nothing may be missing before it. Queued on `stream`; the next call may come
 * with another stream when that one is idle. */
cudaError_t gather_rows(void *measuring, uint64_t first, const struct rows &from,
                        uint64_t row_samples, uint64_t rows, uint64_t planes, cudaStream_t stream);
/* How many samples have been taken. */
uint64_t gather_taken(void *measuring);

/* For the measurer: hands on what is held, and releases the buffer. */
cudaError_t gather_end(void *measuring, cudaStream_t stream);
void gather_free(struct gather *g);

}

#endif
