/* Every backend against the reference, byte for byte, the CPU's for every instruction set
 * this machine has, with several thread counts and random slabs, blocks and strides; and the
 * reference, for exact plans, against integer arithmetic and a border walker of its own.
 * First a fixed list of plans, then random ones until there are --iterations or the time is
 * up; MINIMUM of them are made however long they take.
 *
 *   check_backend [--backend NAME] [--some | --fixed N] [--seed N] [--iterations N] [--seconds N]
 *                 [--bench]
 *
 * (or GPUFILT_CHECK_SEED, GPUFILT_CHECK_ITERATIONS in the environment). --backend compares one
 * alone; exit status 77 when its device is not there, unless GPUFILT_REQUIRE_GPU=1 is in the
 * environment. --some leaves out fixed plans, but no combination of types, border, dimension
 * and kind: for the slow simt device. --fixed N runs fixed plan N alone. A failure prints the
 * parameters and the seed that repeats it. NaN is compared as bits too: backends store one NaN
 * whatever the sum made of it.
 */
#include "alloc.h"
#include "backend.h"
#include "cpu/kernels.h"
#include "device_draw.h"
#include "exact_opinion.h"
#include "fixed_plans.h"
#include "random_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_backend.h"

/* Random plans without which a run means nothing. */
#define MINIMUM 500

/* ---- running ---- */

/* A copy of exactly the input that output rows and planes [.., ..) reach, so that reading
 * one sample more is seen by the sanitizer or as painted data. */
static void slab_of(const struct gf_plan *p, const struct buffer *in, uint64_t y, uint64_t rows,
                    uint64_t z, uint64_t planes, struct buffer *copy, struct gf_slab *slab)
{
    uint64_t y0, y1, z0, z1;

    gf_plan_reach(p, 1, y, y + rows, &y0, &y1);
    gf_plan_reach(p, 2, z, z + planes, &z0, &z1);
    buffer_make(copy, in->row, y1 - y0, z1 - z0, gf_type_bytes(p->in.type), one_in(2));
    for (uint64_t k = z0; k < z1; k++)
        for (uint64_t j = y0; j < y1; j++)
            memcpy(buffer_row(copy, j - y0, k - z0), buffer_row(in, j, k), in->row);
    *slab = (struct gf_slab){.data = copy->data, .row_stride = copy->row_stride,
                             .plane_stride = copy->plane_stride, .y = y0, .z = z0,
                             .rows = y1 - y0, .planes = z1 - z0};
}

/* Where a backend can pin memory, now and then from and to such memory: then no transfer
 * waits, and only the backend's own events keep its streams in order. */
static enum gf_status run_slab(const struct gf_backend *backend, void *state,
                               const struct gf_slab *in, struct gf_slab *out,
                               const struct buffer *copy, const struct buffer *result,
                               struct gf_counts *counts, struct gf_error *e)
{
    bool pin = backend->pin != NULL && one_in(2);
    enum gf_status status;

    if (pin) {
        backend->pin(state, copy->block, copy->size);
        backend->pin(state, result->block, result->size);
    }
    status = backend->run(state, in, out, counts, e);
    if (pin) {
        backend->unpin(state, copy->block);
        backend->unpin(state, result->block);
    }
    return status;
}

static enum gf_status run_backend(const struct gf_backend *backend, const struct gf_plan *p,
                                  const struct buffer *in, const struct buffer *out, bool split,
                                  struct gf_counts *counts, struct gf_error *e)
{
    void *state = NULL;
    enum gf_status status;

    memset(counts, 0, sizeof *counts);
    status = backend->open(p, &state, e);
    if (status != GF_OK) {
        backend->close(state);
        return status;
    }
    for (uint64_t z = 0, planes; z < p->out.depth; z += planes) {
        planes = split ? 1 + below(p->out.depth - z) : p->out.depth;
        for (uint64_t y = 0, rows; y < p->out.height; y += rows) {
            struct buffer copy;
            struct gf_slab from, to;
            rows = split ? 1 + below(p->out.height - y) : p->out.height;
            slab_of(p, in, y, rows, z, planes, &copy, &from);
            to = (struct gf_slab){.data = buffer_row(out, y, z), .row_stride = out->row_stride,
                                  .plane_stride = out->plane_stride, .y = y, .z = z,
                                  .rows = rows, .planes = planes};
            if (status == GF_OK)
                status = run_slab(backend, state, &from, &to, &copy, out, counts, e);
            free(copy.block);
        }
    }
    backend->close(state);
    return status;
}

/* With more and more device memory when the plan allows too little for a row. */
static bool run_with_room(const struct gf_backend *backend, struct gf_plan *p,
                          const struct buffer *in, const struct buffer *out, bool split,
                          struct gf_counts *counts)
{
    struct gf_error e = {{0}};
    enum gf_status status;

    do
        status = run_backend(backend, p, in, out, split, counts, &e);
    while (status == GF_EMEMORY && (p->gpu_memory *= 2) > 0);
    if (status != GF_OK)
        fprintf(stderr, "%s: %s\n", backend->name, e.text);
    return status == GF_OK;
}

static bool same(const struct gf_plan *p, const struct buffer *a, const struct buffer *b)
{
    unsigned bytes = gf_type_bytes(p->out.type);
    for (uint64_t z = 0; z < a->planes; z++)
        for (uint64_t y = 0; y < a->rows; y++)
            for (size_t i = 0; i < a->row; i += bytes) {
                const unsigned char *q = buffer_row(a, y, z) + i, *r = buffer_row(b, y, z) + i;
                if (memcmp(q, r, bytes) != 0) {
                    uint64_t m = 0, n = 0;
                    memcpy(&m, q, bytes);
                    memcpy(&n, r, bytes);
                    fprintf(stderr, "reference %.17g (%" PRIx64 "), not %.17g (%" PRIx64
                            ") at %zu,%" PRIu64 ",%" PRIu64 "\n",
                            get(p->out.type, q), m, get(p->out.type, r), n,
                            i / bytes, y, z);
                    return false;
                }
            }
    return true;
}

/* What is compared with the reference: a backend, the CPU's at one of its levels. */
struct subject {
    const struct gf_backend *backend;
    const char *level;
};
static struct subject subjects[16];
static size_t subject_count;

static void add_subject(const struct gf_backend *backend, const char *level)
{
    if (subject_count == sizeof subjects / sizeof subjects[0]) {
        fprintf(stderr, "more backends than expected\n");
        exit(1);
    }
    subjects[subject_count++] = (struct subject){backend, level};
    fprintf(stderr, "%s%s%s\n", backend->name, level[0] != '\0' ? ", " : "", level);
}

static void find_cpu_levels(void)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    size_t before = subject_count;
    const struct gf_kernels *k;

    for (size_t i = 0; i < 3; i++) {
        setenv("GPUFILT_CPU", names[i], 1);
        if (gf_kernels_choose(&k, NULL) == GF_OK && strcmp(k->name, names[i]) == 0)
            add_subject(&gf_backend_cpu, names[i]);
    }
    unsetenv("GPUFILT_CPU");
    if (subject_count == before) /* built without hooks: the machine's own */
        add_subject(&gf_backend_cpu, "");
}

static bool gpu_required(void)
{
    const char *text = getenv("GPUFILT_REQUIRE_GPU");
    return text != NULL && strcmp(text, "1") == 0;
}

/* All backends that work on this machine, or the one of this name; one whose device is not
 * there is named and left out. False where it must be there. */
static bool find_subjects(const char *only)
{
    for (const struct gf_backend *const *b = gf_backends; *b != NULL; b++) {
        struct gf_error e = {{0}};
        struct gf_plan p;
        void *state = NULL;
        enum gf_status status;

        if (*b == &gf_backend_reference || (only != NULL && strcmp(only, (*b)->name) != 0))
            continue;
        if (*b == &gf_backend_cpu) {
            find_cpu_levels();
            continue;
        }
        identity_plan(&p);
        status = (*b)->open(&p, &state, &e);
        (*b)->close(state);
        plan_end(&p);
        if (status != GF_EDEVICE) {
            add_subject(*b, "");
            continue;
        }
        fprintf(stderr, "not compared: %s: %s\n", (*b)->name, e.text);
        if (*b == &gf_backend_cuda && gpu_required())
            return false;
    }
    return true;
}

/* Makes the samples and compares; frees the plan. */
static bool check_plan(struct gf_plan *plan, enum pattern pattern)
{
    static const unsigned threads[] = {1, 2, 5};
    struct gf_plan p = *plan;
    struct buffer in, want, got;
    struct gf_counts expected, counts;
    struct device_draw draw;
    char block[32] = "";
    bool fine;
    unsigned ib = gf_type_bytes(p.in.type), ob = gf_type_bytes(p.out.type);
    double constant = sample(p.in.type, UNIFORM, 0);

    buffer_make(&in, gf_row_bytes(&p.in), p.in.height, p.in.depth, ib, false);
    for (size_t i = 0; i < in.size - 2 * GUARD; i += ib)
        put(p.in.type, in.data + i, sample(p.in.type, pattern, constant));
    /* A bare NaN payload and a signalling one, where there is room. */
    if (p.in.type == GF_F32 && pattern == SPECIAL)
        memcpy(in.data, &(uint32_t){one_in(2) ? 0xffabcdefu : 0x7f812345u}, 4);
    buffer_make(&want, gf_row_bytes(&p.out), p.out.height, p.out.depth, ob, false);
    unsetenv("GPUFILT_TEST_BLOCK");
    fine = run_with_room(&gf_backend_reference, &p, &in, &want, one_in(4), &expected) &&
           buffer_intact(&want);
    if (p.arith == GF_EXACT)
        fine = fine && third_opinion(&p, &in, &want, &expected);
    for (const struct subject *s = subjects; s < subjects + subject_count && fine; s++) {
        setenv("GPUFILT_CPU", s->level, 1);
        if (one_in(2)) {
            snprintf(block, sizeof block, "%ux%u", 1 + (unsigned)below(70),
                     1 + (unsigned)below(20));
            setenv("GPUFILT_TEST_BLOCK", block, 1);
        } else {
            block[0] = '\0';
            unsetenv("GPUFILT_TEST_BLOCK");
        }
        p.threads = threads[below(3)];
        device_draw(&draw, &p, s->backend != &gf_backend_cpu);
        buffer_make(&got, gf_row_bytes(&p.out), p.out.height, p.out.depth, ob, true);
        fine = run_with_room(s->backend, &p, &in, &got, one_in(2), &counts) &&
               same(&p, &want, &got);
        if (fine && !buffer_intact(&got)) {
            fprintf(stderr, "bytes outside the rows were changed\n");
            fine = false;
        }
        if (fine && memcmp(&counts, &expected, sizeof counts) != 0) {
            fprintf(stderr, "counts: low %" PRIu64 " %" PRIu64 " high %" PRIu64 " %" PRIu64
                    " nan %" PRIu64 " %" PRIu64 "\n", expected.clipped_low, counts.clipped_low,
                    expected.clipped_high, counts.clipped_high, expected.nan, counts.nan);
            fine = false;
        }
        free(got.block);
        if (!fine) {
            fprintf(stderr, "  %s %s threads %u block %s\n", s->backend->name, s->level,
                    p.threads, block);
            device_describe(&draw, &p);
        }
    }
    if (!fine) {
        fprintf(stderr, "  pattern %d\n", (int)pattern);
        describe(&p);
    }
    free(in.block);
    free(want.block);
    plan_end(&p);
    return fine;
}

static bool check_random(uint64_t seed)
{
    struct gf_plan p;

    rng = seed;
    enum pattern pattern = (enum pattern)below(PATTERNS);
    if (one_in(16))
        identity_plan(&p);
    else if (one_in(40))
        wide_tie_plan(&p);
    else if (one_in(3))
        common_plan(&p);
    else
        random_plan(&p);
    if (check_plan(&p, pattern))
        return true;
    fprintf(stderr, "  seed %" PRIu64 "\n", seed);
    return false;
}

/* The same plans, samples, slabs and threads in every run. False where it differs; *made
 * whether there is such a plan. */
static bool check_one_fixed(unsigned index, bool *made)
{
    struct gf_plan p;

    rng = index;
    *made = fixed_plan(&p, index);
    if (!*made || check_plan(&p, (enum pattern)below(PATTERNS)))
        return true;
    fprintf(stderr, "  fixed plan %u\n", index);
    return false;
}

static bool check_one_edge(unsigned index, bool *made)
{
    struct gf_plan p;

    rng = index;
    *made = edge_plan(&p, index);
    if (!*made || check_plan(&p, one_in(2) ? HIGH : LOW))
        return true;
    fprintf(stderr, "  edge plan %u\n", index);
    return false;
}

/* `some`: one shape of each group, and one edge plan in seven. */
static bool check_fixed(bool some, uint64_t *done)
{
    bool made;

    for (unsigned group = 0; group < FIXED_PLANS / FIXED_SHAPES; group++)
        for (unsigned i = 0; i < FIXED_SHAPES; i++) {
            if (!check_one_fixed(group * FIXED_SHAPES + (3 * group + i) % FIXED_SHAPES, &made))
                return false;
            *done += made;
            if (some && made)
                break;
        }
    for (unsigned index = 0; index < EDGE_PLANS; index += some ? 7 : 1) {
        if (!check_one_edge(index, &made))
            return false;
        *done += made;
    }
    return true;
}

/* ---- fused multiply-add without the instruction ---- */

static float random_float(void)
{
    uint32_t bits = (uint32_t)next();
    float f;

    switch (below(5)) {
    case 0: bits = (bits & 0x80ffffff) | 0x3f000000; break; /* near 1 */
    case 1: bits &= 0x807fffff; break;                      /* subnormal */
    case 2: bits &= 0xfff00000; break;                      /* few bits: ties */
    case 3: bits = (bits & 0x807fffff) | (uint32_t)below(60) << 23; break;
    default: break;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The chain of two taps 1 and a over rows c and x is fmaf(a, x, c). */
static bool check_fma(size_t rounds)
{
    enum { N = 1024 };
    static float row[2 * N + GF_LANE_SLACK], to[N + GF_LANE_SLACK];
    const void *rows[] = {row};
    void *const tos[] = {to};

    for (size_t round = 0; round < rounds; round++) {
        float taps[2] = {1.0f, random_float()};
        for (size_t i = 0; i < N; i++) {
            row[i] = random_float();
            row[N + i] = random_float();
            /* The sum nearly cancels, or lies just beside a tie. */
            if (one_in(4))
                row[i] = -taps[1] * row[N + i];
            else if (one_in(4))
                row[i] = ldexpf(row[N + i] * taps[1], (int)below(60) - 30);
        }
        gf_kernels_baseline.chain[GF_LANE_F32](&(struct gf_chain){
            .rows = rows, .nz = 1, .ny = 1, .nx = 2, .step = N, .taps = taps, .to = tos,
            .outputs = 1, .lanes = N});
        for (size_t i = 0; i < N; i++) {
            float want = fmaf(taps[1], row[N + i], fmaf(1.0f, row[i], 0.0f));
            if (memcmp(&want, &to[i], 4) != 0 && !(isnan(want) && isnan(to[i]))) {
                fprintf(stderr, "fmaf(%a, %a, %a) = %a, not %a\n", (double)taps[1],
                        (double)row[N + i], (double)row[i], (double)want, (double)to[i]);
                return false;
            }
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *text = getenv("GPUFILT_CHECK_SEED"), *only = NULL;
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1, iterations = 3000;
    uint64_t fixed = 0, done = 0;
    double limit = 20.0;
    bool some = false, made;
    long one = -1;
    struct timespec begin, now;

    if ((text = getenv("GPUFILT_CHECK_ITERATIONS")) != NULL)
        iterations = strtoull(text, NULL, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0)
            return bench();
        if (strcmp(argv[i], "--some") == 0)
            some = true;
        else if (i + 1 < argc && strcmp(argv[i], "--backend") == 0)
            only = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--fixed") == 0)
            one = strtol(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--iterations") == 0)
            iterations = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0)
            limit = strtod(argv[++i], NULL);
        else {
            fprintf(stderr, "usage: check_backend [--backend NAME] [--some | --fixed N] "
                            "[--seed N] [--iterations N] [--seconds N] [--bench]\n");
            return 2;
        }
    }
    if (!find_subjects(only))
        return 1;
    if (subject_count == 0)
        return 77;
    if (one >= 0)
        return check_one_fixed((unsigned)one, &made) ? 0 : 1;
    rng = seed;
    if (!check_fma(4000) || !check_fixed(some, &fixed))
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; done < iterations; done++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (done >= MINIMUM && (double)(now.tv_sec - begin.tv_sec) > limit)
            break;
        if (!check_random(seed + done))
            return 1;
    }
    if (gf_memory_used() != 0) {
        fprintf(stderr, "%" PRIu64 " bytes were not freed\n", gf_memory_used());
        return 1;
    }
    fprintf(stderr, "%" PRIu64 " fixed and %" PRIu64 " random plans, all the same\n", fixed,
            done);
    return 0;
}
