/* The plain loop: what the other measurers must find. It follows measure.h and moments.h word by
 * word and sample by sample; tests compare with it, nothing else uses it. */
#include "keys.h"
#include "measure.h"

#include "../alloc.h"
#include "../signals.h"
#include "../util.h"

struct reference {
    const struct gf_measure *measure;
    uint64_t seen;              /* samples of the feeds before */
    struct gf_measured measured;
    __int128 sum, squares;
    struct gf_moments_tree tree;
    uint64_t *keys, *range;
};

struct sample {
    double value;
    uint64_t key;
    bool finite;
};

static struct sample get(enum gf_type type, const void *samples, uint64_t i)
{
    struct sample s = {0, 0, false};

    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)           \
    case GF_##NAME: {                                                    \
        ctype x = ((const ctype *)samples)[i];                           \
        s = (struct sample){gf_value_of_##name(x), gf_key_of_##name(x),  \
                            gf_is_finite_##name(x)};                     \
        break;                                                           \
    }
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
    return s;
}

/* ---- moments of floats ---- */

/* Tiles of a strand under one scale. */
struct run {
    uint64_t n;
    struct gf_scale scale;
    double least;
    struct gf_lane_sums lane[GF_LANES];
};

static void end_run(struct run *run, bool fine, struct gf_moments *strand)
{
    double h1[GF_LANES], l1[GF_LANES], h2[GF_LANES], l2[GF_LANES];
    struct gf_lane_sums sum;

    if (run->n == 0)
        return;
    for (int i = 0; i < GF_LANES; i++) {
        h1[i] = run->lane[i].h1;
        l1[i] = run->lane[i].l1;
        h2[i] = run->lane[i].h2;
        l2[i] = run->lane[i].l2;
    }
    sum = (struct gf_lane_sums){gf_lanes_total(h1), gf_lanes_total(l1), gf_lanes_total(h2),
                           gf_lanes_total(l2)};
    *strand = gf_moments_merge(*strand,
                               gf_strand_end(run->scale, run->n, &sum, fine, run->least));
    *run = (struct run){0};
}

static void add_tile(enum gf_type type, const void *samples, uint64_t first, uint64_t count,
                     struct run *run, struct gf_moments *strand)
{
    double lowest = (double)INFINITY, highest = -(double)INFINITY, least = (double)INFINITY;
    struct gf_scale scale;

    for (uint64_t i = 0; i < count; i++) {
        struct sample s = get(type, samples, first + i);
        if (!s.finite)
            continue;
        lowest = fmin(lowest, s.value);
        highest = fmax(highest, s.value);
        if (s.value != 0)
            least = fmin(least, fabs(s.value));
    }
    if (lowest > highest)
        return;
    scale = gf_scale_of(lowest, highest);
    if (run->n > 0 && !gf_scale_goes_on(run->scale, scale))
        end_run(run, type == GF_F64, strand);
    if (run->n == 0) {
        run->scale = scale;
        run->least = least;
    }
    run->least = fmin(run->least, least);
    for (uint64_t i = 0; i < count; i++) {
        struct sample s = get(type, samples, first + i);
        if (!s.finite)
            continue;
        run->n++;
        /* Where nobody will look at the sums, 2^-exponent may be beyond double. */
        if (run->scale.exponent <= GF_HIGHEST_EXPONENT)
            gf_lane_add(&run->lane[i % GF_LANES], s.value, run->scale.center,
                        gf_power_of_two(-run->scale.exponent), type == GF_F64);
    }
}

static struct gf_moments strand_of(enum gf_type type, const void *samples, uint64_t first,
                                   uint64_t count)
{
    struct gf_moments strand = {.n = 0};
    struct run run = {0};

    for (uint64_t at = 0; at < count; at += GF_TILE)
        add_tile(type, samples, first + at, gf_min(count - at, GF_TILE), &run, &strand);
    end_run(&run, type == GF_F64, &strand);
    return strand;
}

static struct gf_moments leaf_of(enum gf_type type, const void *samples, uint64_t first,
                                 uint64_t count)
{
    struct gf_moments part[GF_LEAF_STRANDS];
    uint64_t strands = gf_ceil_div(count, GF_STRAND);

    for (uint64_t i = 0; i < strands; i++)
        part[i] = strand_of(type, samples, first + i * GF_STRAND,
                            gf_min(count - i * GF_STRAND, GF_STRAND));
    for (uint64_t step = 1; step < strands; step *= 2)
        for (uint64_t i = 0; i + step < strands; i += 2 * step)
            part[i] = gf_moments_merge(part[i], part[i + step]);
    return part[0];
}

/* ---- one sample ---- */

static void add_moments(struct reference *r, struct sample s, uint64_t at)
{
    struct gf_measured *m = &r->measured;

    if (!s.finite) {
        m->nan += s.value != s.value;
        m->plus_inf += s.value > 0;
        m->minus_inf += s.value < 0;
        return;
    }
    if (m->n == 0 || s.value < m->min) {
        m->min = s.value;
        m->min_at = at;
    }
    if (m->n == 0 || s.value > m->max) {
        m->max = s.value;
        m->max_at = at;
    }
    m->n++;
    if (!gf_type_row(r->measure->type)->is_float) {
        r->sum += (int64_t)s.value;
        r->squares += (__int128)(int64_t)s.value * (int64_t)s.value;
    }
}

static void add_key(struct reference *r, uint64_t key)
{
    const struct gf_key_count *keys = &r->measure->keys;
    uint64_t high = keys->shift + 16 < 64 ? key >> (keys->shift + 16) : 0;

    for (unsigned p = 0; p < keys->prefixes; p++)
        if (keys->prefix[p] == high)
            r->keys[(uint64_t)p * GF_KEY_BINS + (key >> keys->shift & 0xffff)]++;
}

static void add_range(struct reference *r, double value)
{
    const struct gf_range_count *range = &r->measure->range;
    int64_t bin = gf_range_bin(value, range->low, range->high,
                               (range->high - range->low) / range->bins, range->bins);

    if (bin < 0)
        r->measured.below++;
    else if (bin == (int64_t)range->bins)
        r->measured.above++;
    else
        r->range[bin]++;
}

/* ---- the measurer ---- */

static void reference_close(void *state)
{
    struct reference *r = state;

    if (r == NULL)
        return;
    gf_free(r->keys);
    gf_free(r->range);
    gf_free(r);
}

static enum gf_status reference_open(const struct gf_measure *measure, void **state,
                                     struct gf_error *e)
{
    struct reference *r = gf_alloc_zero(1, sizeof *r);

    if (r != NULL) {
        r->measure = measure;
        r->keys = gf_alloc_zero((uint64_t)measure->keys.prefixes * GF_KEY_BINS, sizeof *r->keys);
        r->range = gf_alloc_zero(measure->range.bins, sizeof *r->range);
    }
    if (r == NULL || r->keys == NULL || r->range == NULL) {
        reference_close(r);
        return gf_fail(e, GF_EMEMORY, "not enough memory for the reference");
    }
    *state = r;
    return GF_OK;
}

static enum gf_status reference_feed(void *state, const void *samples, uint64_t count,
                                     struct gf_error *e)
{
    struct reference *r = state;
    enum gf_type type = r->measure->type;

    (void)e;
    for (uint64_t i = 0; i < count; i++) {
        struct sample s = get(type, samples, i);
        if (r->measure->moments)
            add_moments(r, s, r->seen + i);
        if (s.finite && r->measure->keys.prefixes > 0)
            add_key(r, s.key);
        if (s.finite && r->measure->range.bins > 0)
            add_range(r, s.value);
    }
    if (r->measure->moments && gf_type_row(type)->is_float)
        for (uint64_t at = 0; at < count; at += GF_LEAF)
            gf_moments_tree_add(&r->tree, 0,
                                leaf_of(type, samples, at, gf_min(count - at, GF_LEAF)));
    r->seen += count;
    return gf_signal_pending() ? GF_ESIGNAL : GF_OK;
}

static enum gf_status reference_finish(void *state, struct gf_measured *measured,
                                       struct gf_error *e)
{
    struct reference *r = state;
    const struct gf_measure *measure = r->measure;

    (void)e;
    for (uint64_t i = 0; i < (uint64_t)measure->keys.prefixes * GF_KEY_BINS; i++)
        measure->keys.count[i] += r->keys[i];
    for (uint64_t i = 0; i < measure->range.bins; i++)
        measure->range.count[i] += r->range[i];
    *measured = r->measured;
    measured->sum = (struct gf_i128){(uint64_t)r->sum, (uint64_t)(r->sum >> 64)};
    measured->squares = (struct gf_i128){(uint64_t)r->squares, (uint64_t)(r->squares >> 64)};
    measured->moments = gf_moments_tree_total(&r->tree);
    return GF_OK;
}

const struct gf_measurer gf_measurer_reference = {
    .name = "reference",
    .open = reference_open,
    .feed = reference_feed,
    .finish = reference_finish,
    .close = reference_close,
};
