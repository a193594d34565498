#include "sums.h"

#include "alloc.h"
#include "cpu/pool.h"
#include "processors.h"
#include "signals.h"
#include "stats/wide.h"
#include "util.h"

#include <string.h>

/* A task takes so many samples. */
enum { PIECE = 1 << 14 };

/* What a thread has found so far. */
struct share {
    uint64_t whole;             /* a sum of whole numbers, or a count */
    uint32_t parity;
    struct gf_exact *exact;
    float *samples;             /* PIECE */
};

struct shares {
    uint64_t n;
    bool stress;
    unsigned bits;              /* of gf_mark_bits */
    const float *given;
    float *to;
    void (*piece)(const struct shares *all, struct share *s, uint64_t begin, uint64_t end);
    struct share *share;
    unsigned threads;
};

/* ---- pieces ---- */

/* Of samples that are multiples of 2^-24 below 1. */
static void add_samples(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    (void)all;
    for (uint64_t i = begin; i < end; i++)
        s->whole += (uint64_t)(gf_ladder_sample(i, false) * 16777216.0f);
}

static void add_stress(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    (void)all;
    for (uint64_t i = begin; i < end; i++)
        s->samples[i - begin] = gf_ladder_sample(i, true);
    gf_exact_add(s->exact, GF_F32, s->samples, end - begin);
}

static void add_marks(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        s->whole += (uint64_t)gf_ladder_mark(i, all->n, all->bits);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void join_bits(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        s->parity ^= bits_of(gf_ladder_sample(i, all->stress));
}

static void compare_bits(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        s->whole += bits_of(all->given[i]) != bits_of(gf_ladder_sample(i, all->stress));
}

static void fill(const struct shares *all, struct share *s, uint64_t begin, uint64_t end)
{
    (void)s;
    for (uint64_t i = begin; i < end; i++)
        all->to[i] = gf_ladder_sample(i, all->stress);
}

/* ---- sharing them out ---- */

static void run_piece(void *context, unsigned worker, uint64_t i)
{
    const struct shares *all = context;
    uint64_t begin = i * PIECE;

    if (gf_signal_pending())
        return;
    all->piece(all, &all->share[worker], begin, gf_min(begin + PIECE, all->n));
}

static bool make_exact(struct shares *all)
{
    for (unsigned i = 0; i < all->threads; i++) {
        all->share[i].exact = gf_exact_new();
        all->share[i].samples = gf_alloc(PIECE, sizeof(float));
        if (all->share[i].exact == NULL || all->share[i].samples == NULL)
            return false;
    }
    return true;
}

/* Joins all shares in the first one, and the sum of the exact ones in *sum. */
static void join(struct shares *all, double *sum)
{
    struct share *first = all->share;

    for (unsigned i = 1; i < all->threads; i++) {
        first->whole += all->share[i].whole;
        first->parity ^= all->share[i].parity;
        if (first->exact != NULL)
            gf_exact_join(first->exact, all->share[i].exact);
    }
    if (first->exact != NULL)
        *sum = gf_exact_results(first->exact, 0).sum;
}

/* Runs all->piece over [0, n); *found is what all threads found, *sum that of GF_SUM_STRESS. */
static enum gf_status share_out(struct shares *all, struct share *found, double *sum,
                                struct gf_error *e)
{
    struct gf_pool *pool;
    enum gf_status status = GF_OK;

    all->threads = (unsigned)gf_min(gf_processors(), gf_ceil_div(all->n, PIECE));
    all->share = gf_alloc_zero(all->threads, sizeof *all->share);
    pool = gf_pool_open(all->threads);
    if (all->share == NULL || (all->piece == add_stress && !make_exact(all))) {
        status = gf_fail(e, GF_EMEMORY, "no memory is left for the right sum; use fewer samples");
    } else {
        gf_pool_run(pool, gf_ceil_div(all->n, PIECE), run_piece, all);
        join(all, sum);
        *found = all->share[0];
        status = gf_signal_pending() ? GF_ESIGNAL : GF_OK;
    }
    gf_pool_close(pool);
    for (unsigned i = 0; all->share != NULL && i < all->threads; i++) {
        gf_exact_free(all->share[i].exact);
        gf_free(all->share[i].samples);
    }
    gf_free(all->share);
    return status;
}

enum gf_status gf_ladder_sum(enum gf_sum_of of, uint64_t n, double *sum, struct gf_error *e)
{
    struct shares all = {.n = n, .bits = gf_mark_bits(n)};
    struct share found = {0};

    all.piece = of == GF_SUM_SAMPLES ? add_samples : of == GF_SUM_MARKS ? add_marks : add_stress;
    GF_TRY(share_out(&all, &found, sum, e));
    if (of == GF_SUM_SAMPLES)
        *sum = (double)found.whole * 0x1p-24;
    else if (of == GF_SUM_MARKS)
        *sum = (double)found.whole;
    return GF_OK;
}

enum gf_status gf_ladder_parity(uint64_t n, bool stress, uint32_t *parity, struct gf_error *e)
{
    struct shares all = {.n = n, .stress = stress, .piece = join_bits};
    struct share found = {0};
    double none;

    GF_TRY(share_out(&all, &found, &none, e));
    *parity = found.parity;
    return GF_OK;
}

enum gf_status gf_ladder_fill(float *samples, uint64_t n, bool stress, struct gf_error *e)
{
    struct shares all = {.n = n, .stress = stress, .to = samples, .piece = fill};
    struct share found = {0};
    double none;

    return share_out(&all, &found, &none, e);
}

enum gf_status gf_ladder_differ(const float *samples, uint64_t n, bool stress, uint64_t *count,
                                struct gf_error *e)
{
    struct shares all = {.n = n, .stress = stress, .given = samples, .piece = compare_bits};
    struct share found = {0};
    double none;

    GF_TRY(share_out(&all, &found, &none, e));
    *count = found.whole;
    return GF_OK;
}
