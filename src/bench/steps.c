#include "ladder.h"

const char *const gf_ladder_names[GF_LADDERS] = {
    [GF_REDUCE] = "reduce",
    [GF_CONV2D] = "conv2d",
    [GF_CONV3D] = "conv3d",
    [GF_COPY] = "copy",
};

const struct gf_ladder_step gf_ladder_steps[GF_STEPS] = {
#define STEP(ladder, id, key, name, change) [GF_STEP_##id] = {ladder, key, name, change},
#include "steps.def"
#undef STEP
};
