/* GPUs by name, for the model that turns counts into times. */
#ifndef GPUFILT_SRC_BENCH_GPUS_H
#define GPUFILT_SRC_BENCH_GPUS_H

#include "../status.h"
#include "ladder.h"

struct gf_gpu {
    const char *key;            /* of --gpu: "RTX4090" */
    const char *name;
    unsigned processors;        /* streaming multiprocessors */
    unsigned schedulers;        /* of each: warp instructions a clock */
    double clock;               /* Hz, boost */
    double bytes;               /* a second, of its memory */
};

/* The first is the default; ended by a row without a key. */
extern const struct gf_gpu gf_gpus[];
/* Case, blanks, hyphens and the word NVIDIA do not matter. GF_EUSAGE lists the names. */
enum gf_status gf_gpu_find(const struct gf_gpu **gpu, const char *name, struct gf_error *e);

/* The model, in seconds. Issue: every scheduler starts one warp instruction a clock. Memory: every
 * sector counted is moved once, at the full bandwidth. Neither knows of latency, caches, the start
 * of a kernel nor a GPU that is not full, so that the larger of both is a bound from below. */
double gf_gpu_issue_time(const struct gf_gpu *gpu, const struct gf_ladder_counts *counts);
double gf_gpu_memory_time(const struct gf_gpu *gpu, const struct gf_ladder_counts *counts);

#endif
