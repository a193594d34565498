/* Plans of the filters whose speed is measured. */
#ifndef GPUFILT_TESTS_UNIT_BENCH_PLAN_H
#define GPUFILT_TESTS_UNIT_BENCH_PLAN_H

#include "make_plan.h"

#include <math.h>
#include <stdlib.h>

struct bench_row {
    const char *name;
    enum gf_type type;
    uint64_t width, height, depth;
    uint32_t channels;
    uint32_t size;     /* taps an axis */
    double sigma;      /* 0: gauss5 when separable, random taps when direct */
    bool separable;
    bool alpha;
};

static inline void bench_plan(struct gf_plan *p, const struct bench_row *r, unsigned threads)
{
    static const double gauss5[] = {1, 4, 6, 4, 1}, one[] = {1};
    bool integer = r->type == GF_U8 || r->type == GF_U16;
    bool exact = integer && r->sigma == 0;
    enum gf_arith arith = exact ? GF_EXACT : r->type == GF_F64 ? GF_DOUBLE : GF_FLOAT;
    bool volume = r->depth > 1;
    uint32_t size[3] = {r->size, r->size, volume ? r->size : 1};
    double factor[256], sum = 0;

    plan_begin(p, arith, GF_BORDER_CLAMP, r->width, r->height, r->depth,
               r->channels, r->type, r->type);
    if (r->separable) {
        for (uint32_t i = 0; i < r->size; i++) {
            double d = (double)i - r->size / 2;
            factor[i] = r->sigma == 0 ? gauss5[i] : exp(-d * d / (2 * r->sigma * r->sigma));
            sum += factor[i];
        }
        for (uint32_t i = 0; i < r->size && !exact; i++)
            factor[i] /= sum;
        const double *taps[3] = {factor, factor, volume ? factor : one};
        plan_separable(p, size, taps);
        p->divisor = exact ? p->tap_total : 1;
    } else {
        size_t n = (size_t)size[0] * size[1] * size[2];
        double *taps = malloc(n * sizeof *taps);
        for (size_t i = 0; i < n; i++)
            taps[i] = (double)(i * 7 % 11 + 1) / (6.0 * (double)n);
        plan_direct(p, size, taps);
        free(taps);
    }
    if (r->alpha) {
        p->in.alpha = p->out.alpha = 3;
        p->alpha_multiply = p->alpha_divide = true;
    }
    p->threads = threads;
}

#endif
