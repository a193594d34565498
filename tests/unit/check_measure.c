/* Every measurer against the reference, to the last bit, the CPU's for every instruction set this
 * machine has, with several thread counts and sequences fed in several ways.
 * First fixed sequences (every length up to 2000, lengths around those of tiles, strands and
 * leaves, large primes), then random ones until the time is up.
 *
 *   check_measure --backend NAME [--some] [--seed N] [--seconds N]
 *
 * Exit status 77 when its device is not there, unless GPUFILT_REQUIRE_GPU=1 is in the
 * environment. --some leaves out most of the fixed sequences: for the slow simt device. A failure
 * prints the sequence and the seed that repeats it. */
#include "alloc.h"
#include "measure_data.h"
#include "stats/keys.h"
#include "stats/measure.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- what is compared ---- */

static const struct gf_measurer *subject;
static const char *levels[3];
static size_t level_count;

static bool try_level(const char *level, struct gf_error *e)
{
    struct gf_measure measure = {.type = GF_U8, .moments = true, .threads = 1};
    void *state = NULL;
    enum gf_status status;

    setenv("GPUFILT_CPU", level, 1);
    status = subject->open(&measure, &state, e);
    subject->close(state);
    if (status == GF_EDEVICE)
        return false;
    levels[level_count++] = level;
    fprintf(stderr, "%s %s\n", subject->name, level);
    return true;
}

/* False when its device is not there. */
static bool find_subject(const char *name)
{
    struct gf_error e = {{0}};

    for (const struct gf_measurer *const *m = gf_measurers; *m != NULL; m++)
        if (strcmp((*m)->name, name) == 0)
            subject = *m;
    if (subject == NULL) {
        fprintf(stderr, "no such measurer: %s\n", name);
        exit(2);
    }
    if (subject != &gf_measurer_cpu) {
        if (!try_level("", &e))
            fprintf(stderr, "not compared: %s: %s\n", name, e.text);
        return level_count > 0;
    }
    try_level("baseline", &e);
    try_level("avx2", &e);
    try_level("avx512", &e);
    return true;
}

/* ---- a sequence and how it is fed ---- */

struct sequence {
    enum gf_type type;
    enum kind kind;
    uint64_t n;
    void *samples;
    struct gf_measure measure;  /* its `count`s are empty */
    uint64_t prefix[GF_KEY_PREFIXES];
    uint64_t leaves_at_once;    /* at most, by one call; 0: all */
    bool pulled;                /* where the measurer can */
};

struct found {
    struct gf_measured measured;
    uint64_t *keys, *range;
};

static uint64_t key_of(enum gf_type type, const void *samples, uint64_t i)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME:                                            \
        return gf_key_of_##name(((const ctype *)samples)[i]);
    GF_TYPES(X)
#undef X
    default:
        return 0;
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Prefixes of samples, some of which are infinite, and some of none. */
static void draw_keys(struct sequence *s, unsigned prefixes)
{
    struct gf_key_count *keys = &s->measure.keys;
    unsigned bits = 8 * gf_type_bytes(s->type), top;

    keys->shift = one_in(8) ? 16 * (unsigned)below(4)
                            : bits <= 16 ? 0 : 16 * (unsigned)below(bits / 16);
    keys->prefix = s->prefix;
    top = keys->shift + 16;
    for (unsigned p = 0; p < prefixes; p++) {
        uint64_t key = s->n > 0 && !one_in(4) ? key_of(s->type, s->samples, below(s->n)) : next();
        s->prefix[p] = top >= 64 ? 0 : key >> top;
        if (top >= bits && !one_in(4))
            s->prefix[p] = 0;
        /* One that no key of 32 bits has, by its low bits like one that they have. */
        if (one_in(8))
            s->prefix[p] ^= UINT64_C(1) << 40;
    }
    qsort(s->prefix, prefixes, sizeof s->prefix[0], by_number);
    for (unsigned p = 0; p < prefixes; p++)
        if (p == 0 || s->prefix[p] != s->prefix[keys->prefixes - 1])
            s->prefix[keys->prefixes++] = s->prefix[p];
}

static void draw_range(struct sequence *s)
{
    static const uint32_t bins[] = {1, 2, 7, 100, 256, 1000, 65536};
    struct gf_range_count *range = &s->measure.range;
    double low = (uniform() - 0.5) * 200, size = uniform() * 1000;

    range->bins = bins[below(GF_COUNT(bins))];
    if (one_in(4)) {
        low = floor(low);
        size = floor(size) + 1;
    } else if (one_in(6)) {
        low = one_in(2) ? 0 : 1e6;
        size = ldexp(1, (int)below(200) - 180);
    } else if (one_in(4)) {
        low = gf_type_row(s->type)->lowest / 2;
        size = -2 * low + 1;
    }
    range->low = low;
    range->high = low + size;
    if (!(range->low < range->high))
        range->high = nextafter(low, INFINITY);
}

static enum gf_status feed_all(const struct gf_measurer *m, void *state,
                               const struct sequence *s, struct gf_error *e)
{
    unsigned bytes = gf_type_bytes(s->type);

    for (uint64_t at = 0, count; at < s->n; at += count) {
        enum gf_status status;
        void *piece;
        count = s->n - at;
        if (s->leaves_at_once > 0)
            count = gf_min(count, (1 + below(s->leaves_at_once)) * GF_LEAF);
        /* Exactly that much, and gone afterwards. */
        piece = malloc(count * bytes);
        memcpy(piece, (const char *)s->samples + at * bytes, count * bytes);
        status = m->feed(state, piece, count, e);
        memset(piece, 0x5a, count * bytes);
        free(piece);
        if (status != GF_OK)
            return status;
    }
    return GF_OK;
}

static enum gf_status supply(const void *of, uint64_t first, uint64_t count, void *to,
                             struct gf_error *e)
{
    const struct sequence *s = of;
    unsigned bytes = gf_type_bytes(s->type);

    if (first > s->n || count > s->n - first)
        return gf_fail(e, GF_EINPUT, "samples beyond the last");
    memcpy(to, (const char *)s->samples + first * bytes, count * bytes);
    return GF_OK;
}

static enum gf_status measure_once(const struct gf_measurer *m, const struct sequence *s,
                                   struct gf_measure *measure, struct found *found,
                                   struct gf_error *e)
{
    void *state = NULL;
    enum gf_status status;

    memset(found->keys, 0, (measure->keys.prefixes * GF_KEY_BINS + 1) * sizeof(uint64_t));
    memset(found->range, 0, (measure->range.bins + 1) * sizeof(uint64_t));
    memset(&found->measured, 0xff, sizeof found->measured);
    /* They are added to what is there. */
    found->keys[0] = found->range[0] = 7;
    measure->keys.count = found->keys;
    measure->range.count = found->range;
    status = m->open(measure, &state, e);
    if (status == GF_OK && s->pulled && m->pull)
        status = m->pull(state, &(struct gf_supply){supply, s}, s->n, e);
    else if (status == GF_OK)
        status = feed_all(m, state, s, e);
    if (status == GF_OK)
        status = m->finish(state, &found->measured, e);
    m->close(state);
    return status;
}

/* With more and more device memory when it was too little. */
static bool measure(const struct gf_measurer *m, const struct sequence *s, struct found *found)
{
    struct gf_measure measure = s->measure;
    struct gf_error e = {{0}};
    enum gf_status status;

    found->keys = malloc((measure.keys.prefixes * GF_KEY_BINS + 1) * sizeof(uint64_t));
    found->range = malloc((measure.range.bins + 1) * sizeof(uint64_t));
    do
        status = measure_once(m, s, &measure, found, &e);
    while (status == GF_EMEMORY && (measure.gpu_memory *= 2) > 0);
    if (status != GF_OK)
        fprintf(stderr, "%s: status %d: %s\n", m->name, (int)status, e.text);
    return status == GF_OK;
}

static void found_end(struct found *found)
{
    free(found->keys);
    free(found->range);
}

/* ---- comparing ---- */

static bool same_whole(const char *what, uint64_t want, uint64_t got)
{
    if (want != got)
        fprintf(stderr, "%s: reference %" PRIu64 ", not %" PRIu64 "\n", what, want, got);
    return want == got;
}

/* As bits: NaN equals nothing but itself, and zeros have their sign. */
static bool same_double(const char *what, double want, double got)
{
    bool same = memcmp(&want, &got, sizeof want) == 0;
    if (!same)
        fprintf(stderr, "%s: reference %.17g (%a), not %.17g (%a)\n", what, want, want, got, got);
    return same;
}

static bool same_counts(const char *what, const uint64_t *want, const uint64_t *got, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (want[i] != got[i]) {
            fprintf(stderr, "bin %" PRIu64 " of %" PRIu64 " ", i, n);
            return same_whole(what, want[i], got[i]);
        }
    return true;
}

/* All that differ are named. */
#define WHOLE(field) fine = same_whole(#field, want->field, got->field) && fine
#define REAL(field) fine = same_double(#field, want->field, got->field) && fine

static bool same_moments(const struct gf_moments *want, const struct gf_moments *got)
{
    bool fine = true;

    WHOLE(n);
    if (want->n == 0)
        return fine;
    REAL(center);
    REAL(s1.hi);
    REAL(s1.lo);
    REAL(s2.hi);
    REAL(s2.lo);
    REAL(e1);
    REAL(e2);
    return fine;
}

static bool same_measured(const struct gf_measured *want, const struct gf_measured *got)
{
    bool fine = same_moments(&want->moments, &got->moments);

    WHOLE(n);
    WHOLE(nan);
    WHOLE(plus_inf);
    WHOLE(minus_inf);
    REAL(min);
    REAL(max);
    WHOLE(min_at);
    WHOLE(max_at);
    WHOLE(sum.low);
    WHOLE(sum.high);
    WHOLE(squares.low);
    WHOLE(squares.high);
    return fine;
}

static bool same(const struct gf_measure *measure, const struct found *a, const struct found *b)
{
    const struct gf_measured *want = &a->measured, *got = &b->measured;
    bool fine = !measure->moments || same_measured(want, got);

    if (measure->range.bins > 0) {
        WHOLE(below);
        WHOLE(above);
    }
    return same_counts("keys", a->keys, b->keys, measure->keys.prefixes * GF_KEY_BINS) &&
           same_counts("range", a->range, b->range, measure->range.bins) && fine;
}

static void describe(const struct sequence *s, const char *level)
{
    const struct gf_measure *m = &s->measure;

    fprintf(stderr, "  %s %s: %" PRIu64 " %s %s, threads %u, pulled %d, leaves at once "
            "%" PRIu64 ", memory %" PRIu64 ", moments %d, keys %u shift %u, bins %" PRIu32
            " %.17g..%.17g\n", subject->name, level, s->n, gf_type_name(s->type),
            kind_name(s->kind), m->threads, s->pulled, s->leaves_at_once, m->gpu_memory,
            m->moments, m->keys.prefixes, m->keys.shift, m->range.bins, m->range.low,
            m->range.high);
}

/* The subject at each of its levels. */
static bool check(struct sequence *s)
{
    static const unsigned threads[] = {1, 2, 3, 8};
    struct found want, got;
    bool fine = measure(&gf_measurer_reference, s, &want);

    for (size_t i = 0; i < level_count && fine; i++) {
        setenv("GPUFILT_CPU", levels[i], 1);
        s->measure.threads = s->n < 2 * GF_LEAF ? 1 + (unsigned)below(2) : threads[below(4)];
        s->pulled = one_in(2);
        s->leaves_at_once = one_in(2) ? 0 : 1 + below(5);
        s->measure.gpu_memory = one_in(2) ? 0 : UINT64_C(1) << (20 + below(6));
        fine = measure(subject, s, &got) && same(&s->measure, &want, &got);
        found_end(&got);
        if (!fine)
            describe(s, levels[i]);
    }
    found_end(&want);
    return fine;
}

/* ---- sequences ---- */

/* Moments, and with `counts` keys and ranges, of one sequence. */
static bool check_sequence(enum gf_type type, enum kind kind, uint64_t n, bool counts)
{
    struct sequence s = {.type = type, .kind = kind, .n = n};
    bool fine;

    s.samples = malloc(n * gf_type_bytes(type) + (n == 0));
    make_samples(type, kind, s.samples, n);
    s.measure = (struct gf_measure){.type = type, .moments = !counts || !one_in(4)};
    if (counts && !one_in(4))
        draw_keys(&s, one_in(6) ? (unsigned)below(GF_KEY_PREFIXES + 1) : 1 + (unsigned)below(6));
    if (counts && one_in(3))
        draw_range(&s);
    fine = check(&s);
    free(s.samples);
    return fine;
}

static bool check_seeded(uint64_t seed, enum gf_type type, enum kind kind, uint64_t n, bool counts)
{
    rng = seed;
    if (check_sequence(type, kind, n, counts))
        return true;
    fprintf(stderr, "  seed %" PRIu64 "\n", seed);
    return false;
}

/* Every length: each with moments for all types, and with counts for some. */
static bool check_lengths(bool some, uint64_t *done)
{
    for (uint64_t n = 0; n <= 2000; n += some && n >= 8 ? 41 : 1)
        for (int type = 0; type < GF_TYPE_COUNT; type++) {
            enum kind kind = (enum kind)((n + 5 * (uint64_t)type) % KINDS);
            bool counts = n % GF_TYPE_COUNT == (uint64_t)type || n < 20;
            if (!check_seeded(n, (enum gf_type)type, kind, n, counts))
                return false;
            ++*done;
        }
    return true;
}

/* Every kind around the lengths where the shape changes. */
static bool check_edges(bool some, uint64_t *done)
{
    static const uint64_t edges[] = {GF_TILE, 2 * GF_TILE, GF_STRAND, 3 * GF_STRAND, GF_LEAF,
                                     2 * GF_LEAF, 3 * GF_LEAF + GF_STRAND, 5 * GF_LEAF};

    for (size_t i = 0; i < GF_COUNT(edges); i++)
        for (int type = 0; type < GF_TYPE_COUNT; type++)
            for (int kind = 0; kind < KINDS; kind++) {
                uint64_t n = edges[i] + below(3) - 1;
                if (some && (edges[i] > GF_LEAF || (size_t)(type + kind) % 4 != i % 4))
                    continue;
                if (!check_seeded(*done, (enum gf_type)type, (enum kind)kind, n, one_in(4)))
                    return false;
                ++*done;
            }
    return true;
}

static bool check_large(uint64_t *done)
{
    static const uint64_t primes[] = {1000003, 1999993, 3000017};

    for (int type = 0; type < GF_TYPE_COUNT; type++)
        for (size_t i = 0; i < GF_COUNT(primes); i++) {
            enum kind kind = (enum kind)below(KINDS);
            if (!check_seeded(*done, (enum gf_type)type, kind, primes[i], i == 1))
                return false;
            ++*done;
        }
    return true;
}

static bool check_random(uint64_t seed)
{
    rng = seed;
    enum gf_type type = (enum gf_type)below(GF_TYPE_COUNT);
    enum kind kind = (enum kind)below(KINDS);
    uint64_t n = below(one_in(8) ? 12 * GF_LEAF : one_in(2) ? 2 * GF_LEAF : 2 * GF_STRAND);

    return check_seeded(seed, type, kind, n, one_in(2));
}

/* More of one value, in one thread, than 32 bits count. */
static bool check_many(void)
{
    const uint64_t piece = UINT64_C(1) << 25, pieces = 129;
    uint64_t *count = calloc(GF_KEY_BINS, sizeof *count), prefix = 0;
    struct gf_measure measure = {.type = GF_U8, .threads = 1, .keys = {1, 0, &prefix, count}};
    struct gf_measured found;
    struct gf_error e;
    unsigned char *samples = malloc(piece);
    void *state = NULL;
    bool fine;

    setenv("GPUFILT_CPU", levels[level_count - 1], 1);
    memset(samples, 200, piece);
    fine = gf_measurer_cpu.open(&measure, &state, &e) == GF_OK;
    for (uint64_t i = 0; i < pieces && fine; i++)
        fine = gf_measurer_cpu.feed(state, samples, piece, &e) == GF_OK;
    fine = fine && gf_measurer_cpu.finish(state, &found, &e) == GF_OK;
    gf_measurer_cpu.close(state);
    fine = fine && same_whole("many", piece * pieces, count[200]);
    free(samples);
    free(count);
    return fine;
}

/* ---- keys ---- */

static double value_at(enum gf_type type, const void *samples, uint64_t i)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest) \
    case GF_##NAME:                                            \
        return gf_value_of_##name(((const ctype *)samples)[i]);
    GF_TYPES(X)
#undef X
    default:
        return NAN;
    }
}

/* As C has it, not keys.h. */
static bool check_finite(enum gf_type type, const void *samples, uint64_t i)
{
    switch (type) {
#define X(NAME, name, ctype, bytes, is_float, lowest, highest)               \
    case GF_##NAME:                                                          \
        return gf_is_finite_##name(((const ctype *)samples)[i]) ==           \
               (isfinite(value_at(type, samples, i)) != 0);
    GF_TYPES(X)
#undef X
    default:
        return false;
    }
}

/* All measurers have the keys from one place, so that is looked at by itself: keys are ordered as
 * values are, whatever two finite samples are compared. */
static bool check_keys(void)
{
    enum { N = 20000 };
    static uint64_t samples[N];

    for (int t = 0; t < GF_TYPE_COUNT; t++)
        for (int kind = 0; kind < KINDS; kind++) {
            enum gf_type type = (enum gf_type)t;
            make_samples(type, (enum kind)kind, samples, N);
            for (uint64_t i = 0; i < N; i++) {
                uint64_t j = i % 8 == 0 ? below(N) : (i + 1) % N;
                double x = value_at(type, samples, i), y = value_at(type, samples, j);
                uint64_t k = key_of(type, samples, i), l = key_of(type, samples, j);
                bool ordered = (k < l) == (x < y) && (k == l) == (x == y);
                if (check_finite(type, samples, i) && (ordered || !isfinite(x) || !isfinite(y)))
                    continue;
                fprintf(stderr, "%s: keys of %.17g and %.17g are %" PRIx64 " and %" PRIx64 "\n",
                        gf_type_name(type), x, y, k, l);
                return false;
            }
        }
    return true;
}

/* ---- the program ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool check_all(bool some, uint64_t seed, double limit)
{
    uint64_t fixed = 0, random = 0;
    double begin;

    if (!check_keys() || !check_lengths(some, &fixed) || !check_edges(some, &fixed) ||
        (!some && !check_large(&fixed)))
        return false;
    if (!some && subject == &gf_measurer_cpu && !check_many())
        return false;
    for (begin = seconds(); seconds() - begin < limit; random++)
        if (!check_random(seed + random))
            return false;
    if (gf_memory_used() != 0) {
        fprintf(stderr, "%" PRIu64 " bytes were not freed\n", gf_memory_used());
        return false;
    }
    fprintf(stderr, "%" PRIu64 " fixed and %" PRIu64 " random sequences, all the same\n", fixed,
            random);
    return true;
}

int main(int argc, char **argv)
{
    const char *name = NULL, *required = getenv("GPUFILT_REQUIRE_GPU");
    bool some = false;
    uint64_t seed = 1;
    double limit = 5;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--some") == 0)
            some = true;
        else if (i + 1 < argc && strcmp(argv[i], "--backend") == 0)
            name = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0)
            limit = strtod(argv[++i], NULL);
        else
            name = NULL, i = argc;
    }
    if (name == NULL) {
        fprintf(stderr, "usage: check_measure --backend NAME [--some] [--seed N] [--seconds N]\n");
        return 2;
    }
    if (!find_subject(name))
        return required != NULL && strcmp(required, "1") == 0 ? 1 : 77;
    return check_all(some, seed, limit) ? 0 : 1;
}
