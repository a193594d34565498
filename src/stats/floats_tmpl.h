/* A strand of floats (moments.h); included once for each width.
 * Parameters: F, the type's name; B and I, unsigned and signed integers of its width; INFINITE,
 * the bits of infinity; WIDEN(p), f64_WIDTH samples as doubles; FMA, what adds l * (2h + l);
 * FINE, 1 for binary64, where the smallest sample that is not 0 is of no use. */

#define GLUE_(a, b) a##_##b
#define GLUE(a, b) GLUE_(a, b)
#define FN(name) GLUE(name, F)
#define T FN(sample)

/* The bits as a number that is ordered as the floats are, NaN beyond the infinities; and back. */
static inline I FN(order)(I bits)
{
    return bits ^ (I)((B)(bits >> (8 * sizeof(I) - 1)) >> 1);
}

static inline I FN(bits)(const T *x)
{
    I bits;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

/* The extremes of a whole tile; false when it holds an infinity or NaN, then anything. The loop is
 * one of integers because these are vectorised as they stand. */
static bool FN(look)(const T *x, struct tile *tile)
{
    I lowest = FN(order)(FN(bits)(x)), highest = lowest;
    B least = ~(B)0;
    T value;

    UNROLL
    for (size_t i = 0; i < GF_TILE; i++) {
        I bits = FN(bits)(x + i), order = FN(order)(bits);
        lowest = order < lowest ? order : lowest;
        highest = order > highest ? order : highest;
        if (!FINE) {
            B size = ((B)bits << 1) - 1; /* 0 is beyond all others */
            least = size < least ? size : least;
        }
    }
    if (highest >= (I)INFINITE || lowest <= ~(I)INFINITE)
        return false;
    lowest = FN(order)(lowest);
    highest = FN(order)(highest);
    memcpy(&value, &lowest, sizeof value);
    tile->lowest = (double)value;
    memcpy(&value, &highest, sizeof value);
    tile->highest = (double)value;
    tile->least = FINE ? 0 : (double)INFINITY;
    if (!FINE && least != ~(B)0) {
        least = (least + 1) >> 1;
        memcpy(&value, &least, sizeof value);
        tile->least = (double)value;
    }
    return true;
}

/* A tile's finite samples, `value` for the others. */
static void FN(fill)(const T *x, size_t count, T value, T *tile)
{
    for (size_t i = 0; i < count; i++) {
        B size = (B)FN(bits)(x + i) << 1;
        tile[i] = size < (B)INFINITE << 1 ? x[i] : value;
    }
    for (size_t i = count; i < GF_TILE; i++)
        tile[i] = value;
}

/* Counts a tile's samples by kind. */
static void FN(count)(const T *x, size_t count, struct gf_part *found)
{
    B infinite = 0, minus = 0, nan = 0;

    for (size_t i = 0; i < count; i++) {
        B bits = (B)FN(bits)(x + i), size = bits << 1;
        nan += size > (B)INFINITE << 1;
        infinite += size == (B)INFINITE << 1;
        minus += bits == ~((B)INFINITE ^ (~(B)0 >> 1));
    }
    found->n += count - nan - infinite;
    found->nan += nan;
    found->plus_inf += infinite - minus;
    found->minus_inf += minus;
}

/* A tile that is short or not of finite samples alone: looks at it with the first finite sample
 * in place of what is missing, which changes no extreme. False when there is none. */
static bool FN(look_closer)(const T *x, size_t count, T *copy, struct tile *tile)
{
    size_t first = 0;

    while (first < count && !FN(gf_is_finite)(x[first]))
        first++;
    if (first == count)
        return false;
    FN(fill)(x, count, x[first], copy);
    return FN(look)(copy, tile);
}

static void FN(add)(const T *x, struct gf_scale scale, struct lanes *lanes)
{
    const f64_vec center = f64_set(scale.center), splitter = f64_set(GF_SPLITTER);
    const f64_vec shrink = f64_set(gf_power_of_two(-scale.exponent)), two = f64_set(2);
    const f64_vec fine = f64_set(GF_FINE_SPLITTER);

    for (size_t lane = 0; lane < GF_LANES; lane += f64_WIDTH) {
        f64_vec h1 = f64_load(lanes->h1 + lane), l1 = f64_load(lanes->l1 + lane);
        f64_vec h2 = f64_load(lanes->h2 + lane), l2 = f64_load(lanes->l2 + lane);
        for (size_t i = lane; i < GF_TILE; i += GF_LANES) {
            f64_vec d = WIDEN(x + i) - center;
            f64_vec h = exact_fma(d, shrink, splitter) - splitter;
            f64_vec l = exact_fma(d, shrink, -h);
            f64_vec g = h, rest = l;
            if (FINE) {
                g = exact_fma(d, shrink, fine) - fine;
                rest = exact_fma(d, shrink, -g);
            }
            h1 += g;
            l1 += rest;
            h2 = exact_fma(h, h, h2);
            l2 = FMA(l, exact_fma(two, h, l), l2);
        }
        f64_store(lanes->h1 + lane, h1);
        f64_store(lanes->l1 + lane, l1);
        f64_store(lanes->h2 + lane, h2);
        f64_store(lanes->l2 + lane, l2);
    }
}

static void FN(strand)(const void *samples, size_t count, struct gf_part *found)
{
    struct run run;
    T copy[GF_TILE];

    run.n = 0;
    *found = (struct gf_part){.min = (double)INFINITY, .max = -(double)INFINITY};
    for (size_t at = 0; at < count; at += GF_TILE) {
        const T *x = (const T *)samples + at;
        size_t size = count - at < GF_TILE ? count - at : GF_TILE;
        uint64_t before = found->n;
        struct tile tile;
        bool whole = size == GF_TILE && FN(look)(x, &tile);

        if (whole)
            found->n += GF_TILE;
        else
            FN(count)(x, size, found);
        if (!whole && !FN(look_closer)(x, size, copy, &tile))
            continue;
        found->min = tile.lowest < found->min ? tile.lowest : found->min;
        found->max = tile.highest > found->max ? tile.highest : found->max;
        if (!run_takes(&run, FINE, &tile, found->n - before, found))
            continue;
        /* The centre itself adds nothing. */
        if (!whole)
            FN(fill)(x, size, (T)run.scale.center, copy);
        FN(add)(whole ? x : copy, run.scale, &run.lanes);
    }
    run_end(&run, FINE, found);
}

#undef GLUE_
#undef GLUE
#undef FN
#undef F
#undef T
#undef B
#undef I
#undef INFINITE
#undef WIDEN
#undef FMA
#undef FINE
