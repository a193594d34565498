#include "tally.h"

#include "keys.h"

#include "../alloc.h"
#include "../util.h"

/* ---- which way ---- */

/* Of a key's highest 16 bits, the exponent of a float when it has one. */
static bool finite_top(enum gf_type type, uint64_t top)
{
    static const unsigned exponent[GF_TYPE_COUNT] = {
        [GF_F16] = 0x7c00, [GF_F32] = 0x7f80, [GF_F64] = 0x7ff0};
    uint64_t bits = top & 0x8000 ? top : ~top;

    return exponent[type] == 0 || (bits & exponent[type]) != exponent[type];
}

/* Prefixes that no key has are left out, and so are those of infinities and NaN: what is counted
 * below the others is finite without a look at each sample. */
static void choose_below(struct gf_tally *tally)
{
    const struct gf_key_count *keys = &tally->measure->keys;
    unsigned length = 8 * gf_type_bytes(tally->measure->type) - keys->shift - 16;

    for (unsigned p = 0; p < keys->prefixes; p++) {
        uint64_t prefix = keys->prefix[p];
        if (prefix >> length != 0 || !finite_top(tally->measure->type, prefix >> (length - 16)))
            continue;
        tally->place[tally->way.prefixes] = p;
        tally->way.prefix[tally->way.prefixes++] = prefix;
    }
    tally->way.shift = keys->shift;
    tally->below = tally->way.prefixes > 0;
}

static void choose(struct gf_tally *tally)
{
    const struct gf_measure *measure = tally->measure;
    unsigned bits = 8 * gf_type_bytes(measure->type);

    if (measure->keys.prefixes > 0 && measure->keys.shift + 16 < bits)
        choose_below(tally);
    else if (measure->keys.prefixes > 0)
        tally->top = measure->keys.prefix[0] == 0;
    if (measure->range.bins > 0 && bits <= 16)
        tally->top = true;
    else if (measure->range.bins > 0)
        tally->range = true;
    tally->ranges = measure->range.bins > 0 ? (uint64_t)measure->range.bins + 2 : 0;
    tally->bins = tally->top ? GF_KEY_BINS : (uint64_t)tally->way.prefixes * GF_KEY_BINS;
}

/* ---- ranges ---- */

/* Where counters begin with that of what lies below and end with that of what lies above. */
static uint64_t range_place(const struct gf_range_count *range, double x)
{
    double step = (range->high - range->low) / range->bins;

    return (uint64_t)(gf_range_bin(x, range->low, range->high, step, range->bins) + 1);
}

static void count_range(const struct gf_range_count *range, enum gf_type type,
                        const void *samples, size_t count, uint32_t *counters)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)                     \
    case GF_##NAME:                                                                \
        for (size_t i = 0; i < count; i++) {                                       \
            ctype x = ((const ctype *)samples)[i];                                 \
            if (gf_is_finite_##name(x))                                            \
                counters[range_place(range, gf_value_of_##name(x))]++;             \
        }                                                                          \
        break;
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
}

/* ---- counters ---- */

static enum gf_status zeroed(void **block, uint64_t count, uint64_t size, struct gf_error *e)
{
    GF_TRY(gf_allocate(block, count, size, "counters of samples", e));
    memset(*block, 0, count * size);
    return GF_OK;
}

static enum gf_status open_threads(struct gf_tally *tally, unsigned threads, struct gf_error *e)
{
    uint64_t range = tally->range ? tally->ranges : 0;
    void *block;

    GF_TRY(zeroed(&block, threads, sizeof *tally->thread, e));
    tally->thread = block;
    tally->threads = threads;
    for (unsigned i = 0; i < threads; i++) {
        GF_TRY(zeroed(&block, tally->bins, sizeof(uint32_t), e));
        tally->thread[i].bins = block;
        GF_TRY(zeroed(&block, range, sizeof(uint32_t), e));
        tally->thread[i].range = block;
    }
    return GF_OK;
}

enum gf_status gf_tally_open(struct gf_tally *tally, const struct gf_measure *measure,
                             const struct gf_stats_kernels *kernels, unsigned threads,
                             struct gf_error *e)
{
    void *block;

    tally->measure = measure;
    tally->kernels = kernels;
    choose(tally);
    if (!tally->top && !tally->below && !tally->range)
        return GF_OK;
    GF_TRY(zeroed(&block, tally->bins, sizeof(uint64_t), e));
    tally->wide_bins = block;
    GF_TRY(zeroed(&block, tally->ranges, sizeof(uint64_t), e));
    tally->wide_range = block;
    return open_threads(tally, threads, e);
}

void gf_tally_close(struct gf_tally *tally)
{
    for (unsigned i = 0; i < tally->threads; i++) {
        gf_free(tally->thread[i].bins);
        gf_free(tally->thread[i].range);
    }
    gf_free(tally->thread);
    gf_free(tally->wide_bins);
    gf_free(tally->wide_range);
}

static void empty(uint32_t *narrow, uint64_t *wide, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        wide[i] += narrow[i];
        narrow[i] = 0;
    }
}

static void widen(struct gf_tally *tally)
{
    for (unsigned i = 0; i < tally->threads; i++) {
        empty(tally->thread[i].bins, tally->wide_bins, tally->bins);
        if (tally->range)
            empty(tally->thread[i].range, tally->wide_range, tally->ranges);
    }
    tally->pending = 0;
}

void gf_tally_expect(struct gf_tally *tally, uint64_t count)
{
    if (tally->pending + count > UINT32_MAX)
        widen(tally);
    tally->pending += count;
}

void gf_tally_strand(const struct gf_tally *tally, unsigned thread, const void *samples,
                     size_t count)
{
    const struct gf_measure *measure = tally->measure;
    struct gf_tally_thread *t;

    if (tally->threads == 0)
        return;
    t = &tally->thread[thread];
    if (tally->top)
        tally->kernels->count_top[measure->type](samples, count, t->bins);
    if (tally->below)
        tally->kernels->count_below[measure->type](samples, count, &tally->way, t->bins);
    if (tally->range)
        count_range(&measure->range, measure->type, samples, count, t->range);
}

/* ---- the end ---- */

/* Key and value of a bin of count_top: the sample itself where that has up to 16 bits, else the
 * highest bits of the key and no value. */
static uint64_t bin_key(enum gf_type type, uint64_t bin, double *value)
{
    switch (type) {
#define KEY_1(NAME, name, ctype)                     \
    case GF_##NAME:                                  \
        *value = gf_value_of_##name((ctype)bin);     \
        return gf_key_of_##name((ctype)bin);
#define KEY_2 KEY_1
#define KEY_4(NAME, name, ctype)
#define KEY_8 KEY_4
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) KEY_##bytes(NAME, name, ctype)
    GF_TYPES(X)
#undef X
    default:
        *value = 0;
        return bin;
    }
}

static void finish_top(const struct gf_tally *tally)
{
    const struct gf_measure *measure = tally->measure;
    bool keys = measure->keys.prefixes > 0 && measure->keys.prefix[0] == 0;
    bool range = tally->ranges > 0 && !tally->range;
    /* Shifted out as a whole, all keys are 0. */
    bool kept = measure->keys.shift < 8 * gf_type_bytes(measure->type);

    for (uint64_t bin = 0; bin < GF_KEY_BINS; bin++) {
        double value;
        uint64_t key = bin_key(measure->type, bin, &value);
        if (!finite_top(measure->type, key))
            continue;
        if (keys)
            measure->keys.count[kept ? key : 0] += tally->wide_bins[bin];
        if (range && tally->wide_bins[bin] > 0)
            tally->wide_range[range_place(&measure->range, value)] += tally->wide_bins[bin];
    }
}

void gf_tally_finish(struct gf_tally *tally, struct gf_measured *measured)
{
    const struct gf_measure *measure = tally->measure;

    widen(tally);
    if (tally->top)
        finish_top(tally);
    for (unsigned p = 0; p < tally->way.prefixes; p++)
        for (uint64_t bin = 0; bin < GF_KEY_BINS; bin++)
            measure->keys.count[(uint64_t)tally->place[p] * GF_KEY_BINS + bin] +=
                tally->wide_bins[(uint64_t)p * GF_KEY_BINS + bin];
    if (tally->ranges == 0)
        return;
    measured->below += tally->wide_range[0];
    measured->above += tally->wide_range[tally->ranges - 1];
    for (uint64_t bin = 0; bin < measure->range.bins; bin++)
        measure->range.count[bin] += tally->wide_range[bin + 1];
}
