/* How fast the CPU's measurer is, in GB/s of samples, beside a plain read of the same memory in
 * the same run. Built by hand, after the program's library:
 *     cc -O2 -std=c17 -D_GNU_SOURCE -Isrc tests/bench/bench_stats.c BUILD/src/libgpufilt_core.a \
 *         -lpng -ltiff -lz -lpthread -lm -lstdc++ -o bench_stats
 *     ./bench_stats [MEBIBYTES [TYPE]]
 * Medians of seven. "fed" is the data as a file gives them: copied in pieces of 4 MiB into one
 * buffer, which is measured. */
#include "alloc.h"
#include "stats/measure.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, PIECE = 4 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct work {
    enum gf_type type;
    const char *samples;
    char *piece;                /* NULL: measured where they are */
    uint64_t bytes;
    struct gf_measure measure;
};

static void measure_once(struct work *w)
{
    struct gf_error e;
    struct gf_measured found;
    unsigned each = gf_type_bytes(w->type);
    uint64_t step = w->piece != NULL ? PIECE : w->bytes;
    void *state;

    if (gf_measurer_cpu.open(&w->measure, &state, &e) != GF_OK)
        exit(1);
    for (uint64_t at = 0; at < w->bytes; at += step) {
        uint64_t size = gf_min(step, w->bytes - at);
        const char *from = w->samples + at;
        if (w->piece != NULL)
            from = memcpy(w->piece, from, size);
        if (gf_measurer_cpu.feed(state, from, size / each, &e) != GF_OK)
            exit(1);
    }
    if (gf_measurer_cpu.finish(state, &found, &e) != GF_OK)
        exit(1);
    gf_measurer_cpu.close(state);
}

static double speed(void (*once)(struct work *w), struct work *w)
{
    double seconds[ROUNDS];

    once(w);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now();
        once(w);
        seconds[i] = now() - begin;
    }
    qsort(seconds, ROUNDS, sizeof seconds[0], by_size);
    return (double)w->bytes / seconds[ROUNDS / 2] * 1e-9;
}

static volatile uint64_t kept;

static void read_once(struct work *w)
{
    const uint64_t *p = (const uint64_t *)(const void *)w->samples;
    uint64_t sum[8] = {0};

    for (uint64_t i = 0; i < w->bytes / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += p[i + k];
    for (int k = 0; k < 8; k++)
        kept += sum[k];
}

static void bench_type(enum gf_type type, struct work w)
{
    static uint64_t count[GF_KEY_PREFIXES * GF_KEY_BINS];
    static const uint64_t first[] = {0};
    /* Around the middle of the data below, and what a few percentiles need. */
    uint64_t later[] = {0, 0xbe80, 0xbeff, 0xbf00, 0xbf20, 0xbf40};
    struct gf_key_count all = {1, gf_type_bytes(type) > 2 ? 8 * gf_type_bytes(type) - 16 : 0, first,
                               count};
    struct gf_key_count one = {1, 0, later + 3, count}, six = {6, 0, later, count};

    w.type = type;
    one.shift = six.shift = gf_type_bytes(type) == 8 ? 32 : 0;
    for (unsigned threads = 1; threads <= 2; threads++) {
        char *piece = w.piece;
        printf("%-4s %u threads:", gf_type_name(type), threads);
        w.piece = NULL;
        w.measure = (struct gf_measure){.type = type, .threads = threads, .moments = true};
        printf(" moments %5.2f", speed(measure_once, &w));
        w.piece = piece;
        printf(" (fed %5.2f)", speed(measure_once, &w));
        w.piece = NULL;
        w.measure.keys = all;
        printf("  and keys %5.2f", speed(measure_once, &w));
        w.measure.moments = false;
        printf("  keys %5.2f", speed(measure_once, &w));
        if (gf_type_bytes(type) > 2) {
            w.measure.keys = one;
            printf("  one prefix %5.2f", speed(measure_once, &w));
            w.measure.keys = six;
            printf("  six %5.2f", speed(measure_once, &w));
        }
        w.measure = (struct gf_measure){.type = type, .threads = threads,
                                        .range = {256, 0.1, 0.9, count}};
        printf("  range %5.2f\n", speed(measure_once, &w));
        w.piece = piece;
    }
}

int main(int argc, char **argv)
{
    uint64_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 0) : 256) << 20;
    uint64_t state = 1;
    struct work w = {.bytes = bytes};
    char *samples = gf_alloc(bytes, 1);

    w.samples = samples;
    w.piece = gf_alloc(PIECE, 1);
    if (samples == NULL || w.piece == NULL)
        return 1;
    for (int type = 0; type < GF_TYPE_COUNT; type++) {
        if (argc > 2 && strcmp(argv[2], gf_type_name((enum gf_type)type)) != 0)
            continue;
        /* Random bits, or floats in [0, 1). */
        for (uint64_t i = 0; i < bytes / 8; i++) {
            uint64_t bits = (state = state * 6364136223846793005u + 1442695040888963407u);
            bits ^= bits >> 29;
            if (type == GF_F64) {
                ((double *)samples)[i] = (double)(bits >> 11) * 0x1p-53;
            } else if (type == GF_F32) {
                ((float *)samples)[2 * i] = (float)(bits >> 40) * 0x1p-24f;
                ((float *)samples)[2 * i + 1] = (float)(bits & 0xffffff) * 0x1p-24f;
            } else if (type == GF_F16) {
                ((uint64_t *)samples)[i] = bits & UINT64_C(0x3bff3bff3bff3bff);
            } else {
                ((uint64_t *)samples)[i] = bits;
            }
        }
        printf("plain read, 1 thread: %5.2f\n", speed(read_once, &w));
        bench_type((enum gf_type)type, w);
    }
    gf_free(samples);
    gf_free(w.piece);
    return 0;
}
