/* Which input rows (or planes) a chunk needs, and where each lies on the device: every index
 * once, in slots 0, 1, ... The border along y and z is settled here, for every mode, masks
 * larger than the image included. */
#ifndef GPUFILT_CUDA_SLOTS_H
#define GPUFILT_CUDA_SLOTS_H

#include "program.h"

namespace GF_DEVICE {

/* At most two runs of consecutive indices, one after the other in the slots: a border that
 * clamps or reflects moves by one index at most from tap to tap, so that what a window
 * reaches has no gap; one that wraps has one. */
struct slots {
    uint64_t first[2], count[2];
};

/* Those that output indices [begin, begin + outputs) of `axis` (1 or 2) need; no more than
 * outputs + size[axis] - 1, and none where all is outside and nothing stands for it. */
void slots_find(const struct gf_plan *plan, int axis, uint64_t begin, uint32_t outputs,
                struct slots *slots);

/* The tables of chunk.h: window[outputs + size[axis] - 1], and center[outputs] unless NULL. */
void slots_fill(const struct gf_plan *plan, int axis, uint64_t begin, uint32_t outputs,
                const struct slots *slots, int32_t *window, int32_t *center);

uint32_t slots_count(const struct slots *slots);

/* From `index` on, at most `most` consecutive indices that are either in consecutive slots,
 * the first in *slot, or in none (*slot < 0); how many. */
uint64_t slots_piece(const struct slots *slots, uint64_t index, uint64_t most, int64_t *slot);

}

#endif
