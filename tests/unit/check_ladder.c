/* Every version of every ladder against the right answer, on the simt device or a GPU.
 *
 *   check_ladder --backend simt|cuda [--some] [--stress] [--ladder NAME] [--step KEY] [-n N]
 *
 * Exit status 77 when its device is not there, unless GPUFILT_REQUIRE_GPU=1 is in the environment.
 * --some leaves out most sizes: for the slow simt device. --stress: only with stress data, else
 * with both. --ladder, --step and -n: only that ladder, that step of it, so many samples. On a GPU
 * results that have to be the same in every run are compared over 20 runs. */
#include "alloc.h"
#include "bench/ladder.h"
#include "bench/sums.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const struct gf_ladder_device *device;
    bool some, only_stress;
    const char *ladder, *step;
    uint64_t n;
};

/* What was done, for the last line. */
struct done {
    uint64_t works, runs, skipped;
};

/* ---- one work ---- */

static void print_work(const struct gf_ladder_work *w)
{
    fprintf(stderr, "%s", gf_ladder_names[w->ladder]);
    if (w->ladder == GF_REDUCE || w->ladder == GF_COPY)
        fprintf(stderr, " of %" PRIu64, w->n);
    else
        fprintf(stderr, " of %" PRIu64 "x%" PRIu64 "x%" PRIu64 ", %" PRIu32 " taps%s", w->size[0],
                w->size[1], w->size[2], w->taps, w->valid ? ", valid" : "");
    fprintf(stderr, "%s", w->stress ? ", stress" : "");
}

/* Sums by atomics come in any order. */
static bool repeatable(enum gf_ladder_step_id step)
{
    return step != GF_STEP_REDUCE_COARSENED_256 && step != GF_STEP_REDUCE_COARSENED_512 &&
           step != GF_STEP_REDUCE_ATOMIC;
}

static bool may_skip(const struct options *o, const struct gf_ladder_work *w,
                     enum gf_ladder_step_id step)
{
    if (step == GF_STEP_REDUCE_ATOMIC && w->n > 4194304)
        return true;
#ifndef GPUFILT_TEST_HOOKS
    if (o->device == &gf_ladder_simt &&
        (step == GF_STEP_CONV2D_FILTERS || step == GF_STEP_CONV3D_FILTERS))
        return true;
#endif
    return o->device == &gf_ladder_simt && step == GF_STEP_REDUCE_CUB;
}

/* What is not known must not look like something. */
static bool plausible(const struct options *o, const struct gf_ladder_work *w,
                      const struct gf_ladder_run *r)
{
    if (!(r->error >= 0) || !(r->tolerance >= 0) || !(r->bytes > 0))
        return false;
    if (o->device == &gf_ladder_cuda && w->repeats > 0)
        return r->fastest > 0 && r->fastest <= r->seconds && r->seconds <= r->slowest;
    return r->seconds == 0;
}

static bool check_step(const struct options *o, const struct gf_ladder_work *w, void *state,
                       enum gf_ladder_step_id step, struct done *done)
{
    struct gf_error e = {{0}};
    struct gf_ladder_run r = {0};
    bool fine;

    if (o->device->run(state, step, &r, &e) != GF_OK) {
        print_work(w);
        fprintf(stderr, ": %s: %s\n", gf_ladder_steps[step].key, e.text);
        return false;
    }
    if (r.skipped != NULL) {
        fine = may_skip(o, w, step);
        done->skipped++;
    } else {
        fine = r.right && plausible(o, w, &r) &&
               (r.same_bits || !repeatable(step)) && r.error <= r.tolerance;
        done->runs++;
    }
    if (!fine) {
        print_work(w);
        fprintf(stderr, ": %s: %s, error %g, tolerance %g, %s bits\n", gf_ladder_steps[step].key,
                r.skipped != NULL ? r.skipped : r.right ? "right" : "WRONG", r.error, r.tolerance,
                r.same_bits ? "the same" : "other");
    }
    return fine;
}

static bool check_work(const struct options *o, const struct gf_ladder_work *w, struct done *done)
{
    struct gf_error e = {{0}};
    void *state = NULL;
    bool fine = true;
    enum gf_status status;

    if (o->ladder != NULL && strcmp(o->ladder, gf_ladder_names[w->ladder]) != 0)
        return true;
    if (o->only_stress && !w->stress)
        return true;
    status = o->device->open(0, w, &state, &e);
    if (status == GF_EMEMORY && getenv("GPUFILT_REQUIRE_GPU") == NULL) {
        fprintf(stderr, "not checked: %s\n", e.text);
        return true;
    }
    if (status != GF_OK) {
        print_work(w);
        fprintf(stderr, ": %s\n", e.text);
        return false;
    }
    for (int i = 0; i < GF_STEPS && fine; i++)
        if (gf_ladder_steps[i].ladder == w->ladder &&
            (o->step == NULL || strcmp(o->step, gf_ladder_steps[i].key) == 0))
            fine = check_step(o, w, state, (enum gf_ladder_step_id)i, done);
    o->device->close(state);
    done->works++;
    return fine;
}

/* ---- sums and copies ---- */

static bool check_samples(const struct options *o, enum gf_ladder ladder, uint64_t n,
                          struct done *done)
{
    struct gf_ladder_work w = {.ladder = ladder, .n = n, .same_runs = n % 97 == 0 ? 3 : 1};
    bool large = o->device == &gf_ladder_cuda && n >= 4000000;

    if (large) {
        w.same_runs = 20;
        w.repeats = 3;
    }
    if (!check_work(o, &w, done))
        return false;
    /* Stress data are another matter for tolerances alone: not for each of the small sizes. */
    w.stress = true;
    return (!large && !o->only_stress && n % 97 != 0) || check_work(o, &w, done);
}

/* All of [1, most] in steps that have no factor in common with the sizes of blocks. */
static bool check_range(const struct options *o, uint64_t from, uint64_t most, uint64_t step,
                        struct done *done)
{
    for (uint64_t n = from; n <= most; n += step)
        if (!check_samples(o, GF_REDUCE, n, done))
            return false;
    return true;
}

static bool check_sums(const struct options *o, struct done *done)
{
    static const uint64_t simt[] = {5003, 16383, 16384, 16385, 32769, 65537, 99991, 131073};
    static const uint64_t gpu[] = {99991, 1048577, 4194304, 4194305, 100000000, 100000003,
                                   UINT64_C(1) << 27, UINT64_C(1) << 30, (UINT64_C(1) << 31) + 5};
    bool is_simt = o->device == &gf_ladder_simt;
    const uint64_t *large = is_simt ? simt : gpu;
    size_t count = is_simt ? o->some ? 3 : GF_COUNT(simt) : o->some ? 4 : GF_COUNT(gpu);

    if (o->n > 0)
        return check_samples(o, GF_REDUCE, o->n, done);
    if (!check_range(o, 1, 600, 1, done) ||
        !check_range(o, 601, 5000, o->some ? 97 : 1, done))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!check_samples(o, GF_REDUCE, large[i], done))
            return false;
    return true;
}

static bool check_copies(const struct options *o, struct done *done)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 255, 1023, 1025, 4099, 100003, 1 << 27,
                                     (1 << 27) + 3};
    size_t count = GF_COUNT(sizes) - (o->device == &gf_ladder_simt || o->some ? 2 : 0);

    for (size_t i = 0; i < count; i++)
        if (!check_samples(o, GF_COPY, o->n > 0 ? o->n : sizes[i], done))
            return false;
    return true;
}

/* ---- convolutions ---- */

enum { PLAIN = 1, STRESS = 2, VALID = 4, VALID_STRESS = 8, ALL_FORMS = 15 };

/* Along z 0: conv2d. */
static bool check_image(const struct options *o, const uint64_t size[3], uint32_t taps, int forms,
                        struct done *done)
{
    struct gf_ladder_work w = {.ladder = size[2] > 0 ? GF_CONV3D : GF_CONV2D,
                               .size = {size[0], size[1], gf_max(size[2], 1)},
                               .taps = taps};
    uint64_t samples = w.size[0] * w.size[1] * w.size[2];
    bool fits = size[0] >= taps && size[1] >= taps && size[2] >= taps;

    /* A GPU may run blocks in another order each time; the largest take seconds. */
    w.same_runs = o->device != &gf_ladder_cuda ? 1 : samples < 1 << 30 ? 20 : 2;
    for (int form = 0; form < 4; form++) {
        w.stress = (form & 1) != 0;
        w.valid = (form & 2) != 0;
        if ((forms >> form & 1) == 0 || (w.valid && !fits))
            continue;
        if (!check_work(o, &w, done))
            return false;
    }
    return true;
}

/* One less than tiles, as large, and one more: the step with one load a thread has tiles of
 * 33 - taps, others of 8, 16 and 32, and marches of 32 planes. */
static bool check_tiles(const struct options *o, uint32_t taps, struct done *done)
{
    for (uint64_t d = 0; d < 3; d++) {
        uint64_t tile = 33 - taps;
        if (!check_image(o, (uint64_t[]){tile - 1 + d, tile + 1 - d, 0}, taps, STRESS, done) ||
            !check_image(o, (uint64_t[]){2 * tile + 1 - d, 2 * tile - 1 + d, 0}, taps, PLAIN, done))
            return false;
        if (taps > 7)
            continue;
        if (!check_image(o, (uint64_t[]){15 + d, 17 - d, 31 + d}, taps, STRESS, done))
            return false;
        /* Their outputs fill tiles where only the whole mask counts. */
        if (!check_image(o, (uint64_t[]){14 + d + taps, 16 - d + taps, 32 - d + taps}, taps, VALID,
                         done))
            return false;
    }
    return true;
}

/* Grids are limited along y and z: with test hooks to 1 or 2 blocks here, so that they have to go
 * on from where they end; on a GPU also by images that are long enough. */
static bool check_grids(const struct options *o, struct done *done)
{
    static const uint64_t small[][3] = {{33, 70, 0}, {9, 131, 0}, {17, 50, 3}, {5, 3, 100},
                                        {20, 37, 70}};
    static const uint64_t longest[][3] = {{1, 2200000, 0}, {3, 1100000, 1}, {3, 1, 70000},
                                          {1, 1, 2200000}};
    bool fine = true;

    for (size_t i = 0; i < GF_COUNT(small) && fine; i++) {
        setenv("GPUFILT_TEST_GRID", i % 2 == 0 ? "1" : "2", 1);
        fine = check_image(o, small[i], 3, PLAIN | VALID_STRESS, done);
    }
    unsetenv("GPUFILT_TEST_GRID");
    for (size_t i = 0; i < GF_COUNT(longest) && fine && o->device == &gf_ladder_cuda; i++)
        fine = check_image(o, longest[i], 3, PLAIN, done);
    return fine;
}

static bool check_images(const struct options *o, struct done *done)
{
    /* One sample; smaller than the mask; odd; one less and one more than 32 and 64, and widths that
     * are not a multiple of what a row is padded to. */
    static const uint64_t sizes[][3] = {
        {1, 1, 0}, {2, 1, 0}, {1, 9, 0}, {4, 3, 0}, {31, 33, 0}, {32, 32, 0}, {33, 31, 0},
        {63, 17, 0}, {65, 15, 0}, {129, 5, 0}, {130, 67, 0}, {257, 9, 0}, {515, 35, 0},
        {1, 1, 1}, {2, 3, 1}, {1, 2, 9}, {7, 7, 7}, {31, 9, 3}, {33, 17, 8}, {32, 16, 16},
        {65, 7, 9}, {129, 3, 2}, {34, 35, 17}, {259, 5, 7},
    };
    static const uint64_t large[][3] = {{4096, 4096, 0}, {4097, 4095, 0}, {256, 256, 256},
                                        {257, 255, 129}};
    /* Beyond 2^31 samples. */
    static const uint64_t largest[][3] = {{65537, 32769, 0}, {1291, 1300, 1283}};
    bool gpu = o->device == &gf_ladder_cuda;

    for (size_t i = 0; i < GF_COUNT(sizes); i++)
        for (uint32_t taps = 3; taps <= (sizes[i][2] > 0 ? 7 : 9); taps += 2)
            if ((!o->some || gpu || (i + taps / 2) % 3 == 0) &&
                !check_image(o, sizes[i], taps, ALL_FORMS, done))
                return false;
    for (uint32_t taps = 3; taps <= (o->some && !gpu ? 3 : 9); taps += 2)
        if (!check_tiles(o, taps, done))
            return false;
    if (!check_grids(o, done))
        return false;
    for (size_t i = 0; gpu && !o->some && i < GF_COUNT(large); i++)
        for (uint32_t taps = 3; taps <= (large[i][2] > 0 ? 7 : 9); taps += 2)
            if (!check_image(o, large[i], taps, ALL_FORMS, done))
                return false;
    for (size_t i = 0; gpu && !o->some && i < GF_COUNT(largest); i++)
        if (!check_image(o, largest[i], 3, STRESS | VALID, done))
            return false;
    return true;
}

/* ---- what the checks rest on ---- */

/* The steps' keys tell them apart within a ladder, and ladders stand together. */
static bool check_steps(void)
{
    for (int i = 0; i < GF_STEPS; i++) {
        const struct gf_ladder_step *a = &gf_ladder_steps[i];
        if (a->key == NULL || a->name == NULL || a->change == NULL ||
            (i > 0 && a->ladder < gf_ladder_steps[i - 1].ladder)) {
            fprintf(stderr, "step %d is out of order\n", i);
            return false;
        }
        for (int j = 0; j < i; j++)
            if (gf_ladder_steps[j].ladder == a->ladder &&
                strcmp(gf_ladder_steps[j].key, a->key) == 0) {
                fprintf(stderr, "two steps are called %s\n", a->key);
                return false;
            }
    }
    return true;
}

/* The threads' sums against a plain loop, the stress data's in long double; marks lie where they
 * should and stay exact. */
static bool check_expected(uint64_t n)
{
    double plain = 0, stress = 0, marks = 0;
    long double by_loop[3] = {0, 0, 0};
    unsigned bits = gf_mark_bits(n);
    struct gf_error e;

    for (uint64_t i = 0; i < n; i++) {
        float mark = gf_ladder_mark(i, n, bits);
        by_loop[0] += (long double)gf_ladder_sample(i, false);
        by_loop[1] += (long double)gf_ladder_sample(i, true);
        by_loop[2] += (long double)mark;
        if ((i < 8 || n - i <= 8 || n <= 1 << GF_MARKS_LOG) && mark == 0) {
            fprintf(stderr, "no mark at %" PRIu64 " of %" PRIu64 "\n", i, n);
            return false;
        }
    }
    if (gf_ladder_sum(GF_SUM_SAMPLES, n, &plain, &e) != GF_OK ||
        gf_ladder_sum(GF_SUM_STRESS, n, &stress, &e) != GF_OK ||
        gf_ladder_sum(GF_SUM_MARKS, n, &marks, &e) != GF_OK) {
        fprintf(stderr, "%s\n", e.text);
        return false;
    }
    /* 64 bits hold the plain sum and the marks' exactly, and of the stress sum all that matters. */
    if (plain != (double)by_loop[0] || marks != (double)by_loop[2] || marks >= 16777216 ||
        !((double)by_loop[1] - stress <= stress * 1e-15 * 8 &&
          stress - (double)by_loop[1] <= stress * 1e-15 * 8)) {
        fprintf(stderr, "sums of %" PRIu64 ": %.17g %.17g %.17g\n", n, plain, stress, marks);
        return false;
    }
    return true;
}

/* ---- the program ---- */

static bool check_all(const struct options *o)
{
    struct done done = {0};

    if (!check_steps())
        return false;
    for (uint64_t n = 1; n <= 12000000; n = n * 7 + 1)
        if (!check_expected(n))
            return false;
    if (!check_copies(o, &done) || !check_images(o, &done) || !check_sums(o, &done))
        return false;
    if (gf_memory_used() != 0) {
        fprintf(stderr, "%" PRIu64 " bytes were not freed\n", gf_memory_used());
        return false;
    }
    if (done.runs == 0) {
        fprintf(stderr, "nothing was run: is there such a ladder or step?\n");
        return false;
    }
    fprintf(stderr, "%" PRIu64 " works, %" PRIu64 " runs, all right; %" PRIu64 " skipped\n",
            done.works, done.runs, done.skipped);
    return true;
}

/* False when the device is not there. */
static bool find_device(struct options *o, const char *name)
{
    struct gf_ladder_machine m;
    struct gf_error e = {{0}};

    if (strcmp(name, gf_ladder_simt.name) == 0)
        o->device = &gf_ladder_simt;
    else if (strcmp(name, gf_ladder_cuda.name) == 0)
        o->device = &gf_ladder_cuda;
    else
        return false;
    if (o->device->machine(0, false, &m, &e) != GF_OK) {
        fprintf(stderr, "not checked: %s\n", e.text);
        return false;
    }
    fprintf(stderr, "%s, %u processors, %.0f GB/s, %.1f TFLOP/s\n", m.name, m.processors,
            m.peak_bytes * 1e-9, m.peak_flops * 1e-12);
    return true;
}

int main(int argc, char **argv)
{
    const char *name = NULL, *required = getenv("GPUFILT_REQUIRE_GPU");
    struct options o = {0};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--some") == 0)
            o.some = true;
        else if (strcmp(argv[i], "--stress") == 0)
            o.only_stress = true;
        else if (i + 1 < argc && strcmp(argv[i], "--backend") == 0)
            name = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--ladder") == 0)
            o.ladder = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--step") == 0)
            o.step = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "-n") == 0)
            o.n = strtoull(argv[++i], NULL, 0);
        else
            name = NULL, i = argc;
    }
    if (name == NULL) {
        fprintf(stderr, "usage: check_ladder --backend simt|cuda [--some] [--stress] "
                        "[--ladder NAME] [--step KEY] [-n N]\n");
        return 2;
    }
    if (!find_device(&o, name))
        return required != NULL && strcmp(required, "1") == 0 ? 1 : 77;
    return check_all(&o) ? 0 : 1;
}
