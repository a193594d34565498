/* What `gpufilt bench` is asked for, and what it finds. */
#ifndef GPUFILT_SRC_BENCH_BENCH_H
#define GPUFILT_SRC_BENCH_BENCH_H

#include "gpus.h"
#include "ladder.h"
#include "simulate.h"

#include <math.h>

/* ---- asked for ---- */

struct gf_bench_options {
    uint64_t n;                 /* 0: not given */
    uint64_t size[3];
    unsigned axes;              /* of the size: 2, 3; 0: not given */
    uint32_t taps;              /* 0: not given */
    unsigned repeats;           /* 0: not given */
    bool valid, stress, simulate;
    const struct gf_gpu *gpu;   /* of the model; NULL: not given */
    const char *plot;           /* a picture's name, or NULL */
};

/* ---- found ---- */

struct gf_bench_row {
    enum gf_ladder_step_id step;
    struct gf_ladder_run run;
};

struct gf_bench_table {
    struct gf_ladder_work work;
    unsigned count;
    struct gf_bench_row row[GF_STEPS];
};

/* Ideas by themselves, on the simt device. */
enum { GF_BENCH_FORMS = 3, GF_BENCH_THREADS = 1024 };
struct gf_bench_ideas {
    enum gf_ladder_step_id form[GF_BENCH_FORMS];
    struct gf_rounds rounds[GF_BENCH_FORMS];    /* of one block of GF_BENCH_THREADS */
    struct gf_bank_pattern bank[GF_BANK_PATTERNS];
    struct gf_reversal reversal[2];             /* with the barrier, without it */
};

struct gf_bench {
    bool timed;                 /* on a GPU: */
    struct gf_ladder_machine machine;
    unsigned timed_count;
    struct gf_bench_table timed_table[GF_LADDERS];
    bool counted;               /* on the simt device: */
    const struct gf_gpu *gpu;   /* of the model */
    unsigned counted_count;
    struct gf_bench_table counted_table[GF_LADDERS];
    bool has_ideas;             /* they go with the reductions */
    struct gf_bench_ideas ideas;
};

/* ---- what follows from it; NaN: not known ---- */

static inline double gf_bench_ratio(double a, double b) { return b > 0 ? a / b : (double)NAN; }

static inline double gf_bench_bytes_rate(const struct gf_ladder_run *r)
{
    return gf_bench_ratio(r->bytes, r->seconds);
}

static inline double gf_bench_flops_rate(const struct gf_ladder_run *r)
{
    return r->flops > 0 ? gf_bench_ratio(r->flops, r->seconds) : (double)NAN;
}

static inline double gf_bench_spread(const struct gf_ladder_run *r)
{
    return gf_bench_ratio(r->slowest - r->fastest, r->seconds);
}

/* Written so that a NaN fails. */
static inline bool gf_bench_right(const struct gf_ladder_run *r)
{
    return r->right && r->error <= r->tolerance;
}

/* How many times as fast as the first step that ran. */
double gf_bench_speedup(const struct gf_bench_table *table, const struct gf_bench_row *row);

static inline double gf_counts_simt(const struct gf_ladder_counts *c)
{
    return gf_bench_ratio((double)c->lane_operations, 32.0 * (double)c->warp_instructions);
}

static inline double gf_counts_banks(const struct gf_ladder_counts *c)
{
    return gf_bench_ratio((double)c->shared_wavefronts, (double)c->shared_requests);
}

#endif
