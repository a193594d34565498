/* The cost model: what stays on the CPU and what is worth a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cost.h"
#include "make_plan.h"
#include "util.h"

#include <stdio.h>

struct work {
    const char *name;
    enum gf_type type;
    uint64_t width, height, depth;
    uint32_t channels, size;
    bool separable;
    unsigned threads;
    uint64_t alike;
    bool pays;
};

static const struct work works[] = {
    {"gauss5 of a photograph", GF_U8, 4096, 4096, 1, 3, 5, true, 2, 1, false},
    {"the same on one core", GF_U8, 4096, 4096, 1, 3, 5, true, 1, 1, false},
    {"512^2", GF_U8, 512, 512, 1, 1, 9, true, 1, 1, false},
    {"200 of them", GF_U8, 512, 512, 1, 1, 9, true, 2, 200, false},
    {"sigma 1.5 of 512^3 on 16 cores", GF_U16, 512, 512, 512, 1, 13, true, 16, 1, false},
    {"5x5x5 of 256^3 on 16 cores", GF_F32, 256, 256, 256, 1, 5, false, 16, 1, false},
    {"sigma 1.5 of 1024^3 on 16 cores: the files decide", GF_U16, 1024, 1024, 1024, 1, 13, true,
     16, 1, false},
    {"15x15x15 of 512^3 on 16 cores", GF_F32, 512, 512, 512, 1, 15, false, 16, 1, true},
    {"9x9x9 of 512^3 on 2 cores", GF_U16, 512, 512, 512, 1, 9, false, 2, 1, true},
    {"sigma 6 of 1024^3 on 2 cores", GF_U16, 1024, 1024, 1024, 1, 49, true, 2, 1, true},
    {"25x25 of one picture 2048^2 on 2 cores", GF_F32, 2048, 2048, 1, 1, 25, false, 2, 1, false},
    {"of 500 such", GF_F32, 2048, 2048, 1, 1, 25, false, 2, 500, true},
};

static void decides(void **state)
{
    static const double one[] = {1};
    (void)state;
    for (size_t i = 0; i < GF_COUNT(works); i++) {
        const struct work *w = &works[i];
        const uint32_t size[3] = {w->size, w->size, w->depth > 1 ? w->size : 1};
        double taps[15 * 15 * 15] = {0};
        const double *const factors[3] = {taps, taps, w->depth > 1 ? taps : one};
        struct gf_plan p;
        struct gf_cost cost;
        plan_begin(&p, GF_FLOAT, GF_BORDER_CLAMP, w->width, w->height, w->depth, w->channels,
                   w->type, w->type);
        if (w->separable)
            plan_separable(&p, size, factors);
        else
            plan_direct(&p, size, taps);
        p.threads = w->threads;
        cost = gf_cost_estimate(&p, w->alike);
        if (gf_cost_gpu_pays(&cost) != w->pays)
            fail_msg("%s: %g s on the CPU, %g s on a GPU", w->name, cost.cpu, cost.gpu);
        plan_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
