/* Ladders: the classic steps by which a kernel becomes fast, each a real kernel of cuda/ladder/,
 * timed on a GPU or counted on the simt device. What the command and the devices share. */
#ifndef GPUFILT_SRC_BENCH_LADDER_H
#define GPUFILT_SRC_BENCH_LADDER_H

#include "../sample.h"
#include "../status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the steps ---- */

enum gf_ladder { GF_REDUCE, GF_CONV2D, GF_CONV3D, GF_COPY, GF_LADDERS };
extern const char *const gf_ladder_names[GF_LADDERS]; /* "reduce", ... as on the command line */

/* A row of steps.def; rows of one ladder stand together, the slowest idea first. */
struct gf_ladder_step {
    enum gf_ladder ladder;
    const char *key;        /* one word, of --json, --csv and tests: "shuffle" */
    const char *name;       /* of the table: "warp shuffle in two levels" */
    const char *change;     /* what it changes and what that costs, one sentence */
};

enum gf_ladder_step_id {
#define STEP(ladder, id, ...) GF_STEP_##id,
#include "steps.def"
#undef STEP
    GF_STEPS
};
extern const struct gf_ladder_step gf_ladder_steps[GF_STEPS];

/* ---- the work ---- */

struct gf_ladder_work {
    enum gf_ladder ladder;
    uint64_t n;             /* reduce, copy: binary32 samples, 1 or more */
    uint64_t size[3];       /* conv2d, conv3d: the input along x, y, z (1 in 2D) */
    uint32_t taps;          /* of the mask along each axis: 3, 5, 7 or 9 in 2D; 3, 5 or 7 in 3D */
    bool valid;             /* conv3d: outputs only where the whole mask lies inside; else as many
                             * outputs as inputs, zero outside. conv2d: same size, zero outside */
    bool stress;            /* samples up to 10^3 and up to 10^-3, mixed */
    unsigned repeats;       /* timed runs after warm-up; 0: not timed */
    unsigned same_runs;     /* runs whose bits are compared */
};

/* The sample at an index, the same on every device: uniform in [0, 1) in steps of 2^-24; under
 * stress times 1000 or 0.001, rounded to binary32. The generator is splitmix64 (Steele, Lea and
 * Flood 2014). */
static inline GF_HD float gf_ladder_sample(uint64_t index, bool stress)
{
    uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    float u;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    u = (float)(z >> 40) * 5.9604644775390625e-8f; /* 2^-24 */
    return !stress ? u : z & 1 ? u * 1000.0f : u * 0.001f;
}

/* ---- what a run finds ---- */

/* Of its first kernel. 0: not known, or a copy without a kernel. */
struct gf_ladder_shape {
    uint64_t grid[3];
    uint32_t block[3];
    uint32_t registers;     /* of a thread */
    uint32_t shared;        /* bytes of a block */
    double occupancy;       /* resident warps by those that fit, 0..1 */
};

/* Counted by the simt device, over all kernels of the run. */
struct gf_ladder_counts {
    uint64_t blocks, threads;
    /* Executed for a warp, whatever the number of its lanes that took part; and those lanes:
     * lane_operations / (32 * warp_instructions) is the SIMT efficiency. */
    uint64_t warp_instructions, lane_operations;
    uint64_t branches, divergent_branches; /* of warps; divergent: its lanes went two ways */
    uint64_t barriers;                     /* __syncthreads(), once a block */
    uint64_t shared_requests, shared_wavefronts; /* wavefronts / requests: bank conflict factor */
    uint64_t global_requests, global_sectors;    /* of 32 bytes */
    uint64_t atomics;                            /* requests of warps */
};

struct gf_ladder_run {
    const char *skipped;    /* why it was not run ("one atomic a thread: n above 4194304"), or NULL:
                             * then nothing else is set */
    struct gf_ladder_shape shape;
    double seconds, fastest, slowest;   /* the median of `repeats`; 0 when not timed */
    double bytes, flops;    /* useful: every input read once, every output written once; an addition
                             * a sample, two operations a tap and output */
    double reads;           /* global reads for an output, by theory; 0: not said */
    double reuse;           /* of a sample in shared memory, by theory; 0: not said */
    double error;           /* relative, the largest: |got - want| / |want|; want in double or
                             * exact; infinite when a result is NaN */
    double tolerance;       /* what its order of additions may cost; its derivation is where the
                             * device sets it */
    bool right;             /* error <= tolerance, every output was written and nothing beside */
    bool same_bits;         /* in all `same_runs`; same_runs 1 or less says nothing */
    struct gf_ladder_counts counts;     /* simt alone */
};

/* ---- devices ---- */

/* What the percentages refer to. */
struct gf_ladder_machine {
    char name[256];         /* "NVIDIA H200", "simt" */
    int major, minor;       /* compute capability */
    unsigned processors;
    double clock;           /* Hz */
    double peak_bytes;      /* a second, of its memory by clock and width; 0: not known */
    double peak_flops;      /* a second, binary32, a fused multiply-add being 2; 0: not known */
    double copy_bytes;      /* a second, read + written, of a large cudaMemcpy in this run; 0: not
                             * timed */
};

/* One instance a device. Functions give a status and a line in *e. */
struct gf_ladder_device {
    const char *name;       /* "cuda", "simt" */
    /* GF_EDEVICE when there is none or it is not in this build. `time_copy`: fill copy_bytes. */
    enum gf_status (*machine)(unsigned gpu, bool time_copy, struct gf_ladder_machine *m,
                              struct gf_error *e);
    /* Makes and uploads the data of `work` (copied), and finds the right answer on the host. */
    enum gf_status (*open)(unsigned gpu, const struct gf_ladder_work *work, void **state,
                           struct gf_error *e);
    /* Runs a step of the work's ladder. A wrong result is no error: run->right says it. */
    enum gf_status (*run)(void *state, enum gf_ladder_step_id step, struct gf_ladder_run *run,
                          struct gf_error *e);
    void (*close)(void *state);
};

/* cuda: in a build without CUDA every function answers GF_EDEVICE. simt: the same in a build
 * without it (ThreadSanitizer). */
extern const struct gf_ladder_device gf_ladder_cuda, gf_ladder_simt;

#ifdef __cplusplus
}
#endif
#endif
