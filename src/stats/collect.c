#include "collect.h"

#include "../alloc.h"
#include "../cpu/pool.h"
#include "../util.h"
#include "entropy.h"
#include "order.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many samples are sorted sooner than their keys counted, which goes through all counters. */
#define FEW 8192
/* What repays the start of a thread. */
#define THREAD_SAMPLES (8 * GF_LEAF)

_Static_assert(GF_RANKS == 2 * (GF_PERCENTILES + 1), "two for each percentile and the median");

struct collecting {
    const struct gf_source *source;
    const struct gf_stats_options *options;
    const struct gf_columns *needs;
    const struct gf_measuring *how;
    struct gf_stats *stats;
    bool small;                 /* keys of 16 bits at most: one count of them tells everything */
    bool ordered;               /* ranks are looked for */
    bool few;                   /* ranks and values are found by sorting */
    struct gf_order order;
    uint64_t *keys;             /* counts of the pass under way; of few samples the keys */
    uint64_t few_keys;          /* how many of them so far */
    bool few_values;            /* the entropy is that of few keys, and there is no histogram */
};

/* ---- exact sums ---- */

/* Samples are shared out among threads, each with an accumulator of its own. */
struct exact_sums {
    enum gf_type type;
    struct gf_pool *pool;
    unsigned threads;
    struct gf_exact **of;       /* of each thread */
    const char *samples;        /* what is being added */
    uint64_t count;
};

static void add_leaf(void *context, unsigned worker, uint64_t i)
{
    const struct exact_sums *x = context;
    uint64_t first = i * GF_LEAF;
    gf_exact_add(x->of[worker], x->type, x->samples + first * gf_type_bytes(x->type),
                 x->count - first < GF_LEAF ? x->count - first : GF_LEAF);
}

static enum gf_status exact_feed(void *state, const void *samples, uint64_t count,
                                 struct gf_error *e)
{
    struct exact_sums *x = state;
    (void)e;
    x->samples = samples;
    x->count = count;
    gf_pool_run(x->pool, (count + GF_LEAF - 1) / GF_LEAF, add_leaf, x);
    return GF_OK;
}

static void exact_close(struct exact_sums *x)
{
    gf_pool_close(x->pool);
    for (unsigned i = 0; x->of && i < x->threads; i++)
        gf_exact_free(x->of[i]);
    gf_free(x->of);
}

static enum gf_status exact_open(struct exact_sums *x, const struct collecting *c,
                                 struct gf_error *e)
{
    void *block;
    memset(x, 0, sizeof *x);
    x->type = c->source->type;
    x->threads = c->how->threads;
    GF_TRY(gf_allocate(&block, x->threads, sizeof *x->of, c->source->name, e));
    x->of = memset(block, 0, x->threads * sizeof *x->of);
    for (unsigned i = 0; i < x->threads; i++)
        if (!(x->of[i] = gf_exact_new()))
            return gf_fail(e, GF_EMEMORY, "%s: out of memory; raise --max-memory, or use fewer "
                           "threads with -j", c->source->name);
    x->pool = gf_pool_open(x->threads);
    return GF_OK;
}

static void exact_take(const struct exact_sums *x, struct gf_stats *stats)
{
    for (unsigned i = 1; i < x->threads; i++)
        gf_exact_join(x->of[0], x->of[i]);
    stats->moments = gf_exact_results(x->of[0], stats->ddof);
}

/* ---- few samples ---- */

static enum gf_status few_feed(void *state, const void *samples, uint64_t count,
                               struct gf_error *e)
{
    struct collecting *c = state;
    (void)e;
    gf_keys_of(c->source->type, samples, count, c->keys + c->few_keys);
    c->few_keys += count;
    return GF_OK;
}

/* ---- a pass ---- */

static enum gf_status measure_pass(struct collecting *c, const struct gf_measure *measure,
                                   struct exact_sums *exact, struct gf_measured *measured,
                                   struct gf_error *e)
{
    const struct gf_measurer *m = c->how->measurer;
    bool wanted = measure->moments || measure->keys.prefixes || measure->range.bins;
    struct gf_sink sinks[3];
    unsigned count = 0;
    void *state = NULL;
    enum gf_status status = wanted ? m->open(measure, &state, e) : GF_OK;
    if (wanted)
        sinks[count++] = (struct gf_sink){m->feed, m->pull, state, m->name};
    if (exact)
        sinks[count++] = (struct gf_sink){.feed = exact_feed, .state = exact};
    if (c->few && measure->moments)
        sinks[count++] = (struct gf_sink){.feed = few_feed, .state = c};
    if (status == GF_OK)
        status = c->source->run(c->source->of, sinks, count, e);
    if (status == GF_OK && wanted)
        status = m->finish(state, measured, e);
    m->close(state);
    return status;
}

static struct gf_measure new_measure(const struct collecting *c)
{
    const uint64_t most = c->source->most, worth = gf_max(most / THREAD_SAMPLES, 1);
    unsigned threads = c->how->threads;
    if (most > 0 && worth < threads)
        threads = (unsigned)worth;
    return (struct gf_measure){.type = c->source->type, .threads = threads,
                               .gpu = c->how->gpu, .gpu_memory = c->how->gpu_memory};
}

/* ---- histograms ---- */

static enum gf_status new_histogram(struct collecting *c, enum gf_bin_kind kind, uint32_t bins,
                                    double low, double high, struct gf_error *e)
{
    struct gf_histogram *h = &c->stats->histogram;
    void *block;
    GF_TRY(gf_allocate(&block, bins, sizeof *h->count, c->source->name, e));
    *h = (struct gf_histogram){.kind = kind, .low = low, .high = high, .bins = bins,
                               .count = memset(block, 0, bins * sizeof *h->count)};
    return GF_OK;
}

static bool has_values(const struct collecting *c)
{
    return c->small && c->source->type != GF_F16 && !c->options->bins && !c->options->range_given;
}

/* Or else only its entropy is wanted. */
static bool shows_histogram(const struct collecting *c)
{
    bool shown = c->options->plot || c->options->plot_file;
    for (unsigned i = 0; i < c->needs->count; i++)
        shown = shown || c->needs->column[i].row->kind == GF_KIND_HISTOGRAM;
    return shown;
}

/* No bins can be made: an error where they are to be shown, else there is no entropy. */
static enum gf_status no_bins(const struct collecting *c, double low, double high, uint32_t bins,
                              struct gf_error *e)
{
    if (!shows_histogram(c))
        return GF_OK;
    return gf_fail(e, GF_EFEATURE, "%s: values from %g to %g have no %u even bins; give --range "
                   "LOW,HIGH, or fewer with --bins", c->source->name, low, high, bins);
}

/* An even histogram, over --range or from min to max; where these are one, half a unit to each
 * side as numpy has it. */
static enum gf_status new_even_histogram(struct collecting *c, struct gf_error *e)
{
    const struct gf_stats_options *o = c->options;
    const struct gf_stats *s = c->stats;
    const uint32_t bins = o->bins ? o->bins : GF_DEFAULT_BINS;
    double low = o->low, high = o->high;
    if (!o->range_given) {
        low = s->n > 0 ? s->min : 0;
        high = s->n > 0 ? s->max : 1;
        if (low == high) {
            low -= 0.5;
            high += 0.5;
        }
    }
    /* A range beyond that of double, half a unit that is nothing, widths of 0 among denormals. */
    if (!isfinite(high - low) || !(high > low) || !((high - low) / bins > 0))
        return no_bins(c, low, high, bins, e);
    return new_histogram(c, GF_BINS_RANGE, bins, low, high, e);
}

static void count_key(struct collecting *c, uint64_t key, uint64_t count)
{
    struct gf_histogram *h = &c->stats->histogram;
    const double step = (h->high - h->low) / h->bins;
    const int64_t bin = h->kind == GF_BINS_VALUES
                            ? (int64_t)key
                            : gf_range_bin(gf_key_value(c->source->type, key), h->low, h->high,
                                           step, h->bins);
    *(bin < 0 ? &h->below : bin == h->bins ? &h->above : &h->count[bin]) += count;
}

/* Of keys of 16 bits at most: from their counts, or from few keys. */
static enum gf_status histogram_of_keys(struct collecting *c, struct gf_error *e)
{
    const struct gf_type_row *row = gf_type_row(c->source->type);
    const uint32_t keys = row->bytes == 1 ? 256 : GF_KEY_BINS;
    if (has_values(c))
        GF_TRY(new_histogram(c, GF_BINS_VALUES, keys, row->lowest, row->highest, e));
    else
        GF_TRY(new_even_histogram(c, e));
    if (c->stats->histogram.kind == GF_BINS_NONE)
        return GF_OK;
    for (uint64_t i = 0; c->few && i < c->stats->n; i++)
        count_key(c, c->keys[i], 1);
    for (uint32_t key = 0; !c->few && key < keys; key++)
        if (c->keys[key] > 0)
            count_key(c, key, c->keys[key]);
    return GF_OK;
}

/* The entropy of the values of few samples, whose sorted keys give way to how often each of them
 * occurs: what is not there is not gone through. */
static double entropy_of_few(struct collecting *c)
{
    uint64_t values = 0, first = 0;
    for (uint64_t i = 0; i < c->stats->n; i++)
        if (i + 1 == c->stats->n || c->keys[i + 1] != c->keys[i]) {
            c->keys[values++] = i + 1 - first;
            first = i + 1;
        }
    return gf_entropy(c->keys, values);
}

/* ---- order statistics ---- */

/* The two ranks of a percentile, at places 2i and 2i + 1; the median is the last. */
static double wanted_percentile(const struct collecting *c, unsigned i)
{
    return i < c->needs->percentiles ? c->needs->percentile[i] : 50;
}

static unsigned wanted_percentiles(const struct collecting *c)
{
    return c->needs->percentiles + c->needs->need_median;
}

static void begin_order(struct collecting *c)
{
    uint64_t rank[GF_RANKS];
    double part;
    for (unsigned i = 0; i < wanted_percentiles(c); i++) {
        gf_percentile_rank(c->stats->n, wanted_percentile(c, i), &rank[2 * i], &part);
        rank[2 * i + 1] = rank[2 * i] + (part > 0);
    }
    gf_order_begin(&c->order, c->source->type, rank, 2 * wanted_percentiles(c));
}

static void take_percentiles(struct collecting *c)
{
    struct gf_stats *s = c->stats;
    s->percentiles = c->needs->percentiles;
    s->median = NAN;
    for (unsigned i = 0; i < wanted_percentiles(c); i++) {
        uint64_t rank;
        double part, below = NAN, above = NAN;
        if (s->n > 0) {
            gf_percentile_rank(s->n, wanted_percentile(c, i), &rank, &part);
            below = gf_order_value(&c->order, 2 * i);
            above = gf_order_value(&c->order, 2 * i + 1);
        }
        if (i == c->needs->percentiles) {
            s->median = gf_median_value(below, above);
            continue;
        }
        s->p[i] = wanted_percentile(c, i);
        s->percentile[i] = s->n > 0 ? gf_percentile_value(below, above, part) : NAN;
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *l = a, *r = b;
    return (*l > *r) - (*l < *r);
}

/* Keys of finite samples come first. */
static void sort_few(struct collecting *c)
{
    qsort(c->keys, c->few_keys, sizeof *c->keys, by_key);
    gf_order_sorted(&c->order, c->keys);
}

/* ---- the first pass, and those after it ---- */

static enum gf_status take_first(struct collecting *c, const struct gf_measured *m,
                                 struct gf_error *e)
{
    struct gf_stats *s = c->stats;
    s->n = m->n;
    s->n_nan = m->nan;
    s->n_plus_inf = m->plus_inf;
    s->n_minus_inf = m->minus_inf;
    s->min = m->n > 0 ? m->min : NAN;
    s->max = m->n > 0 ? m->max : NAN;
    s->exact_sum = !gf_type_row(c->source->type)->is_float;
    s->whole_sum = m->sum;
    s->moments = s->exact_sum ? gf_integer_results(m->n, m->sum, m->squares, s->ddof)
                              : gf_moments_finish(&m->moments, s->ddof);
    if (m->n == 0)
        return GF_OK;
    GF_TRY(c->source->place(c->source->of, m->min_at, &s->min_at, e));
    return c->source->place(c->source->of, m->max_at, &s->max_at, e);
}

/* Whether keys are needed of the first pass: for ranks, or for the values' histogram. */
static bool needs_keys(const struct collecting *c)
{
    return c->ordered || (c->needs->need_histogram && c->small);
}

/* For the first pass. */
static enum gf_status new_keys(struct collecting *c, struct gf_error *e)
{
    const uint64_t count = c->few ? c->source->most : needs_keys(c) ? GF_KEY_BINS : 0;
    void *block;
    GF_TRY(gf_allocate(&block, count, sizeof *c->keys, c->source->name, e));
    c->keys = memset(block, 0, count * sizeof *c->keys);
    return GF_OK;
}

static enum gf_status first_pass(struct collecting *c, struct gf_error *e)
{
    static const uint64_t none = 0;
    struct gf_measure measure = new_measure(c);
    struct gf_measured measured = {0};
    struct gf_histogram *h = &c->stats->histogram;
    measure.moments = true;
    if (needs_keys(c) && !c->few)
        measure.keys = (struct gf_key_count){1, 16 * (gf_order_levels(c->source->type) - 1), &none,
                                             c->keys};
    if (c->needs->need_histogram && !c->small && c->options->range_given) {
        GF_TRY(new_even_histogram(c, e));
        measure.range = (struct gf_range_count){h->bins, h->low, h->high, h->count};
    }
    GF_TRY(measure_pass(c, &measure, NULL, &measured, e));
    h->below = measured.below;
    h->above = measured.above;
    GF_TRY(take_first(c, &measured, e));
    if (c->ordered && c->stats->n > 0)
        begin_order(c);
    if (c->few)
        sort_few(c);
    else if (c->ordered && c->stats->n > 0)
        gf_order_next(&c->order, &none, 1, c->keys);
    return c->needs->need_histogram && c->small && !c->few_values ? histogram_of_keys(c, e) : GF_OK;
}

/* Counts the keys of one pass's prefixes, some at a time; the first time with what else is to
 * be done. */
static enum gf_status later_pass(struct collecting *c, struct gf_measure *measure,
                                 struct exact_sums *exact, struct gf_measured *measured,
                                 struct gf_error *e)
{
    uint64_t prefix[GF_RANKS];
    unsigned prefixes = gf_order_prefixes(&c->order, prefix), n;
    void *block;
    gf_free(c->keys);
    c->keys = NULL;
    GF_TRY(gf_allocate(&block, prefixes, GF_KEY_BINS * sizeof *c->keys, c->source->name, e));
    c->keys = memset(block, 0, prefixes * GF_KEY_BINS * sizeof *c->keys);
    for (unsigned i = 0; i < prefixes; i += n) {
        n = prefixes - i < GF_KEY_PREFIXES ? prefixes - i : GF_KEY_PREFIXES;
        measure->keys = (struct gf_key_count){n, gf_order_shift(&c->order), prefix + i,
                                              c->keys + (size_t)i * GF_KEY_BINS};
        GF_TRY(measure_pass(c, measure, exact, measured, e));
        *measure = new_measure(c);
        exact = NULL;
    }
    gf_order_next(&c->order, prefix, prefixes, c->keys);
    return GF_OK;
}

static enum gf_status later_passes(struct collecting *c, struct exact_sums *exact,
                                   struct gf_error *e)
{
    struct gf_measure measure = new_measure(c);
    struct gf_measured measured = {0};
    struct gf_histogram *h = &c->stats->histogram;
    bool even = c->needs->need_histogram && !c->few_values && h->kind == GF_BINS_NONE;
    bool ordered = c->ordered && c->stats->n > 0;
    if (even) {
        GF_TRY(new_even_histogram(c, e));
        measure.range = (struct gf_range_count){h->bins, h->low, h->high, h->count};
    }
    if (ordered && c->order.level < c->order.levels) {
        GF_TRY(later_pass(c, &measure, exact, &measured, e));
    } else if (even || exact) {
        GF_TRY(measure_pass(c, &measure, exact, &measured, e));
    }
    if (even) {
        h->below = measured.below;
        h->above = measured.above;
    }
    if (exact)
        exact_take(exact, c->stats);
    while (ordered && c->order.level < c->order.levels) {
        measure = new_measure(c);
        GF_TRY(later_pass(c, &measure, NULL, &measured, e));
    }
    return GF_OK;
}

static enum gf_status collect(struct collecting *c, struct gf_error *e)
{
    struct exact_sums exact;
    enum gf_status status;
    GF_TRY(new_keys(c, e));
    GF_TRY(first_pass(c, e));
    if (c->stats->moments.sure) {
        GF_TRY(later_passes(c, NULL, e));
    } else {
        status = exact_open(&exact, c, e);
        if (status == GF_OK)
            status = later_passes(c, &exact, e);
        exact_close(&exact);
        GF_TRY(status);
    }
    take_percentiles(c);
    c->stats->entropy = c->few_values ? entropy_of_few(c)
                        : c->needs->need_histogram
                            ? gf_entropy(c->stats->histogram.count, c->stats->histogram.bins)
                            : NAN;
    return GF_OK;
}

void gf_stats_free(struct gf_stats *stats)
{
    gf_free(stats->histogram.count);
    stats->histogram.count = NULL;
}

bool gf_collect_again(enum gf_type type, const struct gf_columns *needs)
{
    return gf_type_row(type)->is_float ||
           (gf_order_levels(type) > 1 &&
            (needs->need_histogram || needs->need_median || needs->percentiles > 0));
}

enum gf_status gf_collect(const struct gf_source *source, const struct gf_stats_options *options,
                          const struct gf_columns *needs, const struct gf_measuring *how,
                          struct gf_stats *stats, struct gf_error *e)
{
    struct collecting c = {.source = source, .options = options, .needs = needs, .how = how,
                           .stats = stats, .small = gf_order_levels(source->type) == 1,
                           .ordered = needs->need_median || needs->percentiles > 0};
    enum gf_status status;
    c.few = needs_keys(&c) && source->most > 0 && source->most <= FEW;
    c.few_values = c.few && needs->need_histogram && has_values(&c) && !shows_histogram(&c);
    stats->type = source->type;
    stats->ddof = options->ddof;
    status = collect(&c, e);
    gf_free(c.keys);
    return status;
}
