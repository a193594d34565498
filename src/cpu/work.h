/* The CPU backend's state: what the plan means to it, decided when it is opened, and each
 * thread's scratch memory. */
#ifndef GPUFILT_SRC_CPU_WORK_H
#define GPUFILT_SRC_CPU_WORK_H

#include "kernels.h"
#include "pool.h"
#include "ring.h"

/* How sums become samples. */
enum gf_finish {
    GF_FINISH_SHIFT_I16, /* exact, divisor 2^shift, straight from I16 lanes */
    GF_FINISH_SHIFT_I32, /* the same from I32 lanes, or widened to them */
    GF_FINISH_DIVIDE_F32,/* exact, small sums: quotient in float */
    GF_FINISH_DIVIDE_F64,/* exact */
    GF_FINISH_RATIO,     /* exact with NORMALIZE or alpha */
    GF_FINISH_F32,       /* FLOAT */
    GF_FINISH_F64        /* DOUBLE */
};

struct gf_worker {
    struct gf_counts counts;
    void *block;                 /* owns all of the following */
    char *extended;              /* one loaded row with its halo along x */
    char *row_store, *plane_store;
    char *acc[GF_CHAIN_ROWS];    /* rows of sums */
    const void **pointers;       /* rows a chain reads */
    struct gf_ring rows, planes;
    int32_t *sums;               /* widened sums */
    double *values;              /* quotients, or FLOAT values on their way to a wide type */
    double *inside, *spread;     /* NORMALIZE: weight a lane; alpha: alpha sum a lane */
    void *factor;                /* NORMALIZE: total / weight a lane, in the lane's type */
    int64_t inside_x;            /* the block `inside` is for when it is of inner rows, else -1 */
    char *bits;                  /* alpha_keep: alphas of a row in the output's type */
};

struct gf_cpu {
    const struct gf_plan *plan;
    const struct gf_kernels *kernels;
    enum gf_lane lane;
    size_t lane_bytes;
    bool lanes_signed;           /* I16: how its bits are read */
    void *taps[3];               /* in the lane's type; [0] is all of them when direct */
    bool skip[3];                /* separable: the axis has one tap, 1 */
    bool deep;                   /* sums run over planes: the z pass or a direct 3D mask */
    enum gf_finish finish;
    unsigned shift;
    struct gf_ratio ratio;

    uint64_t block_pixels, block_rows; /* greatest block of a task */
    bool block_given;                  /* by a test: not to be made smaller */
    size_t row_bytes, extended_bytes;  /* of a block, in lanes, slack included */
    size_t plane_bytes;                /* of a slot of `planes` */

    unsigned threads;
    struct gf_worker *workers;
    struct gf_pool *pool;

    /* The run in progress. */
    const struct gf_slab *in;
    const struct gf_slab *out;
    uint64_t blocks_x, blocks_y, rows_each;
};

/* Sums of one task: block i of the run. */
void gf_cpu_task(void *cpu, unsigned worker, uint64_t i);

/* Finishes `pixels` pixels from output place (x, y, z); may change the sums. */
void gf_cpu_finish(const struct gf_cpu *cpu, struct gf_worker *w, void *sums, uint64_t x,
                   uint64_t pixels, uint64_t y, uint64_t z);

#endif
