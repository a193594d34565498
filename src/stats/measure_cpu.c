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

struct leaf {
    struct gf_part part;
    uint64_t min_at, max_at;    /* in the leaf: the strand's first sample; the extreme itself where
                                 * no leaf that the same thread measured before has as low a
                                 * minimum, as high a maximum */
};

/* A thread takes leaves in their order. */
struct worker {
    void *room;                 /* a leaf that it has read */
    bool any;                   /* a leaf so far had a finite sample */
    double min, max;            /* of all so far */
    enum gf_status failed;      /* to read; it takes no leaf any more */
    uint64_t failed_leaf;       /* of the batch */
    struct gf_error error;
};

struct cpu {
    const struct gf_measure *measure;
    const struct gf_stats_kernels *kernels;
    unsigned threads;
    struct worker *worker;      /* `threads` */
    struct gf_pool *pool;
    struct gf_tally tally;

    /* The batch in progress. */
    const char *samples;        /* or NULL, and they are read: */
    const struct gf_supply *from;
    uint64_t count;
    struct leaf *leaf;          /* BATCH */

    uint64_t seen;              /* samples of the batches before */
    struct gf_measured measured;
    __int128 sum;
    unsigned __int128 squares;
    struct gf_moments_tree tree;
};

/* ---- a leaf ---- */

/* Counts, extremes and exact sums of a strand that begins at `first`; moments have an order of
 * their own. */
static void join(struct leaf *leaf, const struct gf_part *part, uint64_t first)
{
    struct gf_part *all = &leaf->part;

    if (part->n > 0 && (all->n == 0 || part->min < all->min)) {
        all->min = part->min;
        leaf->min_at = first;
    }
    if (part->n > 0 && (all->n == 0 || part->max > all->max)) {
        all->max = part->max;
        leaf->max_at = first;
    }
    all->n += part->n;
    all->nan += part->nan;
    all->plus_inf += part->plus_inf;
    all->minus_inf += part->minus_inf;
    all->sum += part->sum;
    all->squares += part->squares;
}

/* The first sample that equals the finite *value, one of them; *value becomes that one. */
static uint64_t find(enum gf_type type, const void *samples, double *value)
{
    uint64_t i = 0;

    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)              \
    case GF_##NAME:                                                         \
        while (gf_value_of_##name(((const ctype *)samples)[i]) != *value)   \
            i++;                                                            \
        *value = gf_value_of_##name(((const ctype *)samples)[i]);           \
        break;
    GF_TYPES(X)
#undef X
    case GF_TYPE_COUNT:
        break;
    }
    return i;
}

static void place_extremes(const struct cpu *cpu, struct worker *w, struct leaf *leaf,
                           const char *samples)
{
    const enum gf_type type = cpu->measure->type;
    const size_t bytes = gf_type_bytes(type);
    struct gf_part *part = &leaf->part;

    if (part->n == 0)
        return;
    if (!w->any || part->min < w->min) {
        leaf->min_at += find(type, samples + leaf->min_at * bytes, &part->min);
        w->min = part->min;
    }
    if (!w->any || part->max > w->max) {
        leaf->max_at += find(type, samples + leaf->max_at * bytes, &part->max);
        w->max = part->max;
    }
    w->any = true;
}

/* The samples of the batch's leaf `i`; NULL when they cannot be read. */
static const char *leaf_samples(const struct cpu *cpu, struct worker *w, uint64_t i, uint64_t count)
{
    if (cpu->samples)
        return cpu->samples + i * GF_LEAF * gf_type_bytes(cpu->measure->type);
    w->failed = cpu->from->read(cpu->from->of, cpu->seen + i * GF_LEAF, count, w->room, &w->error);
    w->failed_leaf = i;
    return w->failed == GF_OK ? w->room : NULL;
}

static void measure_leaf(void *context, unsigned thread, uint64_t i)
{
    const struct cpu *cpu = context;
    struct worker *w = &cpu->worker[thread];
    enum gf_type type = cpu->measure->type;
    size_t bytes = gf_type_bytes(type);
    uint64_t count = gf_min(cpu->count - i * GF_LEAF, GF_LEAF);
    uint64_t strands = gf_ceil_div(count, GF_STRAND);
    struct leaf *leaf = &cpu->leaf[i];
    struct gf_moments moments[GF_LEAF_STRANDS];
    const char *all;

    if (w->failed != GF_OK || gf_signal_pending())
        return;
    all = leaf_samples(cpu, w, i, count);
    if (!all)
        return;
    *leaf = (struct leaf){.part = {.n = 0}};
    for (uint64_t s = 0; s < strands; s++) {
        const void *samples = all + s * GF_STRAND * bytes;
        size_t size = gf_min(count - s * GF_STRAND, GF_STRAND);
        if (cpu->measure->moments) {
            struct gf_part part;
            cpu->kernels->strand[type](samples, size, &part);
            join(leaf, &part, s * GF_STRAND);
            moments[s] = part.moments;
        }
        gf_tally_strand(&cpu->tally, thread, samples, size);
    }
    if (!cpu->measure->moments)
        return;
    place_extremes(cpu, w, leaf, all);
    for (uint64_t step = 1; step < strands; step *= 2)
        for (uint64_t s = 0; s + step < strands; s += 2 * step)
            moments[s] = gf_moments_merge(moments[s], moments[s + step]);
    leaf->part.moments = moments[0];
}

/* ---- putting together ---- */

/* An extreme that is new among all leaves is new among its thread's, so that its place is known.
 * `first` is the leaf's. */
static void join_extremes(struct gf_measured *m, const struct leaf *leaf, uint64_t first)
{
    const struct gf_part *part = &leaf->part;

    if (part->n > 0 && (m->n == 0 || part->min < m->min)) {
        m->min = part->min;
        m->min_at = first + leaf->min_at;
    }
    if (part->n > 0 && (m->n == 0 || part->max > m->max)) {
        m->max = part->max;
        m->max_at = first + leaf->max_at;
    }
}

static void put_together(struct cpu *cpu, uint64_t leaves)
{
    struct gf_measured *m = &cpu->measured;

    for (uint64_t i = 0; i < leaves; i++) {
        const struct gf_part *part = &cpu->leaf[i].part;
        join_extremes(m, &cpu->leaf[i], cpu->seen + i * GF_LEAF);
        m->n += part->n;
        m->nan += part->nan;
        m->plus_inf += part->plus_inf;
        m->minus_inf += part->minus_inf;
        cpu->sum += part->sum;
        cpu->squares += part->squares;
        if (gf_type_row(cpu->measure->type)->is_float)
            gf_moments_tree_add(&cpu->tree, 0, part->moments);
    }
}

/* The failure of the first leaf that has one: threads go on until each has met its own. */
static enum gf_status first_failure(const struct cpu *cpu, struct gf_error *e)
{
    const struct worker *first = NULL;

    for (unsigned i = 0; i < cpu->threads; i++) {
        const struct worker *w = &cpu->worker[i];
        if (w->failed != GF_OK && (!first || w->failed_leaf < first->failed_leaf))
            first = w;
    }
    if (!first)
        return GF_OK;
    *e = first->error;
    return first->failed;
}

/* The next `count` samples, at cpu->samples or to be read. */
static enum gf_status measure_samples(struct cpu *cpu, uint64_t count, struct gf_error *e)
{
    const size_t bytes = gf_type_bytes(cpu->measure->type);

    while (count > 0) {
        uint64_t leaves;
        cpu->count = gf_min(count, (uint64_t)BATCH * GF_LEAF);
        leaves = gf_ceil_div(cpu->count, GF_LEAF);
        gf_tally_expect(&cpu->tally, cpu->count);
        gf_pool_run(cpu->pool, leaves, measure_leaf, cpu);
        if (gf_signal_pending())
            return GF_ESIGNAL;
        GF_TRY(first_failure(cpu, e));
        if (cpu->measure->moments)
            put_together(cpu, leaves);
        if (cpu->samples)
            cpu->samples += cpu->count * bytes;
        cpu->seen += cpu->count;
        count -= cpu->count;
    }
    return GF_OK;
}

/* ---- the measurer ---- */

static void cpu_close(void *state)
{
    struct cpu *cpu = state;

    if (cpu == NULL)
        return;
    gf_pool_close(cpu->pool);
    gf_tally_close(&cpu->tally);
    for (unsigned i = 0; cpu->worker && i < cpu->threads; i++)
        gf_free(cpu->worker[i].room);
    gf_free(cpu->worker);
    gf_free(cpu->leaf);
    gf_free(cpu);
}

static enum gf_status prepare(struct cpu *cpu, struct gf_error *e)
{
    void *block;

    GF_TRY(gf_stats_kernels_choose(&cpu->kernels, e));
    GF_TRY(gf_allocate(&block, BATCH, sizeof *cpu->leaf, "statistics", e));
    cpu->leaf = block;
    GF_TRY(gf_allocate(&block, cpu->threads, sizeof *cpu->worker, "statistics", e));
    cpu->worker = memset(block, 0, cpu->threads * sizeof *cpu->worker);
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

    cpu->samples = samples;
    return measure_samples(cpu, count, e);
}

static enum gf_status cpu_pull(void *state, const struct gf_supply *from, uint64_t count,
                               struct gf_error *e)
{
    struct cpu *cpu = state;

    for (unsigned i = 0; i < cpu->threads; i++)
        GF_TRY(gf_allocate(&cpu->worker[i].room, gf_min(count, GF_LEAF),
                           gf_type_bytes(cpu->measure->type), "statistics", e));
    cpu->from = from;
    return measure_samples(cpu, count, e);
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
    .pull = cpu_pull,
    .finish = cpu_finish,
    .close = cpu_close,
};
