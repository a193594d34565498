/* check_backend --bench: the filters of the speed table, in process, memory touched
 * before, medians. */
#ifndef GPUFILT_TESTS_UNIT_BENCH_BACKEND_H
#define GPUFILT_TESTS_UNIT_BENCH_BACKEND_H

#include "alloc.h"
#include "backend.h"
#include "bench_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct bench_row bench_rows[] = {
    {"gauss5 u8 RGB 4096^2", GF_U8, 4096, 4096, 1, 3, 5, 0, true, false},
    {"gauss5 u8 RGBA alpha 4096^2", GF_U8, 4096, 4096, 1, 4, 5, 0, true, true},
    {"gauss5 u16 8192^2", GF_U16, 8192, 8192, 1, 1, 5, 0, true, false},
    {"gauss5 f32 8192^2", GF_F32, 8192, 8192, 1, 1, 5, 0, true, false},
    {"sigma 2, 17 taps, f32 8192^2", GF_F32, 8192, 8192, 1, 1, 17, 2, true, false},
    {"sigma 2, 17 taps, u16 8192^2", GF_U16, 8192, 8192, 1, 1, 17, 2, true, false},
    {"7x7 direct f32 8192^2", GF_F32, 8192, 8192, 1, 1, 7, 0, false, false},
    {"3x3 direct f32 8192^2", GF_F32, 8192, 8192, 1, 1, 3, 0, false, false},
    {"sigma 1.5 u16 512^3", GF_U16, 512, 512, 512, 1, 13, 1.5, true, false},
    {"5x5x5 direct f32 256^3", GF_F32, 256, 256, 256, 1, 5, 0, false, false},
};

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_run(const struct bench_row *r, unsigned threads, void *in, void *out)
{
    enum { ROUNDS = 9 };
    struct gf_plan p;
    struct gf_error e = {{0}};
    double times[ROUNDS], used[ROUNDS];
    void *state = NULL;

    bench_plan(&p, r, threads);
    struct gf_slab from = {.data = in, .row_stride = gf_row_bytes(&p.in), .rows = r->height,
                           .planes = r->depth};
    from.plane_stride = from.row_stride * r->height;
    struct gf_slab to = from;
    to.data = out;
    if (gf_backend_cpu.open(&p, &state, &e) != GF_OK) {
        fprintf(stderr, "%s\n", e.text);
        plan_end(&p);
        return NAN;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct gf_counts counts = {0};
        struct timespec a, b;
        clock_t start = clock();
        clock_gettime(CLOCK_MONOTONIC, &a);
        gf_backend_cpu.run(state, &from, &to, &counts, &e);
        clock_gettime(CLOCK_MONOTONIC, &b);
        times[i] = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
        used[i] = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    }
    gf_backend_cpu.close(state);
    plan_end(&p);
    qsort(times, ROUNDS, sizeof times[0], bench_compare);
    qsort(used, ROUNDS, sizeof used[0], bench_compare);
    /* The processor time says more than the clock where others use the machine too. */
    printf("  %8.1f (best %6.1f, processor %6.1f)", times[ROUNDS / 2], times[0], used[0]);
    return times[ROUNDS / 2];
}

static inline int bench(void)
{
    const char *only = getenv("GPUFILT_BENCH_ONLY");

    printf("%-32s  ms with 1 thread                           2 threads\n", "");
    for (size_t i = 0; i < sizeof bench_rows / sizeof bench_rows[0]; i++) {
        const struct bench_row *r = &bench_rows[i];
        uint64_t samples = r->width * r->height * r->depth * r->channels;
        unsigned bytes = gf_type_bytes(r->type);
        if (only != NULL && strstr(r->name, only) == NULL)
            continue;
        unsigned char *in = gf_alloc(samples, bytes), *out = gf_alloc(samples, bytes);
        uint32_t x = 12345;
        if (in == NULL || out == NULL)
            return 1;
        for (uint64_t s = 0; s < samples; s++) {
            x = x * 1664525u + 1013904223u;
            if (r->type == GF_U8)
                in[s] = (uint8_t)(x >> 24);
            else if (r->type == GF_U16)
                ((uint16_t *)(void *)in)[s] = (uint16_t)(x >> 16);
            else
                ((float *)(void *)in)[s] = (float)(x >> 8) * 0x1p-24f;
        }
        memset(out, 1, samples * bytes);
        printf("%-32s", r->name);
        bench_run(r, 1, in, out);
        bench_run(r, 2, in, out);
        printf("\n");
        fflush(stdout);
        gf_free(in);
        gf_free(out);
    }
    return 0;
}

#endif
