#include "expect.h"

#include "../alloc.h"
#include "../cpu/pool.h"
#include "../signals.h"
#include "../util.h"

#include <math.h>

/* Outputs side by side whose sums stay in the first cache, and taps along x. */
enum { PIECE = 512, MOST_SIDE = 9 };

struct line;
typedef void add_line(double *sum, const struct line *line);

struct gf_expect {
    uint64_t in[3], out[3];
    uint32_t taps[3];
    uint64_t lead;              /* taps before the first output's own first sample */
    double weight[GF_EXPECT_MOST_TAPS];
    double *want;               /* all outputs, without padding */
    struct gf_pool *pool;
    double *worst;              /* a worker's largest error */
    unsigned threads;
    add_line *add;
};

/* ---- the work ---- */

static uint32_t taps_along(const struct gf_ladder_work *work, int axis)
{
    return axis == 2 && work->ladder == GF_CONV2D ? 1 : work->taps;
}

static bool valid_only(const struct gf_ladder_work *work)
{
    return work->valid && work->ladder == GF_CONV3D;
}

uint32_t gf_expect_taps(const struct gf_ladder_work *work)
{
    return taps_along(work, 0) * taps_along(work, 1) * taps_along(work, 2);
}

void gf_expect_size(const struct gf_ladder_work *work, uint64_t size[3])
{
    bool fits = true;

    for (int a = 0; a < 3; a++)
        fits = fits && work->size[a] >= taps_along(work, a);
    for (int a = 0; a < 3; a++)
        size[a] = !valid_only(work) ? work->size[a]
                  : fits            ? work->size[a] - taps_along(work, a) + 1
                                    : 0;
}

void gf_expect_mask(const struct gf_ladder_work *work, float *mask)
{
    uint32_t taps = gf_expect_taps(work), side = work->taps;
    uint64_t total = 0;

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t n = 0; n < taps; n++) {
            uint32_t v = 1 + n % side + 2 * (n / side % side) + 4 * (n / side / side);
            if (turn == 0)
                total += v;
            else
                mask[n] = (float)((double)v / (double)total);
        }
}

/* Let u = 2^-24 and n the number of taps. Weights are above and samples not below 0, so nothing
 * cancels: a sum of terms each of which was multiplied by factors 1 + d, |d| <= u, is the true sum
 * times such factors. With fused operations a term has at most n of them, one for each step of the
 * chain; where products are rounded by themselves, that rounding and those of at most n - 1
 * additions, whatever their order. So the relative error is at most (1 + u)^n - 1, and that is less
 * than (n + 1/2) u for n up to 343. The roundings of the sum in double are 2^-29 of those: the rest
 * of (n + 1) u is for them. Samples of very different size change nothing in this. All products
 * are normal numbers: the smallest sample above 0 is 2^-24 / 1000, the smallest weight 1 / 7546. */
double gf_expect_tolerance(const struct gf_ladder_work *work)
{
    return ((double)gf_expect_taps(work) + 1) * 0x1p-24;
}

/* ---- the sums ---- */

/* Samples [first, first + count) of a row of `width`, 0 outside. */
static inline __attribute__((always_inline)) void read_line(double *line, const float *row,
                                                            int64_t first, int64_t count,
                                                            int64_t width)
{
    int64_t begin = first < 0 ? -first : 0, end = width - first;

    begin = begin < count ? begin : count;
    end = end < begin ? begin : end < count ? end : count;
    for (int64_t i = 0; i < begin; i++)
        line[i] = 0;
    for (int64_t i = begin; i < end; i++)
        line[i] = (double)row[first + i];
    for (int64_t i = end; i < count; i++)
        line[i] = 0;
}

static inline __attribute__((always_inline)) void add_taps(double *sum, const double *line,
                                                           const double *weight, uint32_t taps,
                                                           int64_t count)
{
    for (int64_t x = 0; x < count; x++) {
        double s = sum[x];
        for (uint32_t i = 0; i < taps; i++)
            s += weight[i] * line[x + i];
        sum[x] = s;
    }
}

/* A row of taps over `count` outputs, the first of them over sample `first` of the row. */
struct line {
    const float *row;
    int64_t first, count, width;
    uint32_t taps;
    const double *weight;
};

static inline __attribute__((always_inline)) void add_any(double *sum, const struct line *l)
{
    double line[PIECE + MOST_SIDE - 1];

    read_line(line, l->row, l->first, l->count + l->taps - 1, l->width);
    switch (l->taps) { /* so that the compiler can unroll and vectorise */
    case 3: add_taps(sum, line, l->weight, 3, l->count); break;
    case 5: add_taps(sum, line, l->weight, 5, l->count); break;
    case 7: add_taps(sum, line, l->weight, 7, l->count); break;
    case 9: add_taps(sum, line, l->weight, 9, l->count); break;
    default: add_taps(sum, line, l->weight, l->taps, l->count); break;
    }
}

/* The same additions, with more of them in an instruction. */
static void add_plain(double *sum, const struct line *l) { add_any(sum, l); }
#ifdef __x86_64__
__attribute__((target("avx2"))) static void add_avx2(double *sum, const struct line *l)
{
    add_any(sum, l);
}
__attribute__((target("avx512f"))) static void add_avx512(double *sum, const struct line *l)
{
    add_any(sum, l);
}
#endif

static add_line *add_function(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return add_avx512;
    if (__builtin_cpu_supports("avx2"))
        return add_avx2;
#endif
    return add_plain;
}

struct job {
    const struct gf_expect *expect;
    const float *in;            /* of the sums; */
    const float *got;           /* of the comparison */
    uint64_t pitch, plane;
};

static void sum_row(void *context, unsigned worker, uint64_t row)
{
    const struct job *job = context;
    const struct gf_expect *x = job->expect;
    uint64_t y = row % x->out[1], z = row / x->out[1];

    (void)worker;
    if (gf_signal_pending())
        return;
    for (uint64_t begin = 0; begin < x->out[0]; begin += PIECE) {
        uint64_t count = gf_min(PIECE, x->out[0] - begin);
        double *sum = x->want + row * x->out[0] + begin;
        for (uint64_t i = 0; i < count; i++)
            sum[i] = 0;
        for (uint32_t n = 0; n < x->taps[1] * x->taps[2]; n++) {
            /* Above and in front of the input these wrap round and are too large as well. */
            uint64_t from_y = y + n % x->taps[1] - x->lead;
            uint64_t from_z = x->taps[2] == 1 ? z : z + n / x->taps[1] - x->lead;
            if (from_y >= x->in[1] || from_z >= x->in[2])
                continue;
            x->add(sum, &(struct line){job->in + (from_z * x->in[1] + from_y) * x->in[0],
                                       (int64_t)(begin - x->lead), (int64_t)count,
                                       (int64_t)x->in[0], x->taps[0],
                                       x->weight + n * x->taps[0]});
        }
    }
}

static uint64_t rows_of(const struct gf_expect *x) { return x->out[1] * x->out[2]; }

enum gf_status gf_expect_open(const struct gf_ladder_work *work, const float *mask,
                              const float *in, unsigned threads, struct gf_expect **expect,
                              struct gf_error *e)
{
    struct job job = {.in = in};
    struct gf_expect *x;
    uint64_t outputs;
    enum gf_status status;

    *expect = NULL;
    if (work->taps > MOST_SIDE || gf_expect_taps(work) > GF_EXPECT_MOST_TAPS)
        return gf_fail(e, GF_EUSAGE, "a mask of %u taps along an axis: too many",
                       (unsigned)work->taps);
    x = gf_alloc_zero(1, sizeof *x);
    if (x == NULL)
        return gf_fail(e, GF_EMEMORY, "the right answer: out of memory");
    x->threads = threads > 0 ? threads : 1;
    for (int a = 0; a < 3; a++) {
        x->in[a] = work->size[a];
        x->taps[a] = taps_along(work, a);
    }
    gf_expect_size(work, x->out);
    x->add = add_function();
    x->lead = valid_only(work) ? 0 : work->taps / 2;
    for (uint32_t n = 0; n < gf_expect_taps(work); n++)
        x->weight[n] = (double)mask[n];
    if (!gf_mul(x->out[0], x->out[1], &outputs) || !gf_mul(outputs, x->out[2], &outputs))
        outputs = UINT64_MAX;
    status = gf_allocate((void **)&x->want, outputs, sizeof *x->want, "the right answer", e);
    if (status == GF_OK)
        status = gf_allocate((void **)&x->worst, x->threads, sizeof *x->worst, "the right answer",
                             e);
    if (status != GF_OK) {
        gf_expect_close(x);
        return status;
    }
    x->pool = gf_pool_open(x->threads);
    job.expect = x;
    gf_pool_run(x->pool, rows_of(x), sum_row, &job);
    if (gf_signal_pending()) {
        gf_expect_close(x);
        return GF_ESIGNAL;
    }
    *expect = x;
    return GF_OK;
}

void gf_expect_close(struct gf_expect *expect)
{
    if (expect == NULL)
        return;
    gf_pool_close(expect->pool);
    gf_free(expect->want);
    gf_free(expect->worst);
    gf_free(expect);
}

/* ---- the comparison ---- */

static void compare_row(void *context, unsigned worker, uint64_t row)
{
    const struct job *job = context;
    const struct gf_expect *x = job->expect;
    const double *want = x->want + row * x->out[0];
    const float *got = job->got + row / x->out[1] * job->plane + row % x->out[1] * job->pitch;
    double worst = x->worst[worker];

    for (uint64_t i = 0; i < x->out[0]; i++)
        worst = fmax(worst, gf_relative_error((double)got[i], want[i]));
    x->worst[worker] = worst;
}

double gf_expect_error(const struct gf_expect *expect, const float *got, uint64_t pitch,
                       uint64_t plane)
{
    struct job job = {expect, NULL, got, pitch, plane};
    double worst = 0;

    for (unsigned i = 0; i < expect->threads; i++)
        expect->worst[i] = 0;
    gf_pool_run(expect->pool, rows_of(expect), compare_row, &job);
    for (unsigned i = 0; i < expect->threads; i++)
        worst = fmax(worst, expect->worst[i]);
    return worst;
}
