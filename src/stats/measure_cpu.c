/* The CPU's measurer: threads share out the leaves of a feed, and what they find is put together
 * in the leaves' order. */
#include "keys.h"
#include "tally.h"

#include "../alloc.h"
#include "../cpu/pool.h"
#include "../signals.h"
#include "../util.h"

/* Leaves between two looks at what was found. */
#define BATCH 1024

struct cpu {
    const struct gf_measure *measure;
    const struct gf_stats_kernels *kernels;
    unsigned threads;
    struct gf_pool *pool;
    struct gf_tally tally;

    /* The batch in progress. */
    const char *samples;
    uint64_t count;
    struct gf_part *leaf;       /* BATCH */

    uint64_t seen;              /* samples of the batches before */
    struct gf_measured measured;
    __int128 sum;
    unsigned __int128 squares;
    struct gf_moments_tree tree;
};

/* ---- a leaf ---- */

/* Counts, extremes and exact sums; moments have an order of their own. */
static void join(struct gf_part *all, const struct gf_part *part)
{
    if (part->n > 0 && (all->n == 0 || part->min < all->min))
        all->min = part->min;
    if (part->n > 0 && (all->n == 0 || part->max > all->max))
        all->max = part->max;
    all->n += part->n;
    all->nan += part->nan;
    all->plus_inf += part->plus_inf;
    all->minus_inf += part->minus_inf;
    all->sum += part->sum;
    all->squares += part->squares;
}

static void measure_leaf(void *context, unsigned thread, uint64_t i)
{
    const struct cpu *cpu = context;
    enum gf_type type = cpu->measure->type;
    size_t bytes = gf_type_bytes(type);
    uint64_t count = gf_min(cpu->count - i * GF_LEAF, GF_LEAF);
    uint64_t strands = gf_ceil_div(count, GF_STRAND);
    struct gf_part *leaf = &cpu->leaf[i];
    struct gf_moments moments[GF_LEAF_STRANDS];

    if (gf_signal_pending())
        return;
    *leaf = (struct gf_part){.n = 0};
    for (uint64_t s = 0; s < strands; s++) {
        const void *samples = cpu->samples + (i * GF_LEAF + s * GF_STRAND) * bytes;
        size_t size = gf_min(count - s * GF_STRAND, GF_STRAND);
        if (cpu->measure->moments) {
            struct gf_part part;
            cpu->kernels->strand[type](samples, size, &part);
            join(leaf, &part);
            moments[s] = part.moments;
        }
        gf_tally_strand(&cpu->tally, thread, samples, size);
    }
    if (!cpu->measure->moments)
        return;
    for (uint64_t step = 1; step < strands; step *= 2)
        for (uint64_t s = 0; s + step < strands; s += 2 * step)
            moments[s] = gf_moments_merge(moments[s], moments[s + step]);
    leaf->moments = moments[0];
}

/* ---- putting together ---- */

/* The first finite sample of a leaf that equals `value`, one of them, by the places in it. */
static uint64_t find(enum gf_type type, const void *samples, double value, double *found)
{
    uint64_t i = 0;

    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)             \
    case GF_##NAME:                                                        \
        while (gf_value_of_##name(((const ctype *)samples)[i]) != value)   \
            i++;                                                           \
        *found = gf_value_of_##name(((const ctype *)samples)[i]);          \
        break;
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
    return i;
}

/* Looks in the first leaf of the batch that has the batch's extreme, where that is a new one. */
static void place_extremes(struct cpu *cpu, uint64_t leaves, bool first)
{
    struct gf_measured *m = &cpu->measured;
    uint64_t bytes = GF_LEAF * (uint64_t)gf_type_bytes(cpu->measure->type);
    uint64_t low = leaves, high = leaves;

    for (uint64_t i = 0; i < leaves; i++) {
        const struct gf_part *leaf = &cpu->leaf[i];
        if (leaf->n > 0 && (first || leaf->min < m->min)) {
            m->min = leaf->min;
            low = i;
        }
        if (leaf->n > 0 && (first || leaf->max > m->max)) {
            m->max = leaf->max;
            high = i;
        }
        first = first && leaf->n == 0;
    }
    if (low < leaves)
        m->min_at = cpu->seen + low * GF_LEAF +
                    find(cpu->measure->type, cpu->samples + low * bytes, m->min, &m->min);
    if (high < leaves)
        m->max_at = cpu->seen + high * GF_LEAF +
                    find(cpu->measure->type, cpu->samples + high * bytes, m->max, &m->max);
}

static void put_together(struct cpu *cpu, uint64_t leaves)
{
    struct gf_measured *m = &cpu->measured;

    place_extremes(cpu, leaves, m->n == 0);
    for (uint64_t i = 0; i < leaves; i++) {
        const struct gf_part *leaf = &cpu->leaf[i];
        m->n += leaf->n;
        m->nan += leaf->nan;
        m->plus_inf += leaf->plus_inf;
        m->minus_inf += leaf->minus_inf;
        cpu->sum += leaf->sum;
        cpu->squares += leaf->squares;
        if (gf_type_row(cpu->measure->type)->is_float)
            gf_moments_tree_add(&cpu->tree, 0, leaf->moments);
    }
}

/* ---- the measurer ---- */

static void cpu_close(void *state)
{
    struct cpu *cpu = state;

    if (cpu == NULL)
        return;
    gf_pool_close(cpu->pool);
    gf_tally_close(&cpu->tally);
    gf_free(cpu->leaf);
    gf_free(cpu);
}

static enum gf_status prepare(struct cpu *cpu, struct gf_error *e)
{
    void *block;

    GF_TRY(gf_stats_kernels_choose(&cpu->kernels, e));
    GF_TRY(gf_allocate(&block, BATCH, sizeof *cpu->leaf, "statistics", e));
    cpu->leaf = block;
    GF_TRY(gf_tally_open(&cpu->tally, cpu->measure, cpu->kernels, cpu->threads, e));
    cpu->pool = gf_pool_open(cpu->threads);
    return GF_OK;
}

static enum gf_status cpu_open(const struct gf_measure *measure, void **state,
                               struct gf_error *e)
{
    void *block;
    struct cpu *cpu;
    enum gf_status status;

    GF_TRY(gf_allocate(&block, 1, sizeof *cpu, "statistics", e));
    cpu = block;
    *cpu = (struct cpu){.measure = measure, .threads = measure->threads};
    status = prepare(cpu, e);
    if (status != GF_OK) {
        cpu_close(cpu);
        return status;
    }
    *state = cpu;
    return GF_OK;
}

static enum gf_status cpu_feed(void *state, const void *samples, uint64_t count,
                               struct gf_error *e)
{
    struct cpu *cpu = state;
    size_t bytes = gf_type_bytes(cpu->measure->type);

    (void)e;
    cpu->samples = samples;
    while (count > 0) {
        uint64_t leaves;
        cpu->count = gf_min(count, (uint64_t)BATCH * GF_LEAF);
        leaves = gf_ceil_div(cpu->count, GF_LEAF);
        gf_tally_expect(&cpu->tally, cpu->count);
        gf_pool_run(cpu->pool, leaves, measure_leaf, cpu);
        if (gf_signal_pending())
            return GF_ESIGNAL;
        if (cpu->measure->moments)
            put_together(cpu, leaves);
        cpu->samples += cpu->count * bytes;
        cpu->seen += cpu->count;
        count -= cpu->count;
    }
    return GF_OK;
}

static enum gf_status cpu_finish(void *state, struct gf_measured *measured, struct gf_error *e)
{
    struct cpu *cpu = state;

    (void)e;
    *measured = cpu->measured;
    measured->sum = (struct gf_i128){(uint64_t)cpu->sum, (uint64_t)(cpu->sum >> 64)};
    measured->squares = (struct gf_i128){(uint64_t)cpu->squares,
                                         (uint64_t)(cpu->squares >> 64)};
    measured->moments = gf_moments_tree_total(&cpu->tree);
    gf_tally_finish(&cpu->tally, measured);
    return GF_OK;
}

const struct gf_measurer gf_measurer_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .feed = cpu_feed,
    .finish = cpu_finish,
    .close = cpu_close,
};
